package judge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// origin is the remote that CI systems make.
const origin = "origin"

// inspectOrigin finds out whether there is an origin, and whether its branches count.
func (j *job) inspectOrigin(ctx context.Context, s *session.Session) error {
	address, err := s.Repo.RemoteURL(ctx, origin)
	if err != nil {
		return err
	}
	j.remote, j.fork = address != "", j.plan.ForeignOrigin(address)
	j.own = j.fork == "" && j.plan.OwnOrigin(address)
	if j.fork != "" {
		j.fact("passed over", "the branches of %s, which is %s and not %s", origin, j.fork, j.home())
	}
	return nil
}

// home names the repository whose branches count.
func (j *job) home() string { return cmp.Or(j.plan.Repository, "the target's repository") }

// usable reports whether a point may be used: a branch only if it is of the target's repository. In a clone with a remote, local branches are
// not.
func (j *job) usable(p ci.Point) bool {
	local := strings.HasPrefix(p.Revision, "refs/heads/")
	return !p.Branch || j.fork == "" && (!local || !j.remote)
}

// forkRemoteError is the failure of a base that was not found because origin is another repository; err may be nil.
func (j *job) forkRemoteError(err error) error {
	out := &failure.Error{
		Message: origin + " is " + wording.Printable(j.fork) + " and not " + wording.Printable(j.home()) + ", whose branches count",
		Remedy:  j.plan.OriginRemedy(),
		Err:     err,
	}
	if err != nil {
		out.Message += "; " + failure.Of(err).Message
	}
	return out
}

// resolveBase returns the base, unless three things hold: it is a branch of a remote that may be a fork, it already has the head of an open
// change, and the event's own base does not have that. Then it returns the event's base.
func (j *job) resolveBase(ctx context.Context, s *session.Session, base, words, head string) (string, string, error) {
	named := slices.DeleteFunc(slices.Clone(j.plan.Base), func(p ci.Point) bool { return p.Branch })
	if !j.plan.Open || j.own || len(named) == 0 || slices.ContainsFunc(named, func(p ci.Point) bool { return p.Revision == base }) {
		return base, words, nil
	}
	if has, err := s.Repo.IsAncestor(ctx, head, base); err != nil || !has {
		return base, words, err
	}
	id, namedWords, err := j.first(ctx, s, named[len(named)-1:])
	if err != nil {
		return "", "", err
	}
	if has, err := s.Repo.IsAncestor(ctx, head, id); err != nil || has {
		return base, words, err
	}
	j.fact("passed over", "%s (%s, which already has all of the head)", base, words)
	return id, namedWords, nil
}

// mergeOf looks for the system's merge of the head, and for the target as of that merge. Commits that the system made and that are no such
// merge are kept: in a merge train that squashes or fast-forwards, one of them is the target's next tip.
func (j *job) mergeOf(ctx context.Context, s *session.Session, head string) (base, merge, words string, err error) {
	j.made = nil
	for _, p := range j.plan.Merge {
		if !j.usable(p) {
			continue
		}
		id, err := s.Repo.Resolve(ctx, p.Revision)
		switch {
		case errors.Is(err, history.ErrLacking):
			if err := j.fetch(ctx, p.Fetch...); err != nil {
				return "", "", "", err
			}
			if len(p.Fetch) > 0 {
				j.note("%s, %s, is unavailable: what it would bring to the target was not judged", p.Words, p.Revision)
			}
			continue
		case err != nil:
			return "", "", "", err
		case id == head:
			continue
		}
		parents := [2]string{}
		for i, suffix := range []string{"^1", "^2"} {
			if parents[i], err = s.Repo.Resolve(ctx, id+suffix); err != nil {
				break
			}
		}
		lacking := errors.Is(err, history.ErrLacking)
		if lacking && j.shallow {
			if err := j.fetch(ctx, head); err != nil {
				return "", "", "", err
			}
		}
		switch {
		case err != nil && !lacking:
			return "", "", "", err
		case err == nil && parents[1] == head:
			return parents[0], id, "the first parent of " + p.Words, nil
		case err == nil && parents[0] == head:
			return parents[1], id, "the second parent of " + p.Words, nil
		case p.Made: // no merge, or a merge of something else
			j.made = append(j.made, ci.Point{Revision: id, Words: p.Words})
		}
	}
	return "", "", "", nil
}

// madeAfter is the first commit that the system made and that descends from the base: it would be the target's next tip. A note names the
// others as not judged.
func (j *job) madeAfter(ctx context.Context, s *session.Session, base string) (string, error) {
	first := ""
	for _, p := range j.made {
		after, err := s.Repo.IsAncestor(ctx, base, p.Revision)
		switch {
		case err != nil:
			return "", err
		case after && first == "":
			first = p.Revision
		case !after:
			j.note("%s, %s, is neither a merge of the head nor a descendant of the base: it was not judged", p.Words, p.Revision)
		}
	}
	return first, nil
}
