package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/write/combine"
)

func (a *app) appendCommand() *cobra.Command {
	// The fields of an entry, in writing order.
	fields := []struct{ flag, key, usage string }{
		{"task", "task_id", "the `ID` of the plan's task, or one that begins meta/"},
		{"status", "status", "the task's `STATUS`: pending, in_progress, completed, blocked or cancelled"},
		{"evidence", "evidence", "what shows that it happened, as `TEXT`"},
		{"verification", "verification", "how it was verified, as `TEXT`"},
		{"command", "command", "the `COMMAND` that was run"},
		{"test", "test", "the `TEST` that was run"},
		{"link", "link", "a `URL`"},
		{"commit", "commit", "the `ID` of the commit, 7 to 40 lower-case hex digits"},
		{"notes", "notes", "anything else, as `TEXT`"},
	}
	values := make([]string, len(fields))
	var log, line string
	c := described("append", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("log") || c.Flags().Changed("line") {
				return a.appendEntry(c, log, line)
			}
			var entry combine.NewEntry
			for i, f := range fields {
				switch {
				case c.Flags().Changed(f.flag):
					entry = append(entry, [2]string{f.key, values[i]})
				case f.flag == "task":
					return usage(c, "append needs --task: whose work is recorded?")
				}
			}
			done, err := edit.Append(c.Context(), a.request(), a.locking(), entry)
			a.settled = done.Done // after Ctrl-C too
			if err != nil {
				return err
			}
			if !done.Done {
				return a.notAppended(done)
			}
			if _, err := io.WriteString(a.Stderr, sanitize.Lines(done.Warning()+done.UnknownTask)); err != nil {
				return done.ExplainError(err)
			}
			text := fmt.Sprintf("%s: appended an entry for %s\n", wording.Printable(done.Log), wording.Printable(values[0]))
			text += done.Note() + next(append(done.CommandsBeforeCommit(), done.StageCommand, "git commit -m "+wording.ShellWord("Record "+wording.Printable(values[0])))...)
			return done.ExplainError(a.print(text))
		},
	})
	for i, f := range fields {
		c.Flags().StringVar(&values[i], f.flag, "", f.usage)
	}
	c.Flags().StringVar(&log, "log", "", "append to the log at `PATH`, which the configuration reads as lines or blocks, instead")
	c.Flags().StringVar(&line, "line", "", "with --log: the entry, as `TEXT`; without it, a block is read from standard input")
	a.waits(c)
	return c
}

// appendEntry appends to a log of the configuration.
func (a *app) appendEntry(c *cobra.Command, log, line string) error {
	var other string
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"log", "line", "wait"}, f.Name) && c.InheritedFlags().Lookup(f.Name) == nil {
			other = f.Name
		}
	})
	if other != "" || log == "" {
		return usage(c, "append takes --log and --line together, and no field of an entry of the protocol's log beside them")
	}
	given := &line
	if !c.Flags().Changed("line") {
		given = nil
	}
	done, err := edit.AppendEntry(c.Context(), a.request(), a.locking(), log, given, a.Stdin)
	a.settled = done.Done
	if err != nil {
		return err
	}
	path := wording.Printable(done.Log)
	text := path + ": appended an entry\n" + done.Note() + next(done.StageCommand, "git commit -m "+wording.ShellWord("Append to "+path))
	return done.ExplainError(a.print(text))
}

// notAppended says why nothing was appended.
func (a *app) notAppended(done edit.Appended) error {
	if err := a.guarded(done.Guarded); err != nil {
		return err
	}
	_, err := io.WriteString(a.Stderr, "nothing was appended: type the command again\n")
	return err
}
