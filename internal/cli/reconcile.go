package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
)

func (a *app) reconcileCommand() *cobra.Command {
	var opts reconcile.Options
	var wait time.Duration
	c := &cobra.Command{
		Use:   "reconcile [THEIRS]",
		Short: "Combine two writers' logs: every entry of both in order of time, and one that records it",
		Long: "In a merge, rebase, cherry-pick or squash that stopped or is not committed yet, after a stash or a patch that\n" +
			"conflicts, or with the branch THEIRS: bring the sides of each workspace together. Of the logs, every entry of both\n" +
			"sides stays unchanged, in order of time, and a new entry for meta/reconcile-merge names both sides. In a rebase or a\n" +
			"cherry-pick, entries that nobody else has yet come last instead, with a later time where they need one, and no new\n" +
			"entry. Plan, handoff and workspace.small.yml are merged field by field, the plan's tasks by id; if the sides are of\n" +
			"different runs, plan and handoff are those of the run that goes on. With THEIRS and no merge under way, only the log\n" +
			"and the tasks that it names are taken. The result is staged and shown, not committed.\n\n" +
			"Ours is what is checked out, theirs what comes to it (in a rebase, the commit that is applied).\n\n" +
			"Exit status: 0 everything is resolved, 1 something under .small/ is still in conflict, 2 nothing was done.",
		Example: "  small-hook reconcile\n  small-hook reconcile --plan ours\n  small-hook reconcile origin/feature",
		Args:    takes(0, 1, "at most one branch"),
		RunE: func(c *cobra.Command, args []string) error {
			opts.Theirs = optional(args)
			done, err := writers.Reconcile(c.Context(), a.request(), a.locking(wait), opts)
			if err != nil {
				return err
			}
			if len(done.Conflicts) > 0 {
				a.status = 1
			}
			return a.print(reconcileText(done))
		},
	}
	waits(c.Flags(), &wait)
	c.Flags().StringVar(&opts.Plan, "plan", "", "where both sides changed the same of the plan, take it from `SIDE`: ours or theirs")
	c.Flags().StringVar(&opts.Handoff, "handoff", "", "where both sides changed the same of the handoff, take it from `SIDE`: ours or theirs")
	return c
}

// reconcileText says what was done, shows it, and says what is left to do.
func reconcileText(done *reconcile.Outcome) string {
	var text strings.Builder
	for _, l := range done.Logs {
		text.WriteString(logText(l))
	}
	for _, m := range done.Merged {
		text.WriteString(sanitize.Line(m.Path) + ": merged\n")
		for _, note := range m.Notes {
			text.WriteString("  " + sanitize.Line(note) + "\n")
		}
	}
	if len(done.Logs)+len(done.Merged)+len(done.Conflicts) == 0 {
		text.WriteString("There is nothing to reconcile: the log here has every entry of the other side.\n")
	}
	if done.Diff != "" {
		text.WriteString("\n" + sanitize.Lines(done.Diff) + "\n")
	}
	for _, k := range done.Kept {
		fmt.Fprintf(&text, "What was in %s before: git cat-file blob %s\n", sanitize.Line(k[0]), k[1])
	}
	for _, path := range done.Conflicts {
		text.WriteString("STILL IN CONFLICT: " + sanitize.Line(path) + resolutionOf(path) + "\n")
	}
	for _, path := range done.Elsewhere {
		text.WriteString("STILL IN CONFLICT: " + sanitize.Line(path) + " (not a workspace file)\n")
	}
	if done.Empty && done.Finish != "" {
		text.WriteString("The files stay as they are here; type: `" + sanitize.Line(done.Finish) + "`\n")
	} else if done.Diff != "" {
		text.WriteString("Nothing is committed. Review the change, check that both sides' work fits together" + nextOf(done) + "\n")
		if done.Replaces {
			text.WriteString("If this is to take the place of what was published: git push --force-with-lease\n")
		}
	}
	return text.String()
}

// nextOf says what to type next: git refuses to commit while files are in conflict.
func nextOf(done *reconcile.Outcome) string {
	var next string
	if len(done.Conflicts)+len(done.Elsewhere) > 0 {
		next = ", and resolve the remaining conflicts"
	}
	if done.Finish == "" {
		return next + "."
	}
	if next != "" {
		return next + "; then type: `" + sanitize.Line(done.Finish) + "`"
	}
	return ", then type: `" + sanitize.Line(done.Finish) + "`"
}

func logText(l reconcile.Log) string {
	path := sanitize.Line(l.Path)
	var parts []string
	for i, side := range l.Sides {
		parts = append(parts, fmt.Sprintf("%d only from %s", l.Brought[i], sanitize.Line(side)))
	}
	text := fmt.Sprintf("%s: %d entries: %s", path, l.Entries, strings.Join(parts, ", "))
	switch {
	case l.Added:
		text += ", and a new one for meta/reconcile-merge"
	case !l.Changed:
		text += "; already resolved"
	default:
		text += "; no new entry is needed"
	}
	return text + "\n"
}

// resolutionOf says what to do about a file that reconcile leaves in conflict. Intent and constraints are a person's.
func resolutionOf(path string) string {
	word := sanitize.Line(wording.TopPath(path))
	return " (a person decides; to keep the one that is checked out: `git restore --source=HEAD --staged --worktree -- " + word + "`; to keep another, edit it and stage it)"
}
