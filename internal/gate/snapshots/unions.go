package snapshots

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// maxAttributes is the largest file of attributes that is read, in bytes.
const maxAttributes = 1 << 20

// noteUnions finds out which files of workspaces git would merge by joining both
// sides' lines.
func noteUnions(ctx context.Context, r *run.Run, revision string, dirs []string) error {
	_, inGit := r.Source.Tree.(history.History) // else there are no attributes
	if !inGit || len(dirs) == 0 || r.Source.History != nil && revision != r.Scope.Tip.ID {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, revision, history.Attributes(dirs))
	if err != nil {
		return err
	}
	var all []policy.Attributes
	for _, f := range files {
		if !f.Regular() || f.Unmerged {
			continue // git does not read it either
		}
		blob, err := r.Source.Tree.Blob(ctx, f.Object, maxAttributes)
		if err != nil {
			return err
		}
		all = append(all, policy.Attributes{Path: f.Path, Data: blob.Data})
	}
	// The nearer file counts more.
	slices.SortStableFunc(all, func(a, b policy.Attributes) int {
		return strings.Count(a.Path, "/") - strings.Count(b.Path, "/")
	})
	for _, dir := range dirs {
		for _, a := range small.Artifacts {
			said := policy.MergeAttribute(all, a.Path(dir))
			if said.Value == "union" {
				r.Scope.Unions = append(r.Scope.Unions, subject.UnionMerge{Setting: said, Path: a.Path(dir)})
			}
		}
	}
	return nil
}
