package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	publish "github.com/small-gate/small-gate/internal/write/sync"
)

func (a *app) syncCommand() *cobra.Command {
	var opts publish.Options
	c := withHelp("sync", &cobra.Command{
		Args: limitArgs(0, 2, "at most a remote and a branch"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.Remote = args[0]
			}
			if len(args) > 1 {
				opts.Branch = args[1]
			}
			out, report, err := edit.Sync(c.Context(), a.newRequest(), a.lockingOptions(), opts)
			if out == nil {
				return err
			}
			// Say what was done, even if something failed later.
			if out.HasFindings {
				err = errors.Join(err, a.writeReports(c.Context(), report, true))
			}
			return errors.Join(err, a.printSynced(out))
		},
	})
	a.addWaitFlag(c)
	c.Flags().BoolVar(&opts.Merge, "merge", false, "merge the remote's branch, never rebase")
	return c
}

// printSynced prints what was done, and the messages of hooks and of the remote.
func (a *app) printSynced(out *publish.Outcome) error {
	said := out.Said
	if out.Refused != "" {
		a.status = 1
		said = "small-hook: " + out.Refused
	}
	if said != "" {
		if _, err := io.WriteString(a.Stderr, sanitize.Lines(said)+"\n"); err != nil {
			return fmt.Errorf("the messages of hooks and of the remote could not be written: %w", err)
		}
	}
	if len(out.Done) == 0 {
		return nil
	}
	return a.print(sanitize.Lines(strings.Join(out.Done, "\n")) + "\n")
}
