package workgit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// MergeHeads returns the commits being merged, in the order of the merge; none if no merge is under way. For a merged tag it returns the tag's
// commit.
func MergeHeads(ctx context.Context, r interface {
	Where() githistory.Place
	Resolve(ctx context.Context, name string) (string, error)
}) ([]string, error) {
	// git keeps this file in the work tree's own git directory, whatever the ref storage.
	data, err := os.ReadFile(filepath.Join(r.Where().GitDir, "MERGE_HEAD"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Error{Message: "cannot read what is being merged: " + wording.Printable(err.Error()), Err: err}
	}
	damaged := &failure.Error{Message: "MERGE_HEAD is damaged", Remedy: wording.Commands(wording.AbortMerge) + ", then merge again"}
	var commits []string
	for line := range strings.Lines(string(data)) {
		id := strings.TrimRight(line, "\r\n")
		if !history.IsObjectID(id) {
			return nil, damaged
		}
		commit, err := r.Resolve(ctx, id)
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit)
	}
	if len(commits) == 0 {
		return nil, damaged
	}
	return commits, nil
}

// GitHeads returns the commits that git merge names in GITHEAD_<id> variables for
// its hooks, sorted. MERGE_HEAD does not exist yet when pre-merge-commit runs.
func GitHeads(environ []string) []string {
	var heads []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if id, ok := strings.CutPrefix(name, "GITHEAD_"); ok && history.IsObjectID(id) {
			heads = append(heads, id)
		}
	}
	slices.Sort(heads)
	return slices.Compact(heads)
}
