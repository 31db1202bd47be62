// Package cli is small-hook's command line: flags, one call of an entry point, output and exit status.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// Exit statuses besides those of a report.
const (
	statusCannot      = 2
	statusInterrupted = 130
)

// Run executes one command line and returns the exit status.
func Run(ctx context.Context, p program.Process) int {
	app := &app{Process: p, stdin: p.Stdin}
	app.Stdin = interruptible{ctx, p.Stdin}
	args := p.Args[1:]
	root := app.root(args...)
	root.SetArgs(args)
	root.SetIn(app.Stdin)
	help := &sticky{Writer: p.Stdout}
	root.SetOut(help)
	root.SetErr(p.Stderr)
	for _, c := range root.Commands() {
		c.Hidden = c.Hidden || !listed(c.Name())
	}
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

// sticky remembers that a write failed: cobra ignores errors when it prints help.
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

// app is one run of the program.
type app struct {
	program.Process
	// stdin is standard input as it was given, for a command that guard runs.
	stdin  io.Reader
	flags  flags
	status int
	// settled is true once such a command has ended: then its status counts, even after a signal.
	settled bool
	// finishing is true while reports are being written.
	finishing bool
	progress  progress
}

// fail reports, on standard error and in the requested reports, why the command named mode failed.
func (a *app) fail(mode string, err error) int {
	var at *fs.PathError
	if errors.As(err, &at) && at.Op == "write" && strings.HasPrefix(at.Path, "/dev/std") {
		err = unwritten("the output", err)
	}
	f := failure.Of(err)
	text := "small-hook: " + f.Message + "\n"
	if f.Remedy != "" {
		text += "fix: " + f.Remedy + "\n"
	}
	if !a.finishing {
		if err := a.reportFailure(mode, f); err != nil {
			text += "small-hook: " + failure.Of(err).Message + "\n"
		}
	}
	if _, err := io.WriteString(a.Stderr, sanitize.Lines(text)); err != nil {
		return statusCannot // there is nowhere left to report it; the status remains
	}
	return statusCannot
}

// usage is the failure for a command line that is not valid.
func usage(c *cobra.Command, format string, args ...any) error {
	return &failure.Error{Message: fmt.Sprintf(format, args...), Remedy: "see `" + c.CommandPath() + " --help`"}
}

// root is the command line's definition, with only the one command that the arguments begin with, if they do.
func (a *app) root(args ...string) *cobra.Command {
	root := described("small-hook", &cobra.Command{
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
	})
	root.SetFlagErrorFunc(flagError)
	setHelp(root)
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
	all := map[string]func() *cobra.Command{
		"check": a.checkCommand, "range": a.rangeCommand, "audit": a.auditCommand, "merge-check": a.mergeCheckCommand, "replay-id": a.replayIDCommand,
		"prepare-commit-msg": a.prepareCommitMsgCommand, "install": a.installCommand, "uninstall": a.uninstallCommand, "doctor": a.doctorCommand,
		"baseline": a.baselineCommand, "waive": a.waiveCommand, "reconcile": a.reconcileCommand, "sync": a.syncCommand,
		"merge-driver": a.mergeDriverCommand, "guard": a.guardCommand, "append": a.appendCommand, "restore": a.restoreCommand,
		"agent-hook": a.agentHookCommand, "lane": a.laneCommand, "explain": a.explainCommand, "demo": a.demoCommand, "version": a.versionCommand,
		"witness": a.witnessCommand, "digests": a.digestsCommand, "init-log": a.initLogCommand, "log": a.logCommand,
	}
	for name := range gitHooks {
		all[name] = func() *cobra.Command { return a.hookCommand(name) }
	}
	return all
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
