package cli

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/rules"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/report"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Explain a rule with a wrong and a right example; without one, list all",
		Example: "  small-hook explain\n" +
			"  small-hook explain append-only/modified",
		Args: takes(0, 1, "at most one rule"),

		ValidArgsFunction: completeRules,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return report.ExplainList(a.Stdout, rules.All())
			}
			rule, ok := rules.Find(args[0])
			if !ok {
				return unknownRule(args[0])
			}
			return report.Explain(a.Stdout, rule)
		},
	}
}

func unknownRule(name string) error {
	message := fmt.Sprintf("there is no rule %q", name)
	if near := policy.Suggest(name, rules.IDs()); near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return &failure.Error{Message: message, Remedy: "`small-hook explain` lists all rules", Err: errUsage}
}
