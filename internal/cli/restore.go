package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/write/restore"
)

func (a *app) restoreCommand() *cobra.Command {
	var source string
	var mend restore.MendOptions
	var discard bool
	c := described("restore", &cobra.Command{
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
				return a.mend(c, mend)
			}
			done, err := edit.Restore(c.Context(), a.request(), a.locking(), optional(args), source, discard)
			if err != nil {
				return err
			}
			if n := len(done.Forgotten); n > 0 {
				return a.print(sanitize.Lines(fmt.Sprintf("%s: forgot %s that had been discarded: %s\n", done.Log, wording.Count(n, "entry"), ledger.DescribeAll(done.Forgotten))))
			}
			if !done.Done() {
				text := done.Log + ": nothing to restore\n"
				if len(done.Next) > 0 {
					text += next(done.Next...)
				}
				return a.print(sanitize.Lines(text))
			}
			var text string
			if done.Text != nil || len(done.Missing) > 0 {
				text = restoredText(done)
			}
			text += done.Log + ": staged\n"
			if len(done.Next) == 0 {
				return a.print(sanitize.Lines(text + "nothing is left to commit: the log is as in HEAD\n"))
			}
			return a.print(sanitize.Lines(text) + next(done.Next...))
		},
	})
	c.Flags().StringVar(&source, "source", "", "restore from the commit `REV` instead of HEAD")
	c.Flags().StringVar(&mend.Commit, "commit", "", "rewrite the commit `REV` and those after it")
	c.Flags().BoolVar(&mend.Pushed, "pushed", false, "with --commit: also if the branch's own upstream has it; then push by force")
	c.Flags().BoolVar(&discard, "discard-new", false, "drop the entries that are new since, too")
	a.waits(c)
	return c
}

// mend makes commits again.
func (a *app) mend(c *cobra.Command, what restore.MendOptions) error {
	what.Progress = a.rewriting()
	done, err := edit.Mend(c.Context(), a.request(), a.locking(), what)
	if err != nil {
		return err
	}
	if done.New == done.Old {
		return a.print(wording.Printable(done.Log) + ": there is nothing to mend\n")
	}
	a.progress.clear()
	text := fmt.Sprintf("Rewrote %s: HEAD %s → %s\n", wording.Count(done.Commits, "commit"), history.Short(done.Old), history.Short(done.New))
	if done.Text != nil {
		text += restoredText(done.Restored)
	}
	for _, b := range done.Branches {
		there := []string{"git switch " + wording.ShellWord(b[0]), "small-hook restore --commit " + history.Short(done.First)}
		if b[1] != "" {
			there = []string{"small-hook restore -C " + wording.ShellWord(b[1]) + " --commit " + history.Short(done.First)}
		}
		text += "the branch " + b[0] + " still has the old commit: " + wording.Commands(there...) + "\n"
	}
	return a.print(sanitize.Lines(text))
}
