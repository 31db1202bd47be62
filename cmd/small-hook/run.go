package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/report"
)

// process is what a command has of the outside.
type process struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
}

// getenv looks a variable up as os.Getenv does.
func (p process) getenv(key string) string {
	for _, kv := range slices.Backward(p.environ) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == key {
			return v
		}
	}
	return ""
}

// Exit statuses beside those of a report.
const (
	statusCannot      = 2
	statusInterrupted = 130
)

// run executes one command line and returns the exit status.
func run(ctx context.Context, p process) int {
	p.stdin = interruptible{ctx, p.stdin}
	app := &app{process: p}
	root := app.root()
	root.SetArgs(arguments(p.args))
	root.SetIn(p.stdin)
	help := &sticky{Writer: p.stdout}
	root.SetOut(help)
	root.SetErr(p.stderr)
	command, err := root.ExecuteContextC(ctx)
	switch {
	case ctx.Err() != nil, ofGit(err) && !app.finishing && interrupted(ctx):
		app.progress.clear()
		return statusInterrupted
	case err != nil:
		return app.fail(command.Name(), err)
	case help.err != nil:
		return app.fail(command.Name(), help.err)
	}
	return app.status
}

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

// arguments are the command line without the program. Under the name of a git
// hook the program is that hook, so that it can be linked into a hooks
// directory.
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
	process
	flags  flags
	status int
	// finishing is true once the reports of a judgement are being written.
	finishing bool
	progress  progress
}

// fail says on standard error why nothing could be judged, and in the reports
// that were asked for. All errors that reach it are outcome 2. mode is the
// command's name.
func (a *app) fail(mode string, err error) int {
	failure := failureOf(err)
	text := "small-hook: " + sanitizeLines(failure.Message) + "\n"
	if failure.Remedy != "" {
		text += sanitizeLines(failure.Remedy) + "\n"
	}
	if !a.finishing {
		if err := a.reportFailure(mode, failure); err != nil {
			text += "small-hook: " + sanitizeLines(err.Error()) + "\n"
		}
	}
	if _, err := io.WriteString(a.stderr, text); err != nil {
		return statusCannot // there is nowhere left to say it; the status does
	}
	return statusCannot
}

// ofGit reports whether an error may come from a git that failed: not one of
// usage.
func ofGit(err error) bool {
	var failure *gate.Failure
	return errors.As(err, &failure)
}

// failureOf takes an error apart into what is wrong and what to type next.
func failureOf(err error) *gate.Failure {
	var failure *gate.Failure
	if errors.As(err, &failure) {
		return failure
	}
	message, remedy, _ := strings.Cut(err.Error(), "\n")
	return &gate.Failure{Message: message, Remedy: remedy, Err: err}
}

// sanitizeLines makes a text of several lines safe to print.
func sanitizeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = report.Sanitize(line)
	}
	return strings.Join(lines, "\n")
}

// root is the command line's definition.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "small-hook",
		Short: "Reject changes that rewrite a SMALL progress log, and state that is not sound",
		Long: "small-hook judges workspaces of the SMALL protocol (.small/*.small.yml) and the history of their\n" +
			"progress logs in git. Exit status: 0 nothing is wrong, 1 there are findings, 2 it could not judge.",
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       noArguments,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w\nsee: %s --help", err, c.CommandPath())
	})
	a.flags.register(root.PersistentFlags())
	root.AddCommand(
		a.checkCommand(), a.rangeCommand(), a.auditCommand(), a.mergeCheckCommand(), a.replayIDCommand(),
		a.preCommitCommand(), a.preMergeCommitCommand(), a.prePushCommand(), a.preReceiveCommand(), a.prepareCommitMsgCommand(),
		a.installCommand(), a.uninstallCommand(), a.doctorCommand(),
		a.baselineCommand(), a.waiveCommand(), a.reconcileCommand(), a.mergeDriverCommand(),
		a.laneCommand(), a.explainCommand(), a.demoCommand(), a.versionCommand(),
	)
	completeFlags(root)
	addHelpers(root)
	return root
}

// noArguments rejects arguments in words that say which.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.Parent() == nil {
		message := fmt.Sprintf("there is no command %q", args[0])
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			message += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return fmt.Errorf("%s\nsee: %s --help", message, c.CommandPath())
	}
	return fmt.Errorf("%s takes no arguments, but %q was given\nsee: %s --help", c.Name(), args[0], c.CommandPath())
}

// isTerminal reports whether a stream is a terminal that a person reads.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && terminal(f)
}
