package cli

import (
	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/version"
)

func (a *app) versionCommand() *cobra.Command {
	return withHelp("version", &cobra.Command{
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.printVersion() },
	})
}

func (a *app) printVersion() error { return a.print(version.Long("small-hook") + "\n") }
