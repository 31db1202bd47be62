package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) restoreLeasesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore-leases [REV]",
		Short: "Put back the leases of others that the plan has lost",
		Long: "Put back the leases that tasks of the plan have in REV (default HEAD) and have not any more, and change\n" +
			"nothing else. The protocol's own program drops every lease when it writes the plan. Leases of the agent in\n" +
			"SMALL_AGENT_ID are left alone. Nothing is staged.",
		Example: "  small-hook restore-leases HEAD~1",
		Args:    atMost(1, "at most one revision"),
		RunE: func(c *cobra.Command, args []string) error {
			done, err := entrypoint.RestoreLeases(c.Context(), a.request(), optional(args))
			if err != nil {
				return err
			}
			if len(done.Tasks) == 0 {
				return a.print(sanitize.Line(done.Plan) + " lacks no lease of others; nothing was written\n")
			}
			var text strings.Builder
			for _, task := range done.Tasks {
				fmt.Fprintf(&text, "%s: task %q has its lease again\n", sanitize.Line(done.Plan), task)
			}
			text.WriteString("next: " + sanitize.Line(done.Add) + " && git commit -m \"Give the leases back\"\n")
			return a.print(sanitize.Lines(text.String()))
		},
	}
}
