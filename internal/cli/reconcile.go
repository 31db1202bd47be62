package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) reconcileCommand() *cobra.Command {
	var opts reconcile.Options
	c := &cobra.Command{
		Use:   "reconcile [THEIRS]",
		Short: "Combine two writers' logs: every entry of both in order of time, and one that records it",
		Long: "In a merge, rebase, cherry-pick or squash that stopped or is not committed yet, or with the branch\n" +
			"THEIRS: rewrite each progress log with every entry of both sides unchanged, in order of time, and a new\n" +
			"entry for meta/reconcile-merge that names both sides. The result is staged and shown, not committed. One\n" +
			"side's plan or handoff is taken only if --plan or --handoff says whose: ours is what is checked out,\n" +
			"theirs what comes to it (in a rebase, the commit that is applied).\n\n" +
			"Exit status: 0 everything is resolved, 1 something under .small/ is still in conflict, 2 nothing was done.",
		Args:    atMost(1, "at most one branch"),
		PreRunE: a.noReport,
		RunE: func(c *cobra.Command, args []string) error {
			opts.Theirs = optional(args)
			done, err := entrypoint.Reconcile(c.Context(), a.request(), opts)
			if err != nil {
				return err
			}
			if len(done.Conflicts) > 0 {
				a.status = 1
			}
			return a.print(reconcileText(done))
		},
	}
	c.Flags().StringVar(&opts.Plan, "plan", "", "take the plan of `SIDE`: ours or theirs")
	c.Flags().StringVar(&opts.Handoff, "handoff", "", "take the handoff of `SIDE`: ours or theirs")
	return c
}

// reconcileText says what was done, shows it, and says what is left to do.
func reconcileText(done *reconcile.Outcome) string {
	var text strings.Builder
	for _, l := range done.Logs {
		text.WriteString(logText(l))
	}
	for _, t := range done.Taken {
		fmt.Fprintf(&text, "%s: taken from %s\n", sanitize.Line(t.Path), sanitize.Line(t.Side))
	}
	if len(done.Logs)+len(done.Taken) == 0 {
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
	if done.Diff != "" {
		text.WriteString("Regenerate the handoff: it describes only one side.\n")
		text.WriteString("Nothing is committed. Review the change, check that both sides' work fits together, " + nextOf(done) + "\n")
	}
	return text.String()
}

// nextOf says what to type next: git refuses to commit while files are in conflict.
func nextOf(done *reconcile.Outcome) string {
	if len(done.Conflicts)+len(done.Elsewhere) > 0 {
		return "and resolve the remaining conflicts; then type: " + done.Finish
	}
	return "then type: " + done.Finish
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

// resolutionOf says what to do about a file that reconcile leaves in conflict.
func resolutionOf(path string) string {
	for _, name := range []string{"plan", "handoff"} {
		if strings.HasSuffix(path, ".small/"+name+".small.yml") {
			return " (type `small-hook reconcile --" + name + " ours`, or theirs)"
		}
	}
	return " (edit it, then `git add` it)"
}
