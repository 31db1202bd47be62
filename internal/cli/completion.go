package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/report"
)

// addHelpers adds cobra's own commands, help and completion, and makes them refuse unknown arguments: by default they would succeed.
func addHelpers(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = "  small-hook help audit"
			c.Args = func(c *cobra.Command, args []string) error {
				about, rest, err := c.Root().Find(args)
				if err != nil {
					return err
				}
				return noArguments(about, rest)
			}
		case "completion":
			c.Example = "  eval \"$(small-hook completion bash)\""
			c.Args = func(c *cobra.Command, args []string) error {
				if len(args) == 0 {
					return nil
				}
				return usage(c, "there is no completion for %q, only for bash, fish, powershell and zsh", args[0])
			}
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// completeFlags sets the values that shells offer for the common flags.
func completeFlags(root *cobra.Command) {
	offer(root, "format", report.Formats()...)
	offer(root, "color", "auto", "always", "never")
	offer(root, "reader", repository.Readers...)
	offer(root, "workspace", "root", "examples", "any")
}

// offer makes shells offer these values for a flag.
func offer(c *cobra.Command, flag string, values ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag: a bug in this package
	}
}

func completeRules(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(slices.Values(catalogue.IDs())), cobra.ShellCompDirectiveNoFileComp
}
