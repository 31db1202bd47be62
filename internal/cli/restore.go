package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
)

func (a *app) restoreCommand() *cobra.Command {
	var wait time.Duration
	var source string
	var discard, leases bool
	c := &cobra.Command{
		Use:   "restore [PATH]",
		Short: "Put back what the log has lost since the last commit, and keep what is new",
		Long: "Put back the entries of HEAD (in a merge, of the other side too) that the work tree's log has changed, lost or\n" +
			"moved, and those that small-hook append or a guarded command has recorded since. New entries stay, after them, with\n" +
			"a later time where they need one, and with credentials masked. Tasks that the plan has lost with their entries come\n" +
			"back, and so do files of the workspace that are gone. The log as it was is kept under the git directory. The result is\n" +
			"staged, not committed. PATH is the log or its workspace; without it, the workspace is the one here or above, or else\n" +
			"the first one in the work tree whose log has lost something.\n\n" +
			"With --leases, put back the leases that the plan has lost since HEAD, and nothing else: the protocol's own program\n" +
			"drops them all when it writes the plan. Leases of the agent in SMALL_AGENT_ID are left alone.\n\n" +
			"Exit status: 0 it is restored, or there was nothing to restore; 2 it was not restored.",
		Example: "  small-hook restore\n  small-hook restore --discard-new packages/importer\n  small-hook restore --leases --source HEAD~1",
		Args:    atMost(1, "at most one path"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case leases && discard:
				return usage(c, "--leases and --discard-new do not go together")
			case leases:
				return a.restoreLeases(c, optional(args), source, wait)
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
	c.Flags().BoolVar(&discard, "discard-new", false, "drop the entries that are new since, too")
	c.Flags().BoolVar(&leases, "leases", false, "put back the leases of others that the plan has lost")
	waits(c.Flags(), &wait)
	return c
}

// restoreLeases puts back the leases of others.
func (a *app) restoreLeases(c *cobra.Command, at, source string, wait time.Duration) error {
	done, err := writers.RestoreLeases(c.Context(), a.request(), a.locking(wait), at, source)
	if err != nil {
		return err
	}
	if len(done.Tasks) == 0 {
		return a.print(sanitize.Line(done.Plan) + " lacks no lease of others; nothing was written\n")
	}
	var text strings.Builder
	for _, task := range done.Tasks {
		fmt.Fprintf(&text, "%s: task %q has its lease again\n", done.Plan, task)
	}
	fmt.Fprintf(&text, "%s: staged\nnext: git commit -m \"Give the leases back\"\n", done.Plan)
	return a.print(sanitize.Lines(text.String()))
}
