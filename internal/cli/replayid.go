package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) replayIDCommand() *cobra.Command {
	var value, write bool
	c := withHelp("replay-id", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if value == write {
				return usageError(c, "give one of --write and --value")
			}
			if write {
				done, err := edit.ReplayID(c.Context(), a.newRequest(), a.lockingOptions())
				if err != nil {
					return err
				}
				return a.print(a.writtenIDText(done))
			}
			id, err := judge.ReplayID(c.Context(), a.newRequest())
			if err != nil {
				return err
			}
			return a.print(id + "\n")
		},
	})
	c.Flags().BoolVar(&value, "value", false, "print only the id, as the protocol's own program computes it")
	c.Flags().BoolVar(&write, "write", false, "begin a new run: write the id into the handoff and workspace.small.yml")
	a.addWaitFlag(c)
	return c
}

func (a *app) writtenIDText(done edit.WrittenID) string {
	if len(done.Files) == 0 {
		return "handoff and workspace already name the run " + done.ID + "; nothing was written\n"
	}
	var text strings.Builder
	for _, file := range done.Files {
		fmt.Fprintf(&text, "%s: the run is now %s\n", sanitize.Line(file), done.ID)
	}
	text.WriteString(a.nextLine(done.StageCommand, `git commit -m "Begin a new run"`))
	return text.String()
}
