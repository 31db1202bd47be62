package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/hook"
)

func (a *app) installCommand() *cobra.Command {
	var opts hook.InstallOptions
	var global, configure, driver bool
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the hooks in this repository; a hook that is there is kept and runs first",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if global && driver {
				return errors.New("--merge-driver is for one repository, not for --global: clones do not copy configuration")
			}
			if global && opts.PrepareCommitMsg {
				return errors.New("--prepare-commit-msg is for one repository, not for --global")
			}
			if global {
				result, err := hook.InstallGlobal(c.Context(), hook.GlobalOptions{
					Program: opts.Program, Configure: configure, PreReceive: opts.PreReceive, Force: opts.Force,
				})
				return a.reportHooks(result, err)
			}
			if configure {
				return errors.New("--configure belongs to --global")
			}
			opts.Dir = a.flags.dir
			if driver {
				if err := a.reportDriver(hook.InstallMergeDriver(c.Context(), opts)); err != nil {
					return err
				}
			}
			result, err := hook.Install(c.Context(), opts)
			return a.reportHooks(result, err)
		},
	}
	c.Flags().StringVar(&opts.Program, "program", "", "have the hooks call `FILE` instead of this program")
	c.Flags().BoolVar(&opts.PreReceive, "pre-receive", false, "install the server-side hook too")
	c.Flags().BoolVar(&opts.PrepareCommitMsg, "prepare-commit-msg", false, "install the hook that signs the commits of agents (SMALL_AGENT_ID) too")
	c.Flags().BoolVar(&opts.Force, "force", false, "chain the hooks into a directory that a hook manager fills")
	c.Flags().BoolVar(&driver, "merge-driver", false, "also have git call this program where it would merge a workspace's file line by line")
	c.Flags().BoolVar(&global, "global", false, "install into the template directory that git copies into new repositories and clones")
	c.Flags().BoolVar(&configure, "configure", false, "with --global: set init.templateDir if it is not set")
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
				return a.reportHooks(result, err)
			}
			if err := a.reportDriver(hook.UninstallMergeDriver(c.Context(), a.flags.dir)); err != nil {
				return err
			}
			result, err := hook.Uninstall(c.Context(), a.flags.dir)
			return a.reportHooks(result, err)
		},
	}
	c.Flags().BoolVar(&global, "global", false, "remove them from the template directory")
	return c
}

// reportDriver prints what was done about the merge driver.
func (a *app) reportDriver(result hook.DriverResult, err error) error {
	if _, writeErr := io.WriteString(a.stdout, result.Text()); err == nil {
		err = writeErr
	}
	return err
}

// reportHooks prints what was done about hooks. What a person still has to do is
// outcome 2: nothing is guarded yet.
func (a *app) reportHooks(result hook.Result, err error) error {
	if text := result.Text(); text != "" {
		if _, writeErr := io.WriteString(a.stdout, text); writeErr != nil {
			return writeErr
		}
	}
	if err == nil && result.Outcome == hook.NeedsManual {
		a.status = statusCannot
	}
	return err
}
