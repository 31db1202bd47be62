package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// ResolveCommit returns the id of the commit that a revision names. It fails if there is none, or if the name is ambiguous: see CheckUnambiguous.
func (s *Session) ResolveCommit(ctx context.Context, name string) (string, error) {
	id, err := s.Repo.Resolve(ctx, name)
	if err != nil {
		return "", err
	}
	return id, s.CheckUnambiguous(ctx, name, id)
}

// CheckUnambiguous returns an error if several refs (tags, branches, remote-tracking branches, remotes' HEADs) have the short name name, and are at different
// commits. git takes one of these refs (gitrevisions(7)): somebody who may push tags could name a tag origin/main, and changes would be compared with the
// tag. id is the commit that git takes for name.
func (s *Session) CheckUnambiguous(ctx context.Context, name, id string) error {
	end := strings.IndexAny(name, "^~") // main~2 is ambiguous if main is
	if end < 0 {
		end = len(name)
	}
	ref := name[:end]
	if ref == "HEAD" || ref == "@" || strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "@{") || strings.Contains(ref, ":") || strings.HasPrefix(id, ref) {
		return nil
	}
	if ref != name {
		var err error
		if id, err = s.Repo.Resolve(ctx, ref); err != nil {
			return err
		}
	}
	for _, full := range []string{"refs/tags/" + ref, "refs/heads/" + ref, "refs/remotes/" + ref, "refs/remotes/" + ref + "/HEAD"} {
		other, err := s.Repo.Resolve(ctx, full)
		switch {
		case errors.Is(err, history.ErrLacking):
		case err != nil:
			return err
		case other != id:
			return &failure.Error{
				Message: fmt.Sprintf("%q is ambiguous: %s has this name, but git takes another ref of this name", ref, wording.Printable(full)),
				Remedy:  "write the ref's full name, for example refs/heads/NAME or refs/remotes/origin/NAME; `git for-each-ref --format='%(refname)'` lists all full names",
			}
		}
	}
	return nil
}
