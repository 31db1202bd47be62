package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/publish"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) syncCommand() *cobra.Command {
	var opts publish.Options
	var wait time.Duration
	c := &cobra.Command{
		Use:   "sync [REMOTE [BRANCH]]",
		Short: "Put your commits on top of the remote branch's, reconcile, judge and push",
		Long: "Fetch; put the commits that are not published on top (a rebase; a merge where one of them is published or a\n" +
			"merge itself, or with --merge); reconcile the workspaces on the way; judge as the pre-push hook does; push.\n" +
			"If somebody else pushes meanwhile, it tries again, ten times at most. Without REMOTE it takes what the branch\n" +
			"follows, or else origin and a branch of the same name, which is made if it is not there.\n\n" +
			"The commits are built in a scratch work tree, and only once they are pushed the branch and the work tree are\n" +
			"brought there: until then nothing changes, whatever goes wrong, and afterwards small-hook sync goes on. What is\n" +
			"not committed stays uncommitted; a file that the remote's branch changes too stops it before it pushes. If code\n" +
			"conflicts, it says which commands of git bring both sides together.\n\n" +
			"Exit status: 0 it is pushed, or there was nothing to do; 1 there are findings, or a hook or the remote\n" +
			"refused; 2 it could not be done, or somebody has to resolve a conflict.",
		Example: "  git commit -q -a -m 'Read the export'\n  small-hook sync",
		Args:    atMost(2, "at most a remote and a branch"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.Remote = args[0]
			}
			if len(args) > 1 {
				opts.Branch = args[1]
			}
			out, report, err := writers.Sync(c.Context(), a.request(), a.locking(wait), opts)
			if out == nil {
				return err
			}
			// What was done is said whatever went wrong afterwards.
			if out.Found {
				err = errors.Join(err, a.finish(c.Context(), report, true))
			}
			return errors.Join(err, a.synced(out))
		},
	}
	waits(c.Flags(), &wait)
	c.Flags().BoolVar(&opts.Merge, "merge", false, "merge the remote's branch, never rebase")
	return c
}

// synced says what was done, and what others have said.
func (a *app) synced(out *publish.Outcome) error {
	said := out.Said
	if out.Refused != "" {
		a.status = 1
		said = "small-hook: " + out.Refused
	}
	if said != "" {
		if _, err := io.WriteString(a.Stderr, sanitize.Lines(said)+"\n"); err != nil {
			return fmt.Errorf("what others have said could not be written: %w", err)
		}
	}
	if len(out.Done) == 0 {
		return nil
	}
	return a.print(sanitize.Lines(strings.Join(out.Done, "\n")) + "\n")
}
