package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

func (a *app) mergeDriverCommand() *cobra.Command {
	return described("merge-driver", &cobra.Command{
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 5 && len(args) != 6 {
				return usage(c, "%s takes what git passes: %%O %%A %%B %%L %%P %%Y", c.Name())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			merged, err := a.mergeFiles(c.Context(), args)
			if err != nil {
				return err
			}
			var said strings.Builder
			for _, note := range merged.Notes {
				fmt.Fprintf(&said, "small-hook: %s: %s\n", sanitize.Line(args[4]), sanitize.Line(note))
			}
			if merged.Conflict {
				a.status = 1
				fmt.Fprintf(&said, "small-hook: %s\n", sanitize.Line(merged.Message))
			}
			_, err = io.WriteString(a.Stderr, said.String())
			return err
		},
	})
}

// mergeFiles merges the files that git names, and writes the result where git expects it.
func (a *app) mergeFiles(ctx context.Context, args []string) (reconcile.Merged, error) {
	size, err := strconv.Atoi(args[3])
	if err != nil {
		return reconcile.Merged{}, &failure.Error{Message: fmt.Sprintf("%q is not the length of a conflict marker", args[3]), Remedy: "`small-hook install --merge-driver`"}
	}
	in := reconcile.MergeInput{Marker: min(max(size, 0), 1000), Path: args[4], Label: optional(args[5:])}
	for i, into := range []*[]byte{&in.Base, &in.Ours, &in.Theirs} {
		if *into, err = readFile(ctx, args[i], maxVersion); err != nil {
			return reconcile.Merged{}, err
		}
	}
	merged := edit.MergeDriver(ctx, a.request(), in)
	return merged, wholefile.Write(args[1], merged.Text)
}

// maxVersion bounds each version of a file to merge, in bytes. By default no log that large is judged.
const maxVersion = 1 << 30
