package cli

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
)

const (
	// progressFrom is the number of commits that is worth a bar.
	progressFrom = 200
	// progressThrottle is the least time between two drawings.
	progressThrottle = 50 * time.Millisecond
)

// progress is a bar on a person's terminal. The zero value shows nothing.
type progress struct {
	terminal *os.File
	bar      *progressbar.ProgressBar
}

// withProgress adds a progress bar on standard error, if that is a terminal and this is no CI job.
func (a *app) withProgress(req session.Request) session.Request {
	stderr, ok := a.Stderr.(*os.File)
	if !ok || !isTerminal(stderr) || a.Getenv("CI") != "" || a.Getenv("TERM") == "dumb" {
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

// clear removes an unfinished bar.
func (p *progress) clear() {
	if p.bar == nil || p.bar.IsFinished() {
		return
	}
	if err := p.bar.Clear(); err != nil {
		*p = progress{} // as above
	}
}
