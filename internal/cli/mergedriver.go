package cli

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wholefile"
)

func (a *app) mergeDriverCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS SIZE PATH",
		Short: "Git's merge driver: never merge two versions of a workspace file line by line",
		Long: "Git calls this with %O %A %B %L %P for the files that .gitattributes assigns to it (small-hook install\n" +
			"--merge-driver). If one side left the file alone, the other side is taken; of two logs, the one that\n" +
			"continues the other is. If both changed the file, that is a conflict: OURS becomes all of both sides\n" +
			"between conflict markers, and the exit status is 1.",
		Args: exactly(5, "what git passes: %O %A %B %L %P"),
		RunE: func(_ *cobra.Command, args []string) error {
			merged, err := a.mergeFiles(args)
			if err != nil {
				return err
			}
			if merged.Conflict {
				a.status = 1
				_, err = fmt.Fprintf(a.Stderr, "small-hook: %s\n", sanitize.Line(merged.Message))
			}
			return err
		},
	}
}

// mergeFiles merges the files that git names, and leaves the result where git expects it.
func (a *app) mergeFiles(args []string) (reconcile.Merged, error) {
	size, err := strconv.Atoi(args[3])
	if err != nil {
		return reconcile.Merged{}, &failure.Error{Message: fmt.Sprintf("%q is not the length of a conflict marker", args[3]), Remedy: "small-hook install --merge-driver"}
	}
	in := reconcile.MergeInput{Marker: min(max(size, 0), 1000), Path: args[4]}
	for i, into := range []*[]byte{&in.Base, &in.Ours, &in.Theirs} {
		if *into, err = readVersion(args[i]); err != nil {
			return reconcile.Merged{}, err
		}
	}
	merged := in.Merge()
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
