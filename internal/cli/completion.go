package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/report"
)

// addCobraCommands adds cobra's own commands, help and completion. They refuse unknown arguments, which cobra accepts by default.
func addCobraCommands(root *cobra.Command) {
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
				return usageError(c, "there is no completion for %q, only for bash, fish, powershell and zsh", args[0])
			}
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

func offerSharedValues(root *cobra.Command) {
	offerValues(root, "format", report.Formats()...)
	offerValues(root, "color", "auto", "always", "never")
	offerValues(root, "reader", repository.Readers...)
	offerValues(root, "workspace", "root", "examples", "any")
}

// offerValues sets the values that shells offer for a flag.
func offerValues(c *cobra.Command, flag string, values ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag: a bug in this package
	}
}

func offerRules(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(slices.Values(catalogue.IDs())), cobra.ShellCompDirectiveNoFileComp
}
