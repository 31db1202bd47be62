package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/write/restore"
)

// waits adds the flag for the longest wait to a command that takes the lock.
func (a *app) waits(c *cobra.Command) {
	c.Flags().DurationVar(&a.flags.wait, "wait", lock.DefaultWait, "wait up to `DURATION` for another guarded command to end")
}

// locking says how long to wait for the lock, and describes this command to others.
func (a *app) locking() edit.Locking {
	return edit.Locking{Command: "small-hook " + strings.Join(a.Args[1:], " "), Wait: a.flags.wait}
}

func (a *app) guardCommand() *cobra.Command {
	c := described("guard", &cobra.Command{
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || c.ArgsLenAtDash() != 0 {
				return usage(c, "guard takes a command after two dashes: small-hook guard -- COMMAND")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			status := 0
			done, err := edit.Guard(c.Context(), a.request(), a.locking(), func(environ []string) (err error) {
				status, err = a.run(args, environ)
				a.settled = err == nil
				return err
			})
			a.status = status
			return errors.Join(err, a.guarded(done))
		},
	})
	a.waits(c)
	return c
}

// run runs a command, passes on the signals that would end this program, and returns the command's status.
func (a *app) run(args, environ []string) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = a.stdin, a.Stdout, a.Stderr, environ
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("there is no program %s on PATH", wording.Quote(args[0]))
		}
		return 0, &failure.Error{Message: fmt.Sprintf("cannot run the command: %v", err), Remedy: "name a program that is on PATH, and its arguments, after --", Err: err}
	}
	var unsent error
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			// On a terminal, Ctrl-C has reached the command as well.
			if stdin, ok := a.stdin.(io.Writer); s == os.Interrupt && ok && isTerminal(stdin) {
				continue
			}
			if err := cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
				unsent = &failure.Error{Message: fmt.Sprintf("cannot pass on a signal to the command: %v", err), Err: err} // it still writes, under the lock
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, &failure.Error{Message: fmt.Sprintf("cannot wait for the command: %v", err), Err: err}
			}
			return statusOf(cmd.ProcessState), unsent
		}
	}
}

// statusOf is the status that a shell would report for how a command ended.
func statusOf(state *os.ProcessState) int {
	if how, ok := state.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		return 128 + int(how.Signal())
	}
	return state.ExitCode()
}

// guarded reports what was wrong before and after a guarded command; then the exit status is 1.
func (a *app) guarded(done edit.Guarded) error {
	text := done.Warning()
	if done.Fine() {
		_, err := io.WriteString(a.Stderr, sanitize.Lines(text))
		return err
	}
	a.status = 1
	for _, r := range done.Before {
		text += "small-hook: a writer without a guard has edited the log. Run every writer through `small-hook guard`.\n" + restoredText(r, dropNew(r.Log)) +
			"if they were dropped on purpose, small-hook restore --discard-new drops all that is not committed\n"
	}
	for _, r := range done.After {
		text += "small-hook: the command, or a writer without a guard beside it, has edited the log\n" + restoredText(r, dropNew(r.Log))
	}
	if len(done.BehindHead) > 0 {
		text += fmt.Sprintf("small-hook: %s is not as the new HEAD has it: %s\nfix: `small-hook restore`\n", done.Log, ledger.DescribeAll(done.BehindHead))
	}
	if f := done.Conflict; f != nil {
		text += fmt.Sprintf("small-hook: %s\nfix: %s\n", f.Message, f.Remedy)
	}
	_, err := io.WriteString(a.Stderr, sanitize.Lines(text))
	return err
}

// retimed names entries, as they were, with the times that they have now; the first few of many.
func retimed(entries [][2]ledger.Entry) string {
	return wording.Listed(len(entries), func(i int) string {
		was, is := entries[i][0], entries[i][1]
		return fmt.Sprintf("%s, from %s to %s", ledger.Describe(was), wording.Printable(was.Timestamp), wording.Printable(is.Timestamp))
	})
}

// dropNew is the command that drops what is new in a log.
func dropNew(log string) string { return "small-hook restore --discard-new " + wording.TopPath(log) }

// restoredText describes what was put back. discard is the command that drops what is new, or empty.
func restoredText(r restore.Restored, discard string) string {
	var text strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&text, "%s: "+format+"\n", append([]any{r.Log}, args...)...)
	}
	switch {
	case r.Text == nil: // only other files were missing
	case r.Unreadable != "":
		line("it could not be read as a log (%s): the old one is put back", r.Unreadable)
	case (r.Discarded > 0 || len(r.Doubled) > 0 || len(r.Retimed) > 0) && len(r.Lost) == 0:
	case r.File == "":
		line("it was gone, and is put back")
	case len(r.Lost) > 0:
		line("put back %s, changed or gone: %s", wording.Count(len(r.Lost), "entry"), ledger.DescribeAll(r.Lost))
	default:
		line("the old entries are as they were again, new ones after them")
	}
	some := func(n int, noun, format string, args ...any) {
		if n > 0 {
			line(format, append([]any{wording.Count(n, noun)}, args...)...)
		}
	}
	some(r.New, "new entry", "kept %s after them")
	if discard != "" {
		discard = "; to drop all that is new: " + wording.Commands(discard)
	}
	some(len(r.Alike), "new entry", "kept %s that may be a changed version of an old one (in the file as it was: %s), since it may as well be new%s", ledger.DescribeAll(r.Alike), discard)
	some(len(r.Retimed), "entry", "moved the time of %s: %s", retimed(r.Retimed))
	some(len(r.Moved), "new entry", "moved the time of %s to just after the entry before")
	some(r.Masked, "new entry", "masked credentials in %s; what was in a file that others read has to be revoked")
	some(r.Discarded, "new entry", "dropped %s")
	some(len(r.Changed), "changed version", "left out %s: %s", ledger.DescribeAll(r.Changed))
	some(len(r.Doubled), "entry", "left out %s, because an equal one is there: %s", ledger.DescribeAll(r.Doubled))
	some(len(r.Elsewhere), "entry", "left out %s, which a remote-tracking branch brings: %s", ledger.DescribeAll(r.Elsewhere))
	some(len(r.Left), "entry", "left out %s that cannot stand there: %s", ledger.DescribeAll(r.Left))
	for _, path := range r.Missing {
		if kept := r.Aside[path]; kept != "" {
			fmt.Fprintf(&text, "%s: it was changed, and is put back; the file as it was: %s\n", path, kept)
			continue
		}
		fmt.Fprintf(&text, "%s: it was gone, and is put back\n", path)
	}
	if r.Plan != "" {
		fmt.Fprintf(&text, "%s: put back tasks that these entries name\n", r.Plan)
	}
	if r.File != "" {
		line("the file as it was: %s", r.File)
	}
	return text.String()
}
