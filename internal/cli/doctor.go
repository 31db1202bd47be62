package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/hook"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check that each hook would run here, and say what would be judged",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := hook.Doctor(c.Context(), a.flags.dir)
			if err != nil {
				return err
			}
			if err := a.print(found.Text()); err != nil {
				return err
			}
			if !found.Fires() || found.Driver.Broken {
				a.status = statusCannot
			}
			scope, err := entrypoint.Survey(c.Context(), a.request())
			if err != nil {
				return err
			}
			text := fmt.Sprintf("\nPolicy: %s\nReader: %s (%s)\n", sanitize.Line(scope.Policy), sanitize.Line(scope.Reader), sanitize.Line(scope.Why))
			for _, note := range scope.Notes {
				text += "Note: " + sanitize.Line(note) + "\n"
			}
			if len(scope.Workspaces) == 0 {
				text += "Would judge: no workspace yet (there is no .small/ directory in the index)\n"
			}
			for _, w := range scope.Workspaces {
				text += "Would judge: " + sanitize.Line(w) + "\n"
			}
			return a.print(text)
		},
	}
}
