package githistory

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// maxCommit is how many bytes are read of a commit object.
const maxCommit = 1 << 20

// checkBoundary fails if the commits of a range, which git has listed in a shallow clone, may be incomplete. limited is true if the range
// excludes something.
func (r *Repo) checkBoundary(ctx context.Context, commits []history.Commit, limited bool) error {
	cut, err := r.readBoundary()
	if err != nil {
		return err
	}
	for _, c := range commits {
		if len(c.Parents) > 0 {
			continue
		}
		if limited {
			// Nothing connects this root to the excluded commits; what connects them may be hidden.
			return Hidden(c.ID)
		}
		if !cut[c.ID] {
			continue
		}
		// git also marks a real root commit if the depth of the clone ends exactly there.
		hidden, err := r.hasParents(ctx, c.ID)
		if err != nil {
			return err
		}
		if hidden {
			return Hidden(c.ID)
		}
	}
	return nil
}

// readBoundary returns the commits whose parents the clone hides.
func (r *Repo) readBoundary() (map[string]bool, error) {
	name := gitcmd.Environ(r.git.Environ).Get("GIT_SHALLOW_FILE")
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
		return nil, r.failure("cannot read where the shallow clone ends", err)
	}
	cut := map[string]bool{}
	for id := range strings.FieldsSeq(string(data)) {
		if err := r.format.Check(id); err != nil {
			return nil, err
		}
		cut[id] = true
	}
	return cut, nil
}

// hasParents reports whether a commit object names parents. It still names the parents that a shallow clone hides.
func (r *Repo) hasParents(ctx context.Context, id string) (bool, error) {
	commit, err := r.readObject(ctx, id, "commit", maxCommit)
	if err != nil {
		return false, err
	}
	header, _, _ := bytes.Cut(commit.Data, []byte("\n\n"))
	return commit.Data == nil || bytes.Contains(header, []byte("\nparent ")), nil
}
