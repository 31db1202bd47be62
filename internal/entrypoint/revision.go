package entrypoint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
)

// commit resolves a name that the caller gave.
func (s *session) commit(ctx context.Context, name string) (string, error) {
	id, err := s.repo.Resolve(ctx, name)
	if err != nil {
		return "", err
	}
	return id, s.unambiguous(ctx, name, id)
}

// unambiguous refuses a short name that git takes for one ref and that another
// ref has as well (gitrevisions(7)): whoever may push a tag could else name it
// origin/main, and have a change compared with what they like.
func (s *session) unambiguous(ctx context.Context, name, id string) error {
	end := strings.IndexAny(name, "^~")
	if end < 0 {
		end = len(name)
	}
	ref := name[:end]
	if ref == "HEAD" || ref == "@" || strings.HasPrefix(ref, "refs/") || strings.ContainsAny(ref, "@:") || strings.HasPrefix(id, ref) {
		return nil
	}
	if ref != name {
		var err error
		if id, err = s.repo.Resolve(ctx, ref); err != nil {
			return err
		}
	}
	for _, folder := range []string{"refs/tags/", "refs/heads/", "refs/remotes/"} {
		other, err := s.repo.Resolve(ctx, folder+ref)
		switch {
		case errors.Is(err, githistory.ErrLacking):
		case err != nil:
			return err
		case other != id:
			return &gate.Failure{
				Message: fmt.Sprintf("%q is ambiguous: git takes another ref of that name than %s", name, githistory.Printable(folder+ref)),
				Remedy:  "write which one is meant in full, for example refs/heads/NAME or refs/remotes/origin/NAME; see: git for-each-ref --format='%(refname)'",
			}
		}
	}
	return nil
}
