package cli

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/agent/harness"
	"github.com/small-gate/small-gate/internal/agent/installed"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/install"
	"github.com/small-gate/small-gate/internal/judge"
)

func (a *app) installCommand() *cobra.Command {
	var opts install.InstallOptions
	var driver, textconv bool
	var agents []string
	c := withHelp("install", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := refuseEmpty(c, "program"); err != nil {
				return err
			}
			if c.Flags().Changed("agent") {
				names, err := checkAgentNames(c, agents, "program")
				if err != nil {
					return err
				}
				return a.printResult(installed.Install(c.Context(), names, a.flags.req.Dir, opts.Program))
			}
			opts.Dir = a.flags.req.Dir
			if driver {
				var err error
				if opts.Logs, err = a.logPatterns(c.Context()); err != nil {
					return err
				}
				if err := a.printDriverResult(install.InstallMergeDriver(c.Context(), opts)); err != nil {
					return err
				}
			}
			if textconv {
				if err := a.printDriverResult(install.InstallTextconv(c.Context(), opts)); err != nil {
					return err
				}
			}
			if err := a.printResult(install.Install(c.Context(), opts)); err != nil || a.status != 0 {
				return err
			}
			return a.print(a.nothingToGuardText(c.Context()))
		},
	})
	addAgentFlag(c, &agents, "have `NAME`'s harness call the gate, instead of git: "+wording.List(harnessNames(), "or")+"; may be given several times")
	c.Flags().StringVar(&opts.Program, "program", "", "have the hooks call `FILE` instead of this program")
	c.Flags().BoolVar(&opts.PreReceive, "pre-receive", false, "also install the server-side hook")
	c.Flags().BoolVar(&opts.Force, "force", false, "install the hooks even in a directory of a hook manager")
	c.Flags().BoolVar(&textconv, "textconv", false, "also have git diff and git log -p show logs as entries, through small-hook log --textconv")
	c.Flags().BoolVar(&driver, "merge-driver", false, "also have git merge workspace files and configured logs with this program, instead of line by line")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	var agents []string
	c := withHelp("uninstall", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("agent") {
				names, err := checkAgentNames(c, agents)
				if err != nil {
					return err
				}
				return a.printResult(installed.Uninstall(c.Context(), names, a.flags.req.Dir))
			}
			if err := a.printDriverResult(install.UninstallMergeDriver(c.Context(), a.flags.req.Dir)); err != nil {
				return err
			}
			if err := a.printDriverResult(install.UninstallTextconv(c.Context(), a.flags.req.Dir)); err != nil {
				return err
			}
			return a.printResult(install.Uninstall(c.Context(), a.flags.req.Dir))
		},
	})
	addAgentFlag(c, &agents, "remove from the settings of `NAME`'s harness what install --agent added, and keep git's hooks")
	return c
}

// nothingToGuardText says how to begin a log. It is empty if the index, the configuration or the work tree has one, and after an error, which
// doctor reports.
func (a *app) nothingToGuardText(ctx context.Context) string {
	scope, err := judge.Survey(ctx, a.newRequest())
	if err != nil || scope.Bare || scope.WorkspaceOnDisk || len(scope.Workspaces) > 0 {
		return ""
	}
	if logs, err := edit.ConfiguredLogs(ctx, a.newRequest()); err != nil || len(logs) > 0 {
		return ""
	}
	return "There is nothing to guard yet: neither a .small/ directory nor a log in .small-gate.yml. To guard a file of your own, name it to small-hook init-log, which without a name says what looks like a log. " +
		"A person begins a log of the SMALL protocol with small init --intent, followed by what the work is for.\n"
}

// logPatterns returns the configured logs, for the merge driver.
func (a *app) logPatterns(ctx context.Context) ([]install.LogPattern, error) {
	logs, err := edit.ConfiguredLogs(ctx, a.newRequest())
	var out []install.LogPattern
	for i := range logs {
		out = append(out, install.LogPattern{Path: logs[i].Path, Exclude: logs[i].Exclude})
	}
	return out, err
}

func (a *app) printDriverResult(result install.Result, err error) error {
	result.RunIn = a.otherRepository()
	return cmp.Or(err, a.print(result.Text()))
}

// printResult prints what was done to hooks or harnesses. The exit status is 2 if nothing is guarded until a person does something.
func (a *app) printResult(result install.Result, err error) error {
	if err != nil || result.Outcome == install.NeedsManualSteps {
		a.status = statusFailed
	}
	result.RunIn = a.otherRepository()
	return cmp.Or(a.print(result.Text()), err)
}

func addAgentFlag(c *cobra.Command, names *[]string, help string) {
	c.Flags().StringSliceVar(names, "agent", nil, help)
	offerValues(c, "agent", harnessNames()...)
}

func harnessNames() []string {
	var names []string
	for _, h := range harness.All {
		names = append(names, h.Name)
	}
	return names
}

// checkAgentNames returns the harnesses that --agent names, each once. With it the command takes only the allowed flags.
func checkAgentNames(c *cobra.Command, given []string, allowed ...string) ([]string, error) {
	var other string
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "agent" && !slices.Contains(allowed, f.Name) && c.InheritedFlags().Lookup(f.Name) == nil {
			other = f.Name
		}
	})
	if other != "" {
		return nil, usageError(c, "--%s and --agent exclude each other: --%s is about git's hooks, and --agent about an agent's harness", other, other)
	}
	var names []string
	for _, name := range given {
		if !slices.Contains(harnessNames(), name) {
			return nil, usageError(c, "--agent takes %s, not %q", wording.List(harnessNames(), "or"), name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, usageError(c, "--agent takes %s", wording.List(harnessNames(), "or"))
	}
	return names, nil
}
