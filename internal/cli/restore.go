package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
)

func (a *app) restoreCommand() *cobra.Command {
	var wait time.Duration
	var source string
	var mend reconcile.MendOptions
	var discard bool
	c := &cobra.Command{
		Use:   "restore [PATH...]",
		Short: "Put back what the log has lost since the last commit, and keep what is new",
		Long: "Put back the entries of HEAD (in a merge, of the other side too) that the work tree's log has changed, lost or\n" +
			"moved, and those that small-hook append or a guarded command has recorded since. New entries stay, after them, with\n" +
			"a later time where they need one, and with credentials masked. Tasks that the plan has lost with their entries come\n" +
			"back, and so do files of the workspace that are gone. The log as it was is kept under the git directory. The result is\n" +
			"staged, not committed. PATH is the log or its workspace; without it, the workspace is the one here or above, or else\n" +
			"the first one in the work tree whose log has lost something.\n\n" +
			"With --commit, make a commit that nobody else has again, with a log that has lost nothing, and then what came\n" +
			"after it: messages, authors, times, merges and all other files stay, and so does what is not committed. Each PATH\n" +
			"is a file that becomes what it was before the commit, too. It refuses a commit that a remote-tracking branch or a tag has.\n\n" +
			"Exit status: 0 it is restored, or there was nothing to restore; 2 it was not restored.",
		Example: "  small-hook restore\n  small-hook restore --discard-new packages/importer\n  small-hook restore --commit HEAD",
		Args: func(c *cobra.Command, args []string) error {
			if mend.Commit != "" {
				return nil
			}
			return takes(0, 1, "at most one path")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case mend.Commit != "" && discard:
				return usage(c, "--discard-new and --commit do not go together")
			case mend.Commit != "":
				mend.Source, mend.Files = source, args
				return a.mend(c, mend, wait)
			}
			done, err := writers.Restore(c.Context(), a.request(), a.locking(wait), optional(args), source, discard)
			if err != nil {
				return err
			}
			if !done.Done() {
				return a.print(wording.Printable(done.Log) + ": nothing to restore\n")
			}
			var text string
			if done.Text != nil || len(done.Missing) > 0 {
				text = restoredText(done)
			}
			text += done.Log + ": staged\n"
			if done.Next == "" {
				return a.print(sanitize.Lines(text + "nothing is left to commit: the log is as in HEAD\n"))
			}
			return a.print(sanitize.Lines(text) + "next: " + done.Next + "\n")
		},
	}
	c.Flags().StringVar(&source, "source", "", "restore from the commit `REV` instead of HEAD")
	c.Flags().StringVar(&mend.Commit, "commit", "", "make the commit `REV` and those after it again")
	c.Flags().BoolVar(&mend.Pushed, "pushed", false, "with --commit: also if the branch's own upstream has it; then push by force")
	c.Flags().BoolVar(&discard, "discard-new", false, "drop the entries that are new since, too")
	waits(c.Flags(), &wait)
	return c
}

// mend makes commits again.
func (a *app) mend(c *cobra.Command, what reconcile.MendOptions, wait time.Duration) error {
	done, err := writers.Mend(c.Context(), a.request(), a.locking(wait), what)
	if err != nil {
		return err
	}
	if done.New == done.Old {
		return a.print(wording.Printable(done.Log) + ": there is nothing to mend\n")
	}
	text := fmt.Sprintf("%s made again: HEAD is %s now, and was %s\n", wording.Count(done.Commits, "commit"), history.Short(done.New), history.Short(done.Old))
	if done.Text != nil {
		text += restoredText(done.Restored)
	}
	return a.print(sanitize.Lines(text))
}
