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
	return withHelp("merge-driver", &cobra.Command{
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 5 && len(args) != 6 {
				return usageError(c, "%s takes the arguments that git passes: %%O %%A %%B %%L %%P, and %%Y if git knows it", c.Name())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			merged, err := a.mergeFiles(c.Context(), args)
			if err != nil {
				return err
			}
			var text strings.Builder
			for _, note := range merged.Notes {
				fmt.Fprintf(&text, "small-hook: %s: %s\n", sanitize.Line(args[4]), sanitize.Line(note))
			}
			if merged.Conflict {
				a.status = 1
				fmt.Fprintf(&text, "small-hook: %s\n", sanitize.Line(merged.Message))
			}
			_, err = io.WriteString(a.Stderr, text.String())
			return err
		},
	})
}

// mergeFiles merges what git's arguments %O %A %B %L %P %Y name, and writes the result to %A, where git expects it.
func (a *app) mergeFiles(ctx context.Context, args []string) (reconcile.Merged, error) {
	size, err := strconv.Atoi(args[3])
	if err != nil {
		return reconcile.Merged{}, &failure.Error{Message: fmt.Sprintf("%q is not the length of a conflict marker", args[3]), Remedy: "`small-hook install --merge-driver`"}
	}
	input := reconcile.MergeInput{Marker: min(max(size, 0), 1000), Path: args[4], Label: firstOrEmpty(args[5:]), Files: [3]string(args)}
	for i, content := range []*[]byte{&input.Base, &input.Ours, &input.Theirs} {
		if *content, err = readFile(ctx, args[i], maxVersionSize); err != nil {
			return reconcile.Merged{}, err
		}
	}
	merged := edit.MergeDriver(ctx, a.newRequest(), input)
	return merged, wholefile.Write(args[1], merged.Text)
}

// maxVersionSize is the greatest size of a file to merge or to show, in bytes. By default no log that large is judged.
const maxVersionSize = 1 << 30
