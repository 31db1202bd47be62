package cli

import (
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/judge/session"
)

const (
	// progressFrom is the least number of commits for a bar.
	progressFrom = 200
	// progressThrottle is the least time between two updates.
	progressThrottle = 50 * time.Millisecond
)

// progress is a bar on a person's terminal. The zero value shows nothing.
type progress struct {
	terminal *os.File
	// drawn is the time of the last update; zero while there is no bar.
	drawn time.Time
	width int
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
	if p.terminal == nil || total < progressFrom || time.Since(p.drawn) < progressThrottle {
		return
	}
	const cells = 40
	full := cells * done / total
	text := fmt.Sprintf("judging commits %3d%% |%s%s| (%d/%d)", 100*done/total, strings.Repeat("█", full), strings.Repeat(" ", cells-full), done, total)
	p.drawn, p.width = time.Now(), utf8.RuneCountInString(text)
	p.write("\r" + text)
}

// clear removes the bar.
func (p *progress) clear() {
	if p.drawn.IsZero() {
		return
	}
	p.drawn = time.Time{}
	p.write("\r" + strings.Repeat(" ", p.width) + "\r")
}

func (p *progress) write(text string) {
	if _, err := p.terminal.WriteString(text); err != nil {
		*p = progress{} // the terminal is gone; writing the report will fail
	}
}
