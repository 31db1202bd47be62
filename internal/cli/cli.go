// Package cli is small-hook's command line: flags, one call of an entry point, output and exit status.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/program"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// Exit statuses other than a report's.
const (
	statusCannot      = 2
	statusInterrupted = 130
)

// Run executes one command line and returns the exit status.
func Run(ctx context.Context, p program.Process) int {
	app := &app{Process: p, stdin: p.Stdin}
	app.Stdin = interruptible{ctx, p.Stdin}
	args := arguments(p.Args)
	root := app.root(args...)
	root.SetArgs(args)
	root.SetIn(app.Stdin)
	help := &sticky{Writer: p.Stdout}
	root.SetOut(help)
	root.SetErr(p.Stderr)
	command, err := root.ExecuteContextC(ctx)
	switch {
	case app.settled && err == nil:
		return app.status
	case ctx.Err() != nil, !app.finishing && mayBeSignal(err) && interrupted(ctx):
		app.progress.clear()
		return statusInterrupted
	case err != nil:
		return app.fail(command.Name(), err)
	case help.err != nil:
		return app.fail(command.Name(), help.err)
	}
	return app.status
}

// Command is the definition of the command line, for its manual pages.
func Command() *cobra.Command { return (&app{}).root() }

// sticky remembers that a write failed: cobra prints help without looking.
type sticky struct {
	io.Writer
	err error
}

// Write passes on what it gets.
func (s *sticky) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.err = errors.Join(s.err, err)
	return n, err
}

// arguments are the command line without the program. Linked into a hooks directory under the name of a git hook, the program is
// that hook.
func arguments(args []string) []string {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if slices.Contains(hookNames, name) {
		return append([]string{name}, args[1:]...)
	}
	return args[1:]
}

var hookNames = []string{"pre-commit", "pre-merge-commit", "pre-push", "pre-receive", "prepare-commit-msg"}

// app is one run of the program.
type app struct {
	program.Process
	// stdin is the standard input as it was given, for a command that is run.
	stdin  io.Reader
	flags  flags
	status int
	// settled is true once a command that was run has ended: its status counts, whatever ended it.
	settled bool
	// finishing is true once reports are being written.
	finishing bool
	progress  progress
}

// fail says on standard error, and in the reports that were asked for, why the command named mode could not do its work.
func (a *app) fail(mode string, err error) int {
	var at *fs.PathError
	if errors.As(err, &at) && at.Op == "write" && strings.HasPrefix(at.Path, "/dev/std") {
		err = unwritten("the output", err)
	}
	f := failure.Of(err)
	text := "small-hook: " + f.Message + "\n"
	if f.Remedy != "" {
		text += f.Remedy + "\n"
	}
	if !a.finishing {
		if err := a.reportFailure(mode, f); err != nil {
			text += "small-hook: " + failure.Of(err).Message + "\n"
		}
	}
	if _, err := io.WriteString(a.Stderr, sanitize.Lines(text)); err != nil {
		return statusCannot // there is nowhere left to say it; the status does
	}
	return statusCannot
}

var errUsage = errors.New("wrong usage")

// usage is the failure for a command line that makes no sense.
func usage(c *cobra.Command, format string, args ...any) error {
	return &failure.Error{Message: fmt.Sprintf(format, args...), Remedy: "see `" + c.CommandPath() + " --help`", Err: errUsage}
}

// root is the command line's definition: where the arguments begin with a command's name, of that one alone.
func (a *app) root(args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "small-hook",
		Short: "Reject changes that rewrite a SMALL progress log, and unsound state",
		Long: "small-hook judges workspaces of the SMALL protocol (.small/*.small.yml) and the history of their\n" +
			"progress logs in git. Exit status: 0 nothing is wrong, 1 there are findings, 2 it could not judge.",
		Example: "  small-hook demo\n" +
			"  small-hook install\n" +
			"  small-hook audit",
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("version") {
				return a.printVersion()
			}
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(flagError)
	a.flags.register(root.PersistentFlags())
	root.Flags().Bool("version", false, "print the program's version")
	commands := a.commands()
	alone := len(args) > 0 && commands[args[0]] != nil
	for name, command := range commands {
		if !alone || name == args[0] {
			c := command()
			refuseFlags(c, root.PersistentFlags())
			root.AddCommand(c)
		}
	}
	if alone {
		root.CompletionOptions.DisableDefaultCmd = true
	} else {
		completeFlags(root)
		addHelpers(root)
	}
	return root
}

// commands makes each command, by its name.
func (a *app) commands() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"check": a.checkCommand, "range": a.rangeCommand, "audit": a.auditCommand, "merge-check": a.mergeCheckCommand, "replay-id": a.replayIDCommand,
		"pre-commit": a.preCommitCommand, "pre-merge-commit": a.preMergeCommitCommand, "pre-push": a.prePushCommand,
		"pre-receive": a.preReceiveCommand, "prepare-commit-msg": a.prepareCommitMsgCommand,
		"install": a.installCommand, "uninstall": a.uninstallCommand, "doctor": a.doctorCommand,
		"baseline": a.baselineCommand, "waive": a.waiveCommand, "reconcile": a.reconcileCommand, "sync": a.syncCommand,
		"merge-driver": a.mergeDriverCommand, "guard": a.guardCommand, "append": a.appendCommand, "restore": a.restoreCommand,
		"agent-hook": a.agentHookCommand, "lane": a.laneCommand, "explain": a.explainCommand, "demo": a.demoCommand, "version": a.versionCommand,
		"witness": a.witnessCommand, "digests": a.digestsCommand,
	}
}

// noArguments is for a command that takes none.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.Parent() == nil {
		message := fmt.Sprintf("there is no command %q", args[0])
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			message += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return usage(c, "%s", message)
	}
	return usage(c, "%s takes no arguments, but %q was given", c.Name(), args[0])
}

// isTerminal reports whether a person reads the stream at a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
