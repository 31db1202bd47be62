package embedded

import (
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/githistory"
)

// readBoundary reads which commits have parents that the clone hides. shallow
// says whether there is such a list at all.
func readBoundary(s site, env gitcmd.Environ) (cut map[plumbing.Hash]bool, shallow bool, err error) {
	name, set := env.Lookup("GIT_SHALLOW_FILE")
	switch {
	case set && name == "":
		return nil, false, nil // how a server says that nothing is hidden
	case set:
		name = githistory.Within(s.base, name)
	default:
		name = filepath.Join(s.CommonDir, "shallow")
	}
	lines, shallow, err := githistory.ReadShallow(name)
	cut = map[plumbing.Hash]bool{}
	for _, line := range lines {
		id, err := parseID(line)
		if err != nil {
			return nil, false, err
		}
		cut[id] = true
	}
	return cut, shallow, cannot("cannot read where the shallow clone ends", err)
}

// checkBoundary fails if the commits of a range in a shallow clone may not be
// the whole range. limited says that the range excludes something.
func (r *Repo) checkBoundary(commits []*commit, limited bool) error {
	if !r.Shallow {
		return nil
	}
	for _, c := range commits {
		if len(c.parents) > 0 {
			continue
		}
		// A range grows from what it excludes. Where it has a beginning of its
		// own, the link to the excluded side may be what is hidden.
		if limited || c.hidden {
			return githistory.Hidden(c.id.String())
		}
	}
	return nil
}
