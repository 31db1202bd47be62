package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/hook"
)

func (a *app) installCommand() *cobra.Command {
	var opts hook.InstallOptions
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the hooks in this repository; a hook that is there is kept and runs first",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			opts.Dir = a.flags.dir
			result, err := hook.Install(c.Context(), opts)
			return a.tell(result, err)
		},
	}
	c.Flags().StringVar(&opts.Program, "program", "", "have the hooks call `FILE` instead of this program")
	c.Flags().BoolVar(&opts.PreReceive, "pre-receive", false, "install the hook of the receiving side too")
	c.Flags().BoolVar(&opts.Force, "force", false, "chain the hooks into a directory that a hook manager rules")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Take the hooks away and put back what was there before",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			result, err := hook.Uninstall(c.Context(), hook.UninstallOptions{Dir: a.flags.dir})
			return a.tell(result, err)
		},
	}
}

// tell prints what was done about hooks. What a person still has to do is
// outcome 2: nothing is guarded yet.
func (a *app) tell(result hook.Result, err error) error {
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
