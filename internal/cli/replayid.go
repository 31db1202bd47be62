package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) replayIDCommand() *cobra.Command {
	var what entrypoint.What
	c := &cobra.Command{
		Use:     "replay-id",
		Short:   "Print the fingerprint of what intent, plan and constraints declare",
		Args:    noArguments,
		PreRunE: a.noReport,
		RunE: func(c *cobra.Command, _ []string) error {
			id, err := entrypoint.ReplayID(c.Context(), a.request(), what)
			if err != nil {
				return err
			}
			return a.print(replayIDText(id))
		},
	}
	c.Flags().BoolVar(&what.Staged, "staged", false, "read the files in the index")
	c.Flags().StringVar(&what.Ref, "ref", "", "read the files of the commit `REV`")
	return c
}

// replayIDText says the fingerprints, and which of them the handoff has.
func replayIDText(id gate.ReplayID) string {
	text := fmt.Sprintf("canonical  %s  (whatever the order of keys, quoting and comments)\n", id.Canonical)
	text += fmt.Sprintf("reference  %s  (of the bytes, as the reference program computes it)\n", id.Reference)
	if id.Handoff == "" {
		return text + "handoff    names no replay id\n"
	}
	matches := "matches neither: it was set by hand, or a file has changed since"
	if which := id.Matches(); which != "" {
		matches = "is the " + which + " one"
	}
	source := ""
	if id.Source != "" {
		source = ", source " + sanitize.Line(id.Source)
	}
	return text + fmt.Sprintf("handoff    %s  (%s%s)\n", sanitize.Line(id.Handoff), matches, source)
}
