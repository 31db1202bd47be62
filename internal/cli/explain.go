package cli

import (
	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/report"
)

func (a *app) explainCommand() *cobra.Command {
	return withHelp("explain", &cobra.Command{
		Args: limitArgs(0, 1, "at most one rule"),

		ValidArgsFunction: offerRules,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return report.ExplainList(a.Stdout, catalogue.All())
			}
			rule, ok := catalogue.Find(args[0])
			if !ok {
				return judge.UnknownRule(args[0])
			}
			return report.Explain(a.Stdout, rule)
		},
	})
}
