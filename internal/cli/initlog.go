package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) initLogCommand() *cobra.Command {
	return withHelp("init-log", &cobra.Command{
		Args: limitArgs(0, math.MaxInt, "paths, of files or folders"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				suggested, err := edit.SuggestLogs(c.Context(), a.newRequest())
				if err != nil {
					return err
				}
				return edit.NoPathGiven(suggested)
			}
			file, stanzas, err := edit.InitLog(c.Context(), a.newRequest(), args...)
			if err != nil {
				return err
			}
			return a.print(a.initLogText(file, stanzas))
		},
	})
}

func (a *app) initLogText(file string, stanzas []edit.WrittenStanza) string {
	var text strings.Builder
	var paths []string
	for _, stanza := range stanzas {
		fmt.Fprintf(&text, "%s is guarded as follows:\n", sanitize.Line(stanza.Log.Path))
		for _, note := range stanza.Notes {
			text.WriteString("- " + sanitize.Line(note) + "\n")
		}
		paths = append(paths, stanza.Log.Path)
	}
	fmt.Fprintf(&text, "written to %s: correct wrong guesses there\n", sanitize.Line(file))
	message := "Guard " + wording.List(paths, "and")
	text.WriteString(a.nextLine("git add -- :/"+policy.File, "git commit -m "+wording.ShellWord(message), "small-hook install"))
	return text.String()
}
