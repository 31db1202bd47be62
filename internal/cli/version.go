package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/version"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the program's version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Stdout, version.Long("small-hook"))
			return err
		},
	}
}
