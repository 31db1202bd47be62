package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/wording"
)

func (a *app) appendCommand() *cobra.Command {
	var wait time.Duration
	// The fields of an entry, in the order in which they are written.
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
	c := &cobra.Command{
		Use:   "append --task ID --evidence TEXT",
		Short: "Append an entry to the progress log, whoever else is writing",
		Long: "Append an entry to the log of the workspace here or above, under its lock: with a time later than that\n" +
			"of the entry before, with the run's replay id, and with every byte before it as it was. An entry that a\n" +
			"check would reject is not written: exit status 2. If a writer without a guard has changed or lost entries,\n" +
			"they are put back, and nothing is written: exit status 1. Nothing is staged. Where the entry is written and\n" +
			"something else goes wrong, such as a full disk, the message says that it is recorded.",
		Example: "  small-hook append --task task-1 --status completed --evidence \"40 tests pass\" --command \"go test ./...\"",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			var entry splice.Entry
			for i, f := range fields {
				switch {
				case c.Flags().Changed(f.flag):
					entry = append(entry, [2]string{f.key, values[i]})
				case f.flag == "task":
					return usage(c, "append needs --task: whose work is recorded?")
				}
			}
			done, err := writers.Append(c.Context(), a.request(), a.locking(wait), entry)
			a.settled = done.Done // after Ctrl-C too
			if err != nil {
				return err
			}
			if !done.Done {
				return a.notAppended(done)
			}
			text := fmt.Sprintf("%s: appended an entry for %s\n", wording.Printable(done.Log), wording.Printable(values[0]))
			text += fmt.Sprintf("next: %s && git commit -m %s\n", wording.Printable(done.Add), wording.ShellWord("Record "+wording.Printable(values[0])))
			return done.Say(a.print(text))
		},
	}
	for i, f := range fields {
		c.Flags().StringVar(&values[i], f.flag, "", f.usage)
	}
	waits(c.Flags(), &wait)
	return c
}

// notAppended says why nothing was appended.
func (a *app) notAppended(done writers.Appended) error {
	if err := a.guarded(done.Guarded); err != nil {
		return err
	}
	_, err := io.WriteString(a.Stderr, "nothing was appended: type the command again\n")
	return err
}
