package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/wholefile"
)

func (a *app) mergeDriverCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS SIZE PATH",
		Short: "Git's merge driver: never merge two versions of a workspace's file line by line",
		Long: "Git calls this for the files that .gitattributes gives to it (small-hook install --merge-driver), with\n" +
			"%O %A %B %L %P. Where only one side changed the file, or one side's log continues the other's, that side is\n" +
			"taken. Where both changed it, that is a conflict: OURS is rewritten with all of both sides between conflict\n" +
			"markers, and the exit status is 1.",
		Args: exactly(5, "what git hands over: %O %A %B %L %P"),
		RunE: func(_ *cobra.Command, args []string) error {
			merged, err := a.mergeFiles(args)
			if err != nil {
				return err
			}
			if merged.Conflict {
				a.status = 1
				_, err = fmt.Fprintf(a.stderr, "small-hook: %s\n", report.Sanitize(merged.Message))
			}
			return err
		},
	}
}

// mergeFiles merges the files that git names, and leaves the result where git
// looks for it.
func (a *app) mergeFiles(args []string) (reconcile.Merged, error) {
	size, err := strconv.Atoi(args[3])
	if err != nil {
		return reconcile.Merged{}, &gate.Failure{Message: fmt.Sprintf("%q is not the length of a conflict marker", args[3]), Remedy: "small-hook install --merge-driver sets the driver up"}
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

// maxVersion bounds a version of a file that is merged, in bytes. No log that is
// judged is larger, unless somebody asks for it.
const maxVersion = 1 << 30

func readVersion(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxVersion+1))
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil && len(data) > maxVersion {
		err = fmt.Errorf("%s has more than %d bytes", name, maxVersion)
	}
	return data, err
}
