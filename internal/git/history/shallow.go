package githistory

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// maxCommit is the size in bytes of the largest commit object that is read for its parents or its tree.
const maxCommit = 1 << 20

// checkRangeComplete fails if the list of a range's commits, which git has made in a shallow clone, may be incomplete. hasExclusions says whether
// the range excludes commits.
func (r *Repo) checkRangeComplete(ctx context.Context, commits []history.Commit, hasExclusions bool) error {
	boundary, err := r.readBoundary()
	if err != nil {
		return err
	}
	for _, c := range commits {
		if len(c.Parents) > 0 {
			continue
		}
		if hasExclusions {
			// The commits that connect this one to the excluded commits may be hidden.
			return historyHidden(c.ID)
		}
		if !boundary[c.ID] {
			continue
		}
		// git also lists a real root commit in the boundary if the clone's depth ends exactly there.
		hidden, err := r.hasParents(ctx, c.ID)
		if err != nil {
			return err
		}
		if hidden {
			return historyHidden(c.ID)
		}
	}
	return nil
}

// readBoundary returns the commits that the shallow file lists: git shows them without parents.
func (r *Repo) readBoundary() (map[string]bool, error) {
	name := program.Environ(r.git.Environ).Get("GIT_SHALLOW_FILE")
	if name == "" {
		name = filepath.Join(r.CommonDir, "shallow")
	} else if !filepath.IsAbs(name) {
		base := r.Top
		if base == "" {
			base = r.GitDir
		}
		name = filepath.Join(base, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, r.toFailure("cannot read the boundary of the shallow clone", err)
	}
	boundary := map[string]bool{}
	for id := range strings.FieldsSeq(string(data)) {
		if err := r.format.Check(id); err != nil {
			return nil, err
		}
		boundary[id] = true
	}
	return boundary, nil
}

// hasParents reports whether a commit object names parents, which it does even if a shallow clone hides them. A commit too large to read counts
// as one with parents.
func (r *Repo) hasParents(ctx context.Context, id string) (bool, error) {
	commit, err := r.readObject(ctx, id, "commit", maxCommit)
	if err != nil {
		return false, err
	}
	header, _, _ := bytes.Cut(commit.Data, []byte("\n\n"))
	return commit.Data == nil || bytes.Contains(header, []byte("\nparent ")), nil
}
