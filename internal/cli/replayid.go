package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) replayIDCommand() *cobra.Command {
	var what session.What
	var value, write bool
	c := described("replay-id", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if write {
				if value || what.Staged || what.Ref != "" {
					return usage(c, "--write is about the files on disk and takes none of --value, --staged and --ref")
				}
				done, err := edit.ReplayID(c.Context(), a.request())
				if err != nil {
					return err
				}
				return a.print(writtenIDText(done))
			}
			id, err := judge.ReplayID(c.Context(), a.request(), what)
			switch {
			case err != nil:
				return err
			case value:
				return a.print(id.Reference + "\n")
			}
			return a.print(replayIDText(id))
		},
	})
	c.Flags().BoolVar(&what.Staged, "staged", false, "read the files in the index")
	c.Flags().StringVar(&what.Ref, "ref", "", "read the files of the commit `REV`")
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
	text.WriteString(next(done.Add, `git commit -m "Begin a new run"`))
	return text.String()
}

// replayIDText lists the fingerprints, and which of them the handoff has.
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
