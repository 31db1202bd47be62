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
	c := described("sync", &cobra.Command{
		Args: takes(0, 2, "at most a remote and a branch"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.Remote = args[0]
			}
			if len(args) > 1 {
				opts.Branch = args[1]
			}
			out, report, err := edit.Sync(c.Context(), a.request(), a.locking(), opts)
			if out == nil {
				return err
			}
			// Say what was done, even if something failed afterwards.
			if out.HasFindings {
				err = errors.Join(err, a.finish(c.Context(), report, true))
			}
			return errors.Join(err, a.synced(out))
		},
	})
	a.waits(c)
	c.Flags().BoolVar(&opts.Merge, "merge", false, "merge the remote's branch, never rebase")
	return c
}

// synced describes what was done, with the messages of others.
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
