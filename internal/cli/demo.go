package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/cli/demo"
	"github.com/small-gate/small-gate/internal/report"
)

func (a *app) demoCommand() *cobra.Command {
	return withHelp("demo", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			color, err := report.UseColor(a.flags.color, isTerminal(a.Stdout), a.Getenv)
			if err != nil {
				return err
			}
			return demo.Run(c.Context(), a.Stdout, program, a.Environ, color)
		},
	})
}
