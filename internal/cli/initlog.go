package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) initLogCommand() *cobra.Command {
	return described("init-log", &cobra.Command{
		Args: takes(1, 1, "one path, of a file or a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			begun, err := edit.InitLog(c.Context(), a.request(), args[0])
			if err != nil {
				return err
			}
			return a.print(begunText(begun))
		},
	})
}

// entryWords describe an entry, by the kind of log.
var entryWords = map[string]string{
	policy.LineEntries: "each line is an entry", policy.ListEntries: "each item of a list is an entry", policy.FileEntries: "each file is an entry",
}

func begunText(b edit.Begun) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s (a guess, by the names)\n", sanitize.Line(b.Log.Path), entryWords[b.Log.Entries])
	if b.Log.Entries == policy.ListEntries && b.Log.At != "" {
		fmt.Fprintf(&text, "the list is at %s\n", sanitize.Line(b.Log.At))
	}
	if b.Log.Order != "" {
		text.WriteString("a new file has to sort after those that are there (order: name)\n")
	}
	for _, note := range b.Notes {
		text.WriteString(sanitize.Line(note) + "\n")
	}
	fmt.Fprintf(&text, "what %s has now is accepted as it stands (since: %.12s)\n", sanitize.Line(b.Accepted), b.Log.Since)
	fmt.Fprintf(&text, "written to %s; next:\n", sanitize.Line(b.File))
	message := "Guard " + b.Log.Path
	for _, command := range []string{"git add -- :/" + policy.File, "git commit -m " + wording.ShellWord(message), "small-hook install"} {
		text.WriteString("  " + sanitize.Line(command) + "\n")
	}
	return text.String()
}
