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
	// minBarCommits is the number of commits to judge from which on a bar is shown.
	minBarCommits   = 200
	minDrawInterval = 50 * time.Millisecond
)

// progress is a bar on a terminal. The zero value draws nothing.
type progress struct {
	terminal *os.File
	// drawnAt is when the bar was last drawn; zero while there is no bar.
	drawnAt time.Time
	width   int
}

// withProgressBar adds a bar to a request, if standard error is a terminal and this is no CI job.
func (a *app) withProgressBar(req session.Request) session.Request {
	stderr, ok := a.Stderr.(*os.File)
	if !ok || !isTerminal(stderr) || a.Getenv("CI") != "" || a.Getenv("TERM") == "dumb" {
		return req
	}
	a.progress.terminal = stderr
	req.Progress = a.progress.drawJudging
	return req
}

// rewriteProgress returns a function that shows on standard error how many commits are rewritten: as a bar on a terminal, else in lines.
func (a *app) rewriteProgress() func(done, total int) {
	const task = "rewriting commits"
	lines, start := progressLines(a.Stderr, task, time.Now), time.Now()
	if a.withProgressBar(a.flags.req).Progress == nil {
		return lines
	}
	return func(done, total int) {
		if time.Since(start) >= quietTime {
			a.progress.draw(task, done, total)
		}
	}
}

const (
	// quietTime is how long a command shows no progress at first.
	quietTime       = time.Second
	minLineInterval = 10 * time.Second
)

// progressLines returns a function that writes a line of progress, after quietTime and then at most every minLineInterval.
func progressLines(w io.Writer, task string, now func() time.Time) func(done, total int) {
	next := now().Add(quietTime)
	return func(done, total int) {
		if at := now(); done < total && !at.Before(next) {
			next = at.Add(minLineInterval)
			fmt.Fprintf(w, "small-hook: %s: %d of %d\n", task, done, total) //nolint:errcheck // the command's own output will fail too
		}
	}
}

func (p *progress) drawJudging(done, total int) {
	if total >= minBarCommits {
		p.draw("judging commits", done, total)
	}
}

func (p *progress) draw(task string, done, total int) {
	if p.terminal == nil || time.Since(p.drawnAt) < minDrawInterval {
		return
	}
	const cells = 40
	full := cells * done / total
	text := fmt.Sprintf("%s %3d%% |%s%s| (%d/%d)", task, 100*done/total, strings.Repeat("█", full), strings.Repeat(" ", cells-full), done, total)
	p.drawnAt, p.width = time.Now(), utf8.RuneCountInString(text)
	p.write("\r" + text)
}

func (p *progress) clear() {
	if p.drawnAt.IsZero() {
		return
	}
	p.drawnAt = time.Time{}
	p.write("\r" + strings.Repeat(" ", p.width) + "\r")
}

func (p *progress) write(text string) {
	if _, err := p.terminal.WriteString(text); err != nil {
		*p = progress{} // the terminal is gone: draw nothing more
	}
}
