package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/demo"
	"github.com/small-gate/small-gate/internal/report"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "demo",
		Short:   "Show a real rejection in a temporary repository",
		Example: "  small-hook demo",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			color, err := report.UseColor(a.flags.color, isTerminal(a.Stdout), a.Getenv)
			if err != nil {
				return err
			}
			return demo.Run(c.Context(), a.Stdout, demo.Options{Program: program, Environ: a.Environ, Color: color})
		},
	}
}
