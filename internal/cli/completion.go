package cli

import (
	"slices"

	"github.com/small-gate/small-gate/internal/gate/rules"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/repository"
)

// addHelpers adds cobra's own commands, help and completion, and makes them refuse what they do not know: by default they would
// end as if all were well.
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

// completeFlags sets what a shell offers as values of the common flags.
func completeFlags(root *cobra.Command) {
	for flag, values := range map[string][]string{
		"format":    report.Formats(),
		"color":     {"auto", "always", "never"},
		"reader":    repository.Readers,
		"workspace": {"root", "examples", "any"},
	} {
		if err := root.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // no such flag: a mistake in this package
		}
	}
}

func completeRules(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(slices.Values(rules.IDs())), cobra.ShellCompDirectiveNoFileComp
}
