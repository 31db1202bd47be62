package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/small-gate/small-gate/internal/entrypoint"
)

const (
	// progressFrom is the number of commits from which a bar is worth showing.
	progressFrom = 200
	// progressThrottle is how long the bar stands before it is drawn again.
	progressThrottle = 50 * time.Millisecond
)

// progress is a bar on a person's terminal. The zero value shows nothing.
type progress struct {
	terminal *os.File
	bar      *progressbar.ProgressBar
}

// withProgress adds a progress bar on standard error, where that is a
// terminal and no CI job.
func (a *app) withProgress(req entrypoint.Request) entrypoint.Request {
	stderr, ok := a.stderr.(*os.File)
	if !ok || !terminal(stderr) || a.getenv("CI") != "" || a.getenv("TERM") == "dumb" {
		return req
	}
	a.progress.terminal = stderr
	req.Progress = a.progress.show
	return req
}

// show draws the bar, if there is enough to do.
func (p *progress) show(done, total int) {
	if p.terminal == nil || total < progressFrom {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.terminal), progressbar.OptionSetDescription("judging commits"),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(progressThrottle))
	}
	if err := p.bar.Set(done); err != nil {
		*p = progress{} // the terminal is gone; the report says so when it is written
	}
}

// clear takes a bar away that has not come to its end.
func (p *progress) clear() {
	if p.bar == nil || p.bar.IsFinished() {
		return
	}
	if err := p.bar.Clear(); err != nil {
		*p = progress{} // as above
	}
}
