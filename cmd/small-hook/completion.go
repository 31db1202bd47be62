package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/report"
)

// addHelpers adds the commands that cobra brings along, help and completion,
// and makes them say no to what they do not know: by themselves they would end
// as if all were well.
func addHelpers(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(c *cobra.Command, args []string) error {
				about, rest, err := c.Root().Find(args)
				if err != nil {
					return err
				}
				return noArguments(about, rest)
			}
		case "completion":
			c.Args = func(c *cobra.Command, args []string) error {
				if len(args) == 0 {
					return nil
				}
				return fmt.Errorf("there is no completion for %q, only for bash, fish, powershell and zsh\nsee: %s --help", args[0], c.CommandPath())
			}
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// completeFlags says what a shell may offer as values of the common flags.
func completeFlags(root *cobra.Command) {
	for flag, values := range map[string][]string{
		"format":    report.Formats(),
		"color":     {"auto", "always", "never"},
		"reader":    entrypoint.Readers,
		"workspace": {"root", "examples", "any"},
	} {
		if err := root.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flag is not registered: a slip of this program
		}
	}
}

// completeRules offers the ids of all rules.
func completeRules(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(slices.Values(gate.RuleIDs())), cobra.ShellCompDirectiveNoFileComp
}
