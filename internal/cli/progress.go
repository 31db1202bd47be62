package cli

import (
	"fmt"
	"io"
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

// rewriting reports on standard error how many commits are rewritten, from the first second on: as a bar on a person's terminal, else in lines.
func (a *app) rewriting() func(done, total int) {
	const what = "rewriting commits"
	lines, begun := progressLines(a.Stderr, what, time.Now), time.Now()
	if a.withProgress(a.flags.req).Progress == nil {
		return lines
	}
	return func(done, total int) {
		if time.Since(begun) >= progressDelay {
			a.progress.draw(what, done, total)
		}
	}
}

const (
	// progressDelay is how long a command may take without a sign of life.
	progressDelay = time.Second
	// progressPause is the least time between two lines of progress.
	progressPause = 10 * time.Second
)

// progressLines returns a function that writes how far something is, after [progressDelay] and then at most every [progressPause].
func progressLines(w io.Writer, what string, now func() time.Time) func(done, total int) {
	next := now().Add(progressDelay)
	return func(done, total int) {
		if at := now(); done < total && !at.Before(next) {
			next = at.Add(progressPause)
			fmt.Fprintf(w, "small-hook: %s: %d of %d\n", what, done, total) //nolint:errcheck // the command's own output will fail
		}
	}
}

// show draws the bar for judging commits, if there is enough to do.
func (p *progress) show(done, total int) {
	if total >= progressFrom {
		p.draw("judging commits", done, total)
	}
}

func (p *progress) draw(what string, done, total int) {
	if p.terminal == nil || time.Since(p.drawn) < progressThrottle {
		return
	}
	const cells = 40
	full := cells * done / total
	text := fmt.Sprintf("%s %3d%% |%s%s| (%d/%d)", what, 100*done/total, strings.Repeat("█", full), strings.Repeat(" ", cells-full), done, total)
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
