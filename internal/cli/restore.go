package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
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
	c := withHelp("restore", &cobra.Command{
		Args: func(c *cobra.Command, args []string) error {
			if err := refuseEmpty(c, "commit", "source"); err != nil {
				return err
			}
			if mend.Commit != "" {
				return limitArgs(0, math.MaxInt, "paths")(c, args)
			}
			if mend.Pushed {
				return usageError(c, "--pushed needs --commit")
			}
			return limitArgs(0, 1, "at most one path without --commit")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if mend.Commit != "" {
				mend.Source, mend.Files, mend.Discard = source, args, discard
				return a.mendCommits(c, mend)
			}
			files, inFolder, err := edit.ChangedFiles(c.Context(), a.newRequest(), firstOrEmpty(args), source, discard)
			if err != nil {
				return err
			}
			if !inFolder {
				files = []string{firstOrEmpty(args)}
			} else if len(files) == 0 {
				return a.print(sanitize.Lines(args[0] + ": nothing to restore\n"))
			}
			for _, file := range files {
				if err := a.restore(c.Context(), file, source, discard); err != nil {
					return err
				}
			}
			return nil
		},
	})
	c.Flags().StringVar(&source, "source", "", "restore from the commit `REV` instead of HEAD")
	c.Flags().StringVar(&mend.Commit, "commit", "", "rewrite the commit `REV` and those after it")
	c.Flags().BoolVar(&mend.Pushed, "pushed", false, "with --commit: also rewrite a commit that the branch's upstream has; then force-push")
	c.Flags().BoolVar(&discard, "discard-new", false, "also drop new entries; with --commit: those that the commit adds")
	a.addWaitFlag(c)
	return c
}

// restore restores one log, and prints what it did.
func (a *app) restore(ctx context.Context, at, source string, discard bool) error {
	done, err := edit.Restore(ctx, a.newRequest(), a.lockingOptions(), at, source, discard)
	if err != nil {
		return err
	}
	if n := len(done.Forgotten); n > 0 {
		return a.print(sanitize.Lines(fmt.Sprintf("%s: forgot %s that had been discarded: %s\n", done.Log, wording.Count(n, "entry"), ledger.DescribeAll(done.Forgotten))))
	}
	if !done.Done() {
		text := done.Log + ": nothing to restore\n"
		if len(done.Next) > 0 {
			text += a.nextLine(done.Next...)
		}
		return a.print(sanitize.Lines(text))
	}
	var text string
	if done.Text != nil || len(done.Missing) > 0 {
		text = a.restoredText(done, dropNewCommand(done.Log))
	}
	text += done.Log + ": staged\n"
	if len(done.Next) == 0 {
		return a.print(sanitize.Lines(text + "nothing is left to commit: the log is that of HEAD\n"))
	}
	return a.print(sanitize.Lines(text) + a.nextLine(done.Next...))
}

// mendCommits rewrites a commit whose log has lost entries, and prints what it did, even after an error.
func (a *app) mendCommits(c *cobra.Command, opts restore.MendOptions) error {
	opts.Progress = a.rewriteProgress()
	done, err := edit.Mend(c.Context(), a.newRequest(), a.lockingOptions(), opts)
	a.progress.clear()
	if printed := a.print(sanitize.Lines(a.mendedText(done))); err == nil {
		err = printed
	}
	return err
}

func (a *app) mendedText(done []edit.Mended) string {
	changed := slices.DeleteFunc(slices.Clone(done), func(m edit.Mended) bool { return m.New == m.Old })
	var text, logs, alikeLogs string
	for _, m := range changed {
		logs += m.Argument
	}
	if len(changed) > 0 {
		longest := slices.MaxFunc(changed, func(a, b edit.Mended) int { return cmp.Compare(a.Commits, b.Commits) })
		text = fmt.Sprintf("Rewrote %s: HEAD %s → %s\n", wording.Count(longest.Commits, "commit"), history.Short(changed[0].Old), history.Short(changed[len(changed)-1].New))
		if unsigned := slices.MaxFunc(changed, func(a, b edit.Mended) int { return cmp.Compare(a.Unsigned, b.Unsigned) }).Unsigned; unsigned > 0 {
			text += fmt.Sprintf("note: %s had a signature, which the copies lack\n", wording.Count(unsigned, "rewritten commit"))
		}
	}
	for _, m := range done {
		switch {
		case m.New == m.Old:
			text += m.Log + ": there is nothing to mend\n"
		case m.Text != nil || len(m.Alike) > 0:
			text += a.restoredText(m.Restored, "")
		}
		if len(m.Alike) > 0 {
			alikeLogs += m.Argument
		}
	}
	if alikeLogs != "" {
		text += "to drop all entries that the commit adds: " + a.commands("small-hook restore"+alikeLogs+" --discard-new --commit "+history.Short(done[len(done)-1].Remade)) + "\n"
	}
	if len(changed) == 0 {
		return text
	}
	restoreIn := func(dirFlag string) string {
		return "small-hook restore" + dirFlag + logs + changed[0].Arguments + " --commit " + history.Short(changed[0].First)
	}
	for _, b := range changed[0].Branches {
		branch, workTree := b[0], b[1]
		commands := []string{"git switch " + wording.ShellWord(branch), restoreIn(""), "git switch -"}
		if workTree != "" {
			commands = []string{restoreIn(" -C " + wording.ShellWord(workTree))}
		}
		text += "the branch " + branch + " still has the old commit: " + a.commands(commands...) + "\n"
	}
	return text
}
