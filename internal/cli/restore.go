package cli

import (
	"cmp"
	"fmt"
	"slices"

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
			if mend.Commit != "" {
				mend.Source, mend.Files, mend.Discard = source, args, discard
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
				text = restoredText(done, dropNew(done.Log))
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
	c.Flags().BoolVar(&discard, "discard-new", false, "drop the entries that are new since, too; with --commit: those that the commit adds")
	a.waits(c)
	return c
}

// mend makes commits again.
func (a *app) mend(c *cobra.Command, what restore.MendOptions) error {
	what.Progress = a.rewriting()
	done, err := edit.Mend(c.Context(), a.request(), a.locking(), what)
	a.progress.clear()
	if printed := a.print(sanitize.Lines(mendedText(done))); err == nil {
		err = printed
	}
	return err
}

// mendedText says what became of logs that were mended one after the other.
func mendedText(done []edit.Mended) string {
	changed := slices.DeleteFunc(slices.Clone(done), func(m edit.Mended) bool { return m.New == m.Old })
	var text, words, alike string
	for _, m := range changed {
		words += m.Argument
	}
	if len(changed) > 0 {
		most := slices.MaxFunc(changed, func(a, b edit.Mended) int { return cmp.Compare(a.Commits, b.Commits) })
		text = fmt.Sprintf("Rewrote %s: HEAD %s → %s\n", wording.Count(most.Commits, "commit"), history.Short(changed[0].Old), history.Short(changed[len(changed)-1].New))
	}
	for _, m := range done {
		switch {
		case m.New == m.Old:
			text += m.Log + ": there is nothing to mend\n"
		case m.Text != nil || len(m.Alike) > 0:
			text += restoredText(m.Restored, "")
		}
		if len(m.Alike) > 0 {
			alike += m.Argument
		}
	}
	if alike != "" {
		text += "to drop all that the commit adds there: " + wording.Commands("small-hook restore"+alike+" --discard-new --commit "+history.Short(done[len(done)-1].Remade)) + "\n"
	}
	if len(changed) == 0 {
		return text
	}
	command := func(in string) string {
		return "small-hook restore" + in + words + " --commit " + history.Short(changed[0].First)
	}
	for _, b := range changed[0].Branches {
		there := []string{"git switch " + wording.ShellWord(b[0]), command(""), "git switch -"}
		if b[1] != "" {
			there = []string{command(" -C " + wording.ShellWord(b[1]))}
		}
		text += "the branch " + b[0] + " still has the old commit: " + wording.Commands(there...) + "\n"
	}
	return text
}
