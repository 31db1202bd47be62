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
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
	"github.com/small-gate/small-gate/internal/worklock"
)

// waits gives a command that takes the lock the flag that says how long it waits.
func waits(set *pflag.FlagSet, wait *time.Duration) {
	set.DurationVar(wait, "wait", worklock.DefaultWait, "wait up to `DURATION` for another guarded command to end")
}

// locking says how to wait for the lock, and who it is for.
func (a *app) locking(wait time.Duration) writers.Locking {
	return writers.Locking{Command: "small-hook " + strings.Join(a.Args[1:], " "), Wait: wait}
}

func (a *app) guardCommand() *cobra.Command {
	var wait time.Duration
	c := &cobra.Command{
		Use:   "guard -- COMMAND [ARGUMENT...]",
		Short: "Run a command as the log's only writer, and undo what it does to old entries",
		Long: "Run a command under the lock of the workspace here or above: of several guarded commands, one runs at a\n" +
			"time. If entries that were in the progress log before are changed or gone afterwards, the file is kept\n" +
			"under the git directory, the old entries are put back with the new ones after them, and the exit status\n" +
			"is 1. If git has moved the work tree meanwhile (a switch, a merge, a reset, a stash), nothing is put back:\n" +
			"the log is compared with the new HEAD. What an unguarded writer loses in between is rejected by the\n" +
			"pre-commit hook, and put back by the next guarded command. A conflict in the log is reported, too.\n\n" +
			"Exit status: the command's own (128 and the number of a signal), 1 if something was put back or is in\n" +
			"conflict, 2 if the command was not run, or if what it left could not be looked at or noted.",
		Example: "  small-hook guard -- small progress add --task task-1 --evidence \"40 tests pass\"",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || c.ArgsLenAtDash() != 0 {
				return usage(c, "guard takes a command after two dashes: small-hook guard -- COMMAND")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			status := 0
			done, err := writers.Guard(c.Context(), a.request(), a.locking(wait), func(environ []string) (err error) {
				status, err = a.run(args, environ)
				a.settled = err == nil
				return err
			})
			a.status = status
			return errors.Join(err, a.guarded(done))
		},
	}
	waits(c.Flags(), &wait)
	return c
}

// run runs a command, passes on the signals that end this program, and returns the command's status.
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
			// A terminal has sent Ctrl-C to the command as well.
			if stdin, ok := a.stdin.(io.Writer); s == os.Interrupt && ok && isTerminal(stdin) {
				continue
			}
			if err := cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
				unsent = &failure.Error{Message: fmt.Sprintf("cannot pass on a signal to the command: %v", err), Err: err} // it writes on, under the lock
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

// statusOf is the status with which a shell says how a command ended.
func statusOf(state *os.ProcessState) int {
	if how, ok := state.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		return 128 + int(how.Signal())
	}
	return state.ExitCode()
}

// guarded says what was found wrong around a guarded command; then the exit status is 1.
func (a *app) guarded(done writers.Guarded) error {
	if done.Fine() {
		return nil
	}
	a.status = 1
	var text string
	for _, r := range done.Before {
		text += "small-hook: a writer without a guard has edited the log; let each run under small-hook guard\n" + restoredText(r) +
			"if they were dropped on purpose, small-hook restore --discard-new drops all that is not committed\n"
	}
	for _, r := range done.After {
		text += "small-hook: the command, or a writer without a guard beside it, has edited the log\n" + restoredText(r)
	}
	if len(done.Behind) > 0 {
		text += fmt.Sprintf("small-hook: %s is not as the new HEAD has it: %s\nfix: `small-hook restore`\n", done.Log, ledger.DescribeAll(done.Behind))
	}
	if f := done.Conflict; f != nil {
		text += fmt.Sprintf("small-hook: %s\nfix: %s\n", f.Message, f.Remedy)
	}
	_, err := io.WriteString(a.Stderr, sanitize.Lines(text))
	return err
}

// restoredText says what was put back.
func restoredText(r reconcile.Restored) string {
	var text strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&text, "%s: "+format+"\n", append([]any{r.Log}, args...)...)
	}
	switch {
	case r.Text == nil: // only other files were gone
	case r.Unreadable != "":
		line("it could not be read as a log (%s): the old one is put back", r.Unreadable)
	case r.Discarded > 0 && len(r.Lost) == 0:
	case r.File == "":
		line("it was gone, and is put back")
	case len(r.Lost) > 0:
		line("put back %s, changed or gone: %s", wording.Count(len(r.Lost), "entry"), ledger.DescribeAll(r.Lost))
	default:
		line("the old entries are as they were again, new ones after them")
	}
	if r.New > 0 {
		line("kept %s after them", wording.Count(r.New, "new entry"))
	}
	if len(r.Moved) > 0 {
		line("moved the time of %s to just after the entry before", wording.Count(len(r.Moved), "new entry"))
	}
	if r.Masked > 0 {
		line("masked credentials in %s; what was in a file that others read has to be revoked", wording.Count(r.Masked, "new entry"))
	}
	if r.Discarded > 0 {
		line("dropped %s", wording.Count(r.Discarded, "new entry"))
	}
	if len(r.Changed) > 0 {
		line("left out %s: %s", wording.Count(len(r.Changed), "changed version"), ledger.DescribeAll(r.Changed))
	}
	if len(r.Left) > 0 {
		line("left out %s that cannot stand there: %s", wording.Count(len(r.Left), "entry"), ledger.DescribeAll(r.Left))
	}
	for _, path := range r.Missing {
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
