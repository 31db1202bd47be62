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
	c := described("replay-id", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if value == write {
				return usage(c, "give one of --write and --value")
			}
			if write {
				done, err := edit.ReplayID(c.Context(), a.request())
				if err != nil {
					return err
				}
				return a.print(writtenIDText(done))
			}
			id, err := judge.ReplayID(c.Context(), a.request())
			if err != nil {
				return err
			}
			return a.print(id + "\n")
		},
	})
	c.Flags().BoolVar(&value, "value", false, "print the id that the protocol's own program computes, and nothing else")
	c.Flags().BoolVar(&write, "write", false, "begin a new run: write that id into the handoff and workspace.small.yml")
	return c
}

// writtenIDText describes what was written, and the next command.
func writtenIDText(done edit.WrittenID) string {
	if len(done.Files) == 0 {
		return "handoff and workspace name the run " + done.ID + " already; nothing was written\n"
	}
	var text strings.Builder
	for _, file := range done.Files {
		fmt.Fprintf(&text, "%s: the run is now %s\n", sanitize.Line(file), done.ID)
	}
	text.WriteString(next(done.StageCommand, `git commit -m "Begin a new run"`))
	return text.String()
}
