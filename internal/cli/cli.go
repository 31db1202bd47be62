// Package cli is small-hook's command line. A command parses flags, calls an entry point, prints, and sets the exit status.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// Exit statuses besides those of a report: a command failed, or a signal ended it.
const (
	statusFailed      = 2
	statusInterrupted = 130
)

// Run executes one command line and returns the exit status.
func Run(ctx context.Context, p program.Process) int {
	app := &app{Process: p, rawStdin: p.Stdin}
	app.Stdin = interruptible{ctx, p.Stdin}
	args := p.Args[1:]
	root := app.rootCommand(args...)
	root.SetArgs(args)
	root.SetIn(app.Stdin)
	helpOut := &helpOutput{Writer: p.Stdout}
	root.SetOut(helpOut)
	root.SetErr(p.Stderr)
	for _, c := range root.Commands() {
		c.Hidden = c.Hidden || !isListed(c.Name())
	}
	command, err := root.ExecuteContextC(ctx)
	switch {
	case app.workDone && err == nil:
		return app.status
	case ctx.Err() != nil, !app.reporting && mayComeFromSignal(err) && waitForSignal(ctx):
		app.progress.clear()
		return statusInterrupted
	case err != nil:
		return app.explainFailure(command.Name(), err)
	case helpOut.err != nil:
		return app.explainFailure(command.Name(), helpOut.err)
	}
	return app.status
}

// Command returns the definition of the command line, for its manual pages.
func Command() *cobra.Command { return (&app{}).rootCommand() }

// helpOutput records failed writes: cobra ignores errors when it prints help.
type helpOutput struct {
	io.Writer
	err error
}

// Write writes, and records an error.
func (h *helpOutput) Write(p []byte) (int, error) {
	n, err := h.Writer.Write(p)
	h.err = errors.Join(h.err, err)
	return n, err
}

// app is one run of the program.
type app struct {
	program.Process
	// rawStdin is Stdin without [interruptible], for the command that guard runs.
	rawStdin io.Reader
	flags    flags
	status   int
	// workDone is true once an entry is appended, or the guarded command has ended. Then status counts even after a signal.
	workDone bool
	// reporting is true once writeReports has begun to write. A later failure is not reported again.
	reporting bool
	progress  progress
}

// explainFailure says on standard error and in the requested reports why the command named mode failed.
func (a *app) explainFailure(mode string, err error) int {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) && pathErr.Op == "write" && strings.HasPrefix(pathErr.Path, "/dev/std") {
		err = explainWriteError("the output", err)
	}
	f := *failure.Of(err) // it may be shared
	if !strings.HasSuffix(f.Remedy, "--help`") && !strings.Contains(f.Remedy, "`cd ") {
		f.Remedy = a.runThere(f.Remedy)
	}
	text := "small-hook: " + f.Message + "\n"
	if f.Remedy != "" {
		text += "fix: " + f.Remedy + "\n"
	}
	if !a.reporting {
		if err := a.writeFailureReports(mode, &f); err != nil {
			text += "small-hook: " + failure.Of(err).Message + "\n"
		}
	}
	if _, err := io.WriteString(a.Stderr, sanitize.Lines(text)); err != nil {
		return statusFailed // only the status is left to say it
	}
	return statusFailed
}

// otherWorkTree returns the root of the work tree that --dir names if the current directory is in another one: remedies must work there. Otherwise, and
// for a bare repository, it is empty.
func (a *app) otherWorkTree() string {
	dir, err := filepath.Abs(a.flags.req.Dir)
	here, hereErr := session.WorkTreeRoot()
	there := session.WorkTreeRootOf(dir)
	if err != nil || hereErr != nil || a.flags.req.Dir == "" || here == there {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(there, ".git")); err != nil {
		return ""
	}
	return there
}

// otherRepository is otherWorkTree, and for a bare repository that --dir names its directory: commands about hooks and settings must run there.
func (a *app) otherRepository() string {
	there := a.otherWorkTree()
	if dir, err := filepath.Abs(a.flags.req.Dir); there == "" && a.flags.req.Dir != "" && err == nil {
		if _, err := os.Lstat(filepath.Join(dir, "objects")); err == nil {
			there = dir
		}
	}
	return there
}

func usageError(c *cobra.Command, format string, args ...any) error {
	return &failure.Error{Message: fmt.Sprintf(format, args...), Remedy: "see `" + c.CommandPath() + " --help`"}
}

// rootCommand defines the command line. To save time, it defines only the first argument's command, if that is one.
func (a *app) rootCommand(args ...string) *cobra.Command {
	root := withHelp("small-hook", &cobra.Command{
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
	makers := a.commandMakers()
	onlyOne := len(args) > 0 && makers[args[0]] != nil
	for name, maker := range makers {
		if !onlyOne || name == args[0] {
			c := maker()
			refuseOtherFlags(c, root.PersistentFlags())
			root.AddCommand(c)
		}
	}
	if onlyOne {
		root.CompletionOptions.DisableDefaultCmd = true
	} else {
		offerSharedValues(root)
		addCobraCommands(root)
	}
	return root
}

// commandMakers returns, by name, the functions that define the commands.
func (a *app) commandMakers() map[string]func() *cobra.Command {
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

// noArguments refuses arguments. An argument of the root is an unknown command.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.Parent() == nil {
		message := fmt.Sprintf("there is no command %q", args[0])
		if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
			message += "; did you mean " + strings.Join(similar, " or ") + "?"
		}
		return usageError(c, "%s", message)
	}
	return usageError(c, "%s takes no arguments, but %q was given", c.Name(), args[0])
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
