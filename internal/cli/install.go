package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/hook"
)

func (a *app) installCommand() *cobra.Command {
	var opts hook.InstallOptions
	var global, configure, driver bool
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the hooks in this repository; an existing hook is kept and runs first",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case global && driver:
				return usage(c, "--merge-driver is for one repository, not for --global: a clone does not copy configuration")
			case global && opts.PrepareCommitMsg:
				return usage(c, "--prepare-commit-msg is for one repository, not for --global")
			case configure && !global:
				return usage(c, "--configure needs --global")
			case global:
				result, err := hook.InstallGlobal(c.Context(), hook.GlobalOptions{
					Program: opts.Program, Configure: configure, PreReceive: opts.PreReceive, Force: opts.Force,
				})
				return a.printResult(result, err)
			}
			opts.Dir = a.flags.dir
			if driver {
				if err := a.printDriver(hook.InstallMergeDriver(c.Context(), opts)); err != nil {
					return err
				}
			}
			result, err := hook.Install(c.Context(), opts)
			return a.printResult(result, err)
		},
	}
	c.Flags().StringVar(&opts.Program, "program", "", "have the hooks call `FILE` instead of this program")
	c.Flags().BoolVar(&opts.PreReceive, "pre-receive", false, "also install the server-side hook")
	c.Flags().BoolVar(&opts.PrepareCommitMsg, "prepare-commit-msg", false, "also install the hook that signs the commits of agents (SMALL_AGENT_ID)")
	c.Flags().BoolVar(&opts.Force, "force", false, "install the hooks even in a directory of a hook manager")
	c.Flags().BoolVar(&driver, "merge-driver", false, "also have git merge workspace files with this program instead of line by line")
	c.Flags().BoolVar(&global, "global", false, "install into the template that git copies into new repositories and clones")
	c.Flags().BoolVar(&configure, "configure", false, "with --global: set init.templateDir if it is unset")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	var global bool
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the hooks and put back what was there before",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if global {
				result, err := hook.UninstallGlobal(c.Context(), hook.GlobalOptions{})
				return a.printResult(result, err)
			}
			if err := a.printDriver(hook.UninstallMergeDriver(c.Context(), a.flags.dir)); err != nil {
				return err
			}
			result, err := hook.Uninstall(c.Context(), a.flags.dir)
			return a.printResult(result, err)
		},
	}
	c.Flags().BoolVar(&global, "global", false, "remove them from the template directory")
	return c
}

// printDriver prints what was done about the merge driver.
func (a *app) printDriver(result hook.DriverResult, err error) error {
	return cmp.Or(err, a.print(result.Text()))
}

// printResult prints what was done about hooks. If a person still has to do something, that is outcome 2: nothing is guarded yet.
func (a *app) printResult(result hook.Result, err error) error {
	if err != nil || result.Outcome == hook.NeedsManual {
		a.status = statusCannot
	}
	return cmp.Or(a.print(result.Text()), err)
}
