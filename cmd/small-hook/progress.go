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

// withProgress adds a progress bar on standard error, where that is a
// terminal and no CI job.
func (a *app) withProgress(req entrypoint.Request) entrypoint.Request {
	stderr, ok := a.stderr.(*os.File)
	if !ok || !terminal(stderr) || a.getenv("CI") != "" || a.getenv("TERM") == "dumb" {
		return req
	}
	var bar *progressbar.ProgressBar
	req.Progress = func(done, total int) {
		if total < progressFrom {
			return
		}
		if bar == nil {
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(stderr), progressbar.OptionSetDescription("judging commits"),
				progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
				progressbar.OptionThrottle(progressThrottle))
		}
		if err := bar.Set(done); err != nil {
			req.Progress = nil // the terminal is gone; the report says so when it is written
		}
	}
	return req
}
