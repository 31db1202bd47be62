package config

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// MergeUnion is config/merge-union: an attribute has git join the lines of both sides when it merges a file of a workspace.
var MergeUnion = rule.New("config/merge-union", finding.SeverityWarning, finding.StagePolicy, rule.Reading(checkMergeUnion))

// checkMergeUnion reports each line of an attributes file once, with the first workspace file to which it applies.
func checkMergeUnion(ctx context.Context, v *Used, r *rule.Reporter) error {
	dirs := slices.Compact(slices.Sorted(slices.Values(v.Run.Learned.TipWorkspaces)))
	at, err := readAttributes(ctx, v.Run, dirs)
	if err != nil || len(at) == 0 {
		return err
	}
	files := map[policy.MergeSetting][]string{}
	var order []policy.MergeSetting
	for _, dir := range dirs {
		var all []policy.Attributes // from the farthest attributes file to the nearest, which wins
		for above := path.Clean(small.InDir(dir, "")); ; above = path.Dir(above) {
			if a, ok := at[above]; ok {
				all = slices.Insert(all, 0, a)
			}
			if above == "." {
				break
			}
		}
		for _, a := range small.Artifacts {
			said := policy.MergeAttribute(all, a.Path(dir))
			if said.Value != "union" {
				continue
			}
			if files[said] == nil {
				order = append(order, said)
			}
			files[said] = append(files[said], a.Path(dir))
		}
	}
	for _, said := range order {
		what := files[said][0]
		if more := len(files[said]) - 1; more > 0 {
			what += fmt.Sprintf(" and %s", wording.Count(more, "more file"))
		}
		r.Add(finding.Finding{
			Path: said.File, Line: said.Line, Subject: files[said][0],
			Message: fmt.Sprintf("merge=union holds for %s: git joins both sides' lines there and reports no conflict", what),
			Fix:     "remove merge=union for these files, or override it with `small-hook install --merge-driver`",
		})
	}
	return nil
}

// maxAttributes is the size of the largest attributes file that is read, in bytes.
const maxAttributes = 1 << 20

// readAttributes reads the attributes files that apply to workspaces, by directory.
func readAttributes(ctx context.Context, r *run.Run, dirs []string) (map[string]policy.Attributes, error) {
	if _, inGit := r.Source.Tree.(history.History); !inGit || len(dirs) == 0 {
		return nil, nil
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Attributes(dirs))
	if err != nil {
		return nil, err
	}
	at := map[string]policy.Attributes{}
	for _, f := range files {
		if !f.Regular() || f.Unmerged {
			continue // git does not read such a file either
		}
		blob, err := r.Source.Tree.Blob(ctx, f.Object, maxAttributes)
		if err != nil {
			return nil, err
		}
		at[path.Dir(f.Path)] = policy.ParseAttributes(f.Path, blob.Data)
	}
	return at, nil
}
