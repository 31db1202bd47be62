package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/install"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

func (a *app) reconcileCommand() *cobra.Command {
	var opts reconcile.Options
	c := withHelp("reconcile", &cobra.Command{
		Args: limitArgs(0, 1, "at most one branch"),
		RunE: func(c *cobra.Command, args []string) error {
			opts.Theirs = firstOrEmpty(args)
			done, err := edit.Reconcile(c.Context(), a.newRequest(), a.lockingOptions(), opts)
			if err != nil {
				return err
			}
			if len(done.Conflicts) > 0 {
				a.status = 1
			}
			text := a.reconcileText(done)
			if len(done.Logs) > 0 && done.Diff != "" {
				if set, err := install.HasMergeDriver(c.Context(), a.flags.req.Dir); err == nil && !set {
					text += "To have git combine logs itself from now on: " + a.commands("small-hook install --merge-driver") + "\n"
				}
			}
			return a.print(text)
		},
	})
	a.addWaitFlag(c)
	c.Flags().StringVar((*string)(&opts.Plan), "plan", "", "where both sides changed the same part of the plan, take it from `SIDE`: ours or theirs")
	return c
}

func (a *app) reconcileText(done *reconcile.Outcome) string {
	var text strings.Builder
	for _, l := range done.Logs {
		text.WriteString(reconciledLogText(l))
	}
	for _, m := range done.Merged {
		text.WriteString(sanitize.Line(m.Path) + ": merged\n")
		for _, note := range m.Notes {
			text.WriteString("  " + sanitize.Line(note) + "\n")
		}
	}
	for _, path := range done.AsInHead {
		text.WriteString(sanitize.Line(path) + ": restored from the last commit\n")
	}
	if len(done.AsInHead) > 0 {
		text.WriteString("A revert undoes code; the log keeps what was recorded. Append an entry that says what was reverted.\n")
	} else if len(done.Logs)+len(done.Merged)+len(done.Conflicts) == 0 {
		text.WriteString("There is nothing to reconcile: the log here has every entry of the other side.\n")
	}
	if done.Diff != "" {
		text.WriteString("\n" + sanitize.Lines(done.Diff) + "\n")
	}
	for _, pair := range done.Copies {
		path, copied := pair[0], pair[1]
		fmt.Fprintf(&text, "A copy of %s as it was before: %s\n", sanitize.Line(path), sanitize.Line(copied))
	}
	for _, path := range done.Conflicts {
		text.WriteString("STILL IN CONFLICT: " + sanitize.Line(path) + a.resolutionText(path) + "\n")
	}
	for _, path := range done.OtherConflicts {
		text.WriteString("STILL IN CONFLICT: " + sanitize.Line(path) + " (not a workspace file)\n")
	}
	switch {
	case done.Empty && done.Finish != "":
		text.WriteString("The files do not change, so there is nothing to commit; type: " + a.commands(sanitize.Line(done.Finish)) + "\n")
	case len(done.AsInHead) > 0:
		text.WriteString("Nothing is committed. Review the change" + a.nextStepText(done) + "\n")
	case done.Diff != "":
		text.WriteString("Nothing is committed. Review the change, check that both sides' work fits together" + a.nextStepText(done) + "\n")
		if done.NeedsForcedPush {
			text.WriteString("If this is to replace the published branch: " + a.commands("git push --force-with-lease") + "\n")
		}
	}
	return text.String()
}

// nextStepText ends the sentence on the next step. Conflicts come first: git refuses to commit while there are any.
func (a *app) nextStepText(done *reconcile.Outcome) string {
	var resolve string
	if len(done.Conflicts)+len(done.OtherConflicts) > 0 {
		resolve = ", and resolve the remaining conflicts"
	}
	if done.Finish == "" {
		return resolve + "." // there is no command to type
	}
	finish := a.commands(sanitize.Line(done.Finish))
	if resolve != "" {
		return resolve + "; then type: " + finish
	}
	return ", then type: " + finish
}

func reconciledLogText(l reconcile.Log) string {
	path := sanitize.Line(l.Path)
	var parts []string
	for i, side := range l.Sides {
		parts = append(parts, fmt.Sprintf("%d only from %s", l.Brought[i], sanitize.Line(side)))
	}
	text := fmt.Sprintf("%s: %s: %s", path, wording.Count(l.Entries, "entry"), strings.Join(parts, ", "))
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

// resolutionText says how to resolve a file that is still in conflict.
func (a *app) resolutionText(path string) string {
	word := sanitize.Line(wording.TopPath(path))
	return " (a person decides; to keep HEAD's version: " + a.commands("git restore --source=HEAD --staged --worktree -- "+word) + "; for another version, edit the file and stage it)"
}
