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

// origin is the name of the remote in a clone that a CI system makes, and the default where a remote is not named.
const origin = "origin"

// inspectOrigin finds out whether the clone has an origin, and whether origin is the target's repository. Only the branches of the target's
// repository count.
func (j *job) inspectOrigin(ctx context.Context, s *session.Session) error {
	address, err := s.Repo.RemoteURL(ctx, origin)
	if err != nil {
		return err
	}
	j.hasOrigin, j.foreignOrigin = address != "", j.plan.ForeignOrigin(address)
	j.originIsTarget = j.foreignOrigin == "" && j.plan.IsRepository(address)
	if j.foreignOrigin != "" {
		j.fact("passed over", "the branches of %s, which is %s and not %s", origin, j.foreignOrigin, j.targetRepository())
	}
	return nil
}

// targetRepository returns the name of the target's repository for messages.
func (j *job) targetRepository() string { return cmp.Or(j.plan.Repository, "the target's repository") }

// usable reports whether a point may be used. A branch may not if origin is not the target's repository; a local branch may not if the clone has an
// origin.
func (j *job) usable(p ci.Point) bool {
	local := strings.HasPrefix(p.Revision, "refs/heads/")
	return !p.Branch || j.foreignOrigin == "" && (!local || !j.hasOrigin)
}

// foreignOriginError returns the failure for a commit that was not found because origin is not the target's repository. err says why points that may be
// used were not found; nil if there are no such points.
func (j *job) foreignOriginError(err error) error {
	out := &failure.Error{
		Message: origin + " is " + wording.Printable(j.foreignOrigin) + " and not " + wording.Printable(j.targetRepository()) + ", whose branches count",
		Remedy:  j.plan.OriginRemedy(),
		Err:     err,
	}
	if err != nil {
		out.Message += "; " + failure.Of(err).Message
	}
	return out
}

// replaceSuspectBase replaces the base if it may be a fork's branch: if Plan.SuspectBase is set, origin is not known to be the target's repository, the
// base already has the head, and the event's own base commit does not have the head. That commit then becomes the base. Otherwise base and label
// are returned unchanged.
func (j *job) replaceSuspectBase(ctx context.Context, s *session.Session, base, label, head string) (string, string, error) {
	otherPoints := slices.DeleteFunc(slices.Clone(j.plan.Base), func(p ci.Point) bool { return p.Branch })
	if !j.plan.SuspectBase || j.originIsTarget || len(otherPoints) == 0 || slices.ContainsFunc(otherPoints, func(p ci.Point) bool { return p.Revision == base }) {
		return base, label, nil
	}
	if has, err := s.Repo.IsAncestor(ctx, head, base); err != nil || !has {
		return base, label, err
	}
	id, commitLabel, err := j.resolveFirst(ctx, s, otherPoints[len(otherPoints)-1:])
	if err != nil {
		return "", "", err
	}
	if has, err := s.Repo.IsAncestor(ctx, head, id); err != nil || has {
		return base, label, err
	}
	j.fact("passed over", "%s (%s, which already has all of the head)", base, label)
	return id, commitLabel, nil
}

// findMerge looks for the CI system's merge of the head into the target; base is the other parent of this merge. All results are empty if there is no such
// merge. findMerge sets nonMerges: in a merge train that squashes or fast-forwards, one of nonMerges may be the target's next tip.
func (j *job) findMerge(ctx context.Context, s *session.Session, head string) (base, merge, baseLabel string, err error) {
	j.nonMerges = nil
	for _, p := range j.plan.Merge {
		if !j.usable(p) {
			continue
		}
		id, err := s.Repo.Resolve(ctx, p.Revision)
		switch {
		case errors.Is(err, history.ErrLacking):
			if err := j.fetchNext(ctx, p.Fetch...); err != nil {
				return "", "", "", err
			}
			if len(p.Fetch) > 0 {
				j.note("%s, %s, is unavailable: the changes that it would bring to the target were not judged", p.Words, p.Revision)
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
			if err := j.fetchNext(ctx, head); err != nil {
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
		case p.Made: // not a merge, or a merge of other commits
			j.nonMerges = append(j.nonMerges, ci.Point{Revision: id, Words: p.Words})
		}
	}
	return "", "", "", nil
}

// findNextTip finds the first commit in nonMerges that descends from the base: this commit would be the target's next tip. It returns "" if there is
// none. Notes name the nonMerges that do not descend from the base.
func (j *job) findNextTip(ctx context.Context, s *session.Session, base string) (string, error) {
	first := ""
	for _, p := range j.nonMerges {
		descends, err := s.Repo.IsAncestor(ctx, base, p.Revision)
		switch {
		case err != nil:
			return "", err
		case descends && first == "":
			first = p.Revision
		case !descends:
			j.note("%s, %s, is neither a merge of the head nor a descendant of the base: it was not judged", p.Words, p.Revision)
		}
	}
	return first, nil
}
