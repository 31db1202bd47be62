package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wholefile"
)

func (a *app) mergeDriverCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS SIZE PATH [LABEL]",
		Short: "Git's merge driver: merge two versions of a workspace file as `reconcile` does, never line by line",
		Long: "Git calls this with %O %A %B %L %P %Y for the files that .gitattributes assigns to it (small-hook install\n" +
			"--merge-driver). Where git says which commits it merges or applies, the file is merged as reconcile does. Where\n" +
			"it does not, or reconcile would stop, the file is a conflict if both sides changed it: OURS becomes all of both\n" +
			"sides between conflict markers, and the exit status is 1.",
		Example: "  small-hook merge-driver base.yml ours.yml theirs.yml 7 .small/progress.small.yml",
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
	}
}

// mergeFiles merges the files that git names, and leaves the result where git expects it.
func (a *app) mergeFiles(ctx context.Context, args []string) (reconcile.Merged, error) {
	size, err := strconv.Atoi(args[3])
	if err != nil {
		return reconcile.Merged{}, &failure.Error{Message: fmt.Sprintf("%q is not the length of a conflict marker", args[3]), Remedy: "`small-hook install --merge-driver`"}
	}
	in := reconcile.MergeInput{Marker: min(max(size, 0), 1000), Path: args[4], Label: optional(args[5:])}
	for i, into := range []*[]byte{&in.Base, &in.Ours, &in.Theirs} {
		if *into, err = readVersion(args[i]); err != nil {
			return reconcile.Merged{}, err
		}
	}
	merged := writers.MergeDriver(ctx, a.request(), in)
	return merged, wholefile.Write(args[1], merged.Text)
}

// maxVersion bounds a version of a file to merge, in bytes. No log that is judged is larger by default.
const maxVersion = 1 << 30

func readVersion(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return readBounded(f, f, name, maxVersion)
}
