package entrypoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/small-gate/small-gate/internal/githistory"
)

// merged looks for the platform's merge of the head, and for the target as of
// that merge. What the platform made and is no such merge is left over: of a
// merge train that squashes or fast-forwards, it is a commit all the same.
func (j *job) merged(ctx context.Context, s *session, head string) (base, merge, words string, err error) {
	j.left = nil
	for _, p := range j.plan.Merge {
		if !j.counts(p) {
			continue
		}
		id, err := s.repo.Resolve(ctx, p.Revision)
		if errors.Is(err, githistory.ErrLacking) {
			if err := j.unasked(p, err); err != nil {
				return "", "", "", err
			}
			if len(p.Fetch) > 0 {
				j.notes = append(j.notes, fmt.Sprintf("%s, %s, is not to be had: what it would bring to the target was not judged", p.Words, p.Revision))
			}
			continue
		}
		if err != nil {
			return "", "", "", err
		}
		if id == head {
			continue
		}
		side, err := s.repo.Resolve(ctx, id+"^2")
		lacking := errors.Is(err, githistory.ErrLacking)
		switch {
		case lacking && j.wants(s, head):
			return "", "", "", wishing(head, err)
		case err != nil && !lacking:
			return "", "", "", err
		case lacking || side != head: // it is no merge, or one of something else
			if p.Made {
				j.left = append(j.left, leftover{p.Words, id})
			}
			continue
		}
		base, err := s.repo.Resolve(ctx, id+"^1")
		return base, id, "the first parent of " + p.Words, err
	}
	return "", "", "", nil
}

// leftover is a commit that the platform made of the head and that is no merge
// of it.
type leftover struct{ words, id string }

// landed is the first leftover that descends from the base: it is what would be
// the target's next tip. Of others it is said that nobody looked at them.
func (j *job) landed(ctx context.Context, s *session, base string) (string, error) {
	landed := ""
	for _, l := range j.left {
		after, err := s.repo.IsAncestor(ctx, base, l.id)
		switch {
		case err != nil:
			return "", err
		case after && landed == "":
			landed = l.id
		case !after:
			j.notes = append(j.notes, fmt.Sprintf("%s, %s, is neither a merge of the head nor a descendant of the base: it was not judged", l.words, l.id))
		}
	}
	return landed, nil
}
