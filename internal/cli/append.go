package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
)

func (a *app) appendCommand() *cobra.Command {
	var wait time.Duration
	// The fields of an entry, in the order in which they are written.
	fields := []struct{ flag, key, usage string }{
		{"task", "task_id", "the `ID` of the plan's task, or one that begins meta/"},
		{"status", "status", "the task's `STATUS`: pending, in_progress, completed, blocked or cancelled"},
		{"evidence", "evidence", "the `TEXT` that says what shows that it happened"},
		{"verification", "verification", "the `TEXT` that says how it was verified"},
		{"command", "command", "the `COMMAND` that was run"},
		{"test", "test", "the `TEST` that was run"},
		{"link", "link", "a `URL`"},
		{"commit", "commit", "the `ID` of the commit, 7 to 40 lower-case hex digits"},
		{"notes", "notes", "`TEXT` besides"},
	}
	values := make([]string, len(fields))
	c := &cobra.Command{
		Use:   "append --task ID --evidence TEXT",
		Short: "Append an entry to the progress log, whoever else is writing",
		Long: "Append an entry to the log of the workspace here or above, under its lock: with a time later than that\n" +
			"of the entry before, with the run's replay id, and with every byte before it as it was. An entry that a\n" +
			"check would reject is not written: exit status 2. If a writer without a guard has changed or lost entries,\n" +
			"they are put back, and nothing is written: exit status 1. Nothing is staged.",
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
			done, err := entrypoint.Append(c.Context(), a.request(), a.locking(wait), entry)
			if err != nil {
				return err
			}
			if !done.Done {
				return a.notAppended(done)
			}
			text := fmt.Sprintf("%s: appended an entry for %s\n", wording.Printable(done.Log), wording.Printable(values[0]))
			text += fmt.Sprintf("next: %s && git commit -m %s\n", done.Add, wording.ShellWord("Record "+wording.Printable(values[0])))
			return a.print(text)
		},
	}
	for i, f := range fields {
		c.Flags().StringVar(&values[i], f.flag, "", f.usage)
	}
	waits(c.Flags(), &wait)
	return c
}

// notAppended says why nothing was appended.
func (a *app) notAppended(done entrypoint.Appended) error {
	if err := a.guarded(done.Guarded); err != nil {
		return err
	}
	_, err := io.WriteString(a.Stderr, "nothing was appended: type the command again\n")
	return err
}

func (a *app) restoreCommand() *cobra.Command {
	var wait time.Duration
	var source string
	var discard bool
	c := &cobra.Command{
		Use:   "restore [PATH]",
		Short: "Put back what the log has lost since the last commit, and keep what is new",
		Long: "Put back the entries of HEAD (in a merge, of the other side too) that the work tree's log has changed,\n" +
			"lost or moved. Entries that are new since stay, after them; a time that could not stand is moved. The\n" +
			"file as it was is kept under the git directory, and named. The log is staged, nothing is committed. PATH\n" +
			"is the log or its workspace; without it, the workspace is the one here or above.\n\n" +
			"Exit status: 0 it is restored, or there was nothing to restore; 2 it was not restored.",
		Example: "  small-hook restore\n  small-hook restore --discard-new packages/importer",
		Args:    atMost(1, "at most one path"),
		RunE: func(c *cobra.Command, args []string) error {
			done, err := entrypoint.Restore(c.Context(), a.request(), a.locking(wait), optional(args), source, discard)
			if err != nil {
				return err
			}
			if done.Text == nil && !done.Staged {
				return a.print(wording.Printable(done.Log) + ": nothing to restore\n")
			}
			var text string
			if done.Text != nil {
				text = restoredText(done)
			}
			text += done.Log + ": staged\n"
			if done.Next == "" {
				return a.print(sanitize.Lines(text + "nothing is left to commit: the log is as in HEAD\n"))
			}
			return a.print(sanitize.Lines(text) + "next: " + done.Next + "\n")
		},
	}
	c.Flags().StringVar(&source, "source", "", "restore the log of the commit `REV` instead of HEAD's")
	c.Flags().BoolVar(&discard, "discard-new", false, "drop the entries that are new since, too")
	waits(c.Flags(), &wait)
	return c
}
