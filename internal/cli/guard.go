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
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/write/restore"
)

func (a *app) addWaitFlag(c *cobra.Command) {
	c.Flags().DurationVar(&a.flags.wait, "wait", lock.DefaultWait, "wait up to `DURATION` for another guarded command to end")
}

func (a *app) lockingOptions() edit.Locking {
	return edit.Locking{Command: "small-hook " + strings.Join(a.Args[1:], " "), Wait: a.flags.wait}
}

func (a *app) guardCommand() *cobra.Command {
	c := withHelp("guard", &cobra.Command{
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || c.ArgsLenAtDash() != 0 {
				return usageError(c, "guard takes a command after two dashes: small-hook guard -- COMMAND")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			status := 0
			done, err := edit.Guard(c.Context(), a.newRequest(), a.lockingOptions(), func(environ []string) (err error) {
				status, err = a.runCommand(args, environ)
				a.workDone = err == nil
				return err
			})
			a.status = status
			return errors.Join(err, a.reportGuarded(done))
		},
	})
	a.addWaitFlag(c)
	return c
}

// runCommand runs a command, passes on the signals that would end this program, and returns the exit status.
func (a *app) runCommand(args, environ []string) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = a.rawStdin, a.Stdout, a.Stderr, environ
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // under nohup it stays ignored, here and in the command
		signal.Notify(signals, syscall.SIGHUP)
	}
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
			// The terminal has sent Ctrl-C to the command as well.
			if s == os.Interrupt && isTerminal(a.rawStdin) {
				continue
			}
			if err := cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
				unsent = &failure.Error{Message: fmt.Sprintf("cannot pass on a signal to the command: %v", err), Err: err} // the command may still write: keep the lock until it ends
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, &failure.Error{Message: fmt.Sprintf("cannot wait for the command: %v", err), Err: err}
			}
			return shellStatus(cmd.ProcessState), unsent
		}
	}
}

// shellStatus returns the exit status that a shell would report for an ended command.
func shellStatus(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// reportGuarded prints what was wrong before and after a guarded command. If anything was, the exit status is 1.
func (a *app) reportGuarded(done edit.Guarded) error {
	text := done.Warning(a.commands)
	if done.Fine() {
		_, err := io.WriteString(a.Stderr, sanitize.Lines(text))
		return err
	}
	a.status = 1
	for _, r := range done.Before {
		text += "small-hook: a writer without a guard has edited the log. Run every writer through `small-hook guard`.\n" + a.restoredText(r, dropNewCommand(r.Log))
		if r.Log == done.Log { // of a log of the configuration, only committed entries are put back
			text += "if entries that are not committed were dropped on purpose: " + a.commands(dropNewCommand(r.Log)) + " drops all that is not committed\n"
		}
	}
	for _, r := range done.After {
		text += "small-hook: the command, or a writer without a guard beside it, has edited the log\n" + a.restoredText(r, dropNewCommand(r.Log))
	}
	if len(done.BehindHead) > 0 {
		text += fmt.Sprintf("small-hook: %s differs from the log of the new HEAD: %s\nfix: %s\n", done.Log, ledger.DescribeAll(done.BehindHead), a.commands("small-hook restore"+remedy.InDirectory(done.Log)))
	}
	if f := done.Conflict; f != nil {
		text += fmt.Sprintf("small-hook: %s\nfix: %s\n", f.Message, a.runThere(f.Remedy))
	}
	_, err := io.WriteString(a.Stderr, sanitize.Lines(text))
	return err
}

// describeRetimed names the first few of the entries with a changed time, each with its old and new time.
func describeRetimed(entries [][2]ledger.Entry) string {
	return wording.Listed(len(entries), func(i int) string {
		before, after := entries[i][0], entries[i][1]
		return fmt.Sprintf("%s, from %s to %s", ledger.Describe(before), wording.Printable(before.Timestamp), wording.Printable(after.Timestamp))
	})
}

func dropNewCommand(log string) string {
	return "small-hook restore --discard-new " + wording.TopPath(log)
}

// restoredText describes what was put back. discard is the command that drops new entries, or empty.
func (a *app) restoredText(r restore.Restored, discard string) string {
	var text strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&text, "%s: "+format+"\n", append([]any{r.Log}, args...)...)
	}
	switch {
	case r.Text == nil: // the log itself was not changed
	case r.Unreadable != "":
		line("it could not be read as a log (%s): the old one is put back", r.Unreadable)
	case (r.Discarded > 0 || len(r.Doubled) > 0 || len(r.Retimed) > 0) && len(r.Lost) == 0:
	case r.File == "":
		line("it was gone, and is put back")
	case len(r.Lost) > 0:
		line("put back %s, changed or gone: %s", wording.Count(len(r.Lost), "entry"), ledger.DescribeAll(r.Lost))
	default:
		line("put the old entries back in their places, and the new ones after them")
	}
	lineIfAny := func(n int, noun, format string, args ...any) {
		if n > 0 {
			line(format, append([]any{wording.Count(n, noun)}, args...)...)
		}
	}
	lineIfAny(r.New, "new entry", "kept %s after them")
	if discard != "" {
		discard = "; to drop all new entries: " + a.commands(discard)
	}
	lineIfAny(len(r.Alike), "new entry", "kept %s that may be a changed version of an old one, or may be new (in the file as it was: %s)%s", ledger.DescribeAll(r.Alike), discard)
	lineIfAny(len(r.Retimed), "entry", "moved the time of %s: %s", describeRetimed(r.Retimed))
	lineIfAny(len(r.RetimedNew), "new entry", "moved the time of %s to just after the entry before")
	lineIfAny(r.Masked, "new entry", "masked credentials in %s; revoke them if others could read the file")
	lineIfAny(r.Discarded, "new entry", "dropped %s")
	lineIfAny(len(r.Changed), "changed version", "left out %s: %s", ledger.DescribeAll(r.Changed))
	lineIfAny(len(r.Doubled), "entry", "left out %s, because the log has an equal one: %s", ledger.DescribeAll(r.Doubled))
	lineIfAny(len(r.Elsewhere), "entry", "left out %s that a remote-tracking branch has: %s", ledger.DescribeAll(r.Elsewhere))
	lineIfAny(len(r.Unplaceable), "entry", "left out %s that cannot come after the old ones: %s", ledger.DescribeAll(r.Unplaceable))
	for _, path := range r.Missing {
		if kept := r.Aside[path]; kept != "" {
			fmt.Fprintf(&text, "%s: it was changed, and is put back; a copy of the file as it was: %s\n", path, kept)
			continue
		}
		fmt.Fprintf(&text, "%s: it was gone, and is put back\n", path)
	}
	if r.Plan != "" {
		fmt.Fprintf(&text, "%s: put back tasks that these entries name\n", r.Plan)
	}
	if r.File != "" {
		line("a copy of the file as it was: %s", r.File)
	}
	return text.String()
}
