package judge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// ciTarget is what a plan asks to judge, found in the clone.
type ciTarget struct {
	kind ci.Kind
	// base is what a change is compared with, and whose configuration counts for a change or a whole history. words says what has
	// the head if nothing is new: a branch or, for a push, the tip before it.
	base, words string
	// merge is the commit that the system made of a change's head; empty for none.
	merge string
	// update is a push, and branch the default branch if that is another one.
	update history.Update
	branch githistory.Branch
}

// prepare finds what the plan asks to judge, and fetches what the clone lacks for it.
func (j *job) prepare(ctx context.Context) (t ciTarget, err error) {
	for again := true; again; again = errors.Is(err, errReopen) && ctx.Err() == nil {
		_, err = j.req.InRepository(ctx, string(j.plan.Kind), func(s *session.Session) (err error) {
			j.facts, j.notes, j.shallow = nil, nil, s.Repo.Where().Shallow
			if t, err = j.find(ctx, s); err == nil && j.shallow {
				err = requireHistory(ctx, s, t, j.head)
			}
			if j.shallow && j.head != "" && errors.Is(err, history.ErrLacking) {
				err = cmp.Or(j.fetch(ctx, j.head), err)
			}
			return err
		})
	}
	return t, err
}

// find finds what the plan asks to judge in what the clone has.
func (j *job) find(ctx context.Context, s *session.Session) (ciTarget, error) {
	if j.plan.Kind == ci.Nothing {
		return ciTarget{kind: ci.Nothing}, nil
	}
	if err := j.inspectOrigin(ctx, s); err != nil {
		return ciTarget{}, err
	}
	if j.namesNoCommit(ctx, s) {
		j.fact("nothing to judge", "%s names no commit", j.plan.Ref)
		return ciTarget{kind: ci.Nothing}, nil
	}
	head, words, err := j.first(ctx, s, j.plan.Head)
	if err != nil {
		return ciTarget{}, j.missingHead(err)
	}
	j.head = head
	j.fact("head", "%s (%s)", head, words)
	switch j.plan.Kind {
	case ci.Change:
		return j.findChange(ctx, s)
	case ci.Push:
		return j.findPush(ctx, s)
	}
	branch, err := j.defaultBranch(ctx, s)
	if err != nil || branch.ID == "" { // it is judged itself, or there is none
		return ciTarget{kind: ci.History, base: head, words: words}, err
	}
	return ciTarget{kind: ci.History, base: branch.ID, words: branch.Ref}, nil
}

// requireHistory fails if a shallow clone lacks history that the judgement will walk through.
func requireHistory(ctx context.Context, s *session.Session, t ciTarget, head string) error {
	tips, known := []string{head}, []string{t.base}
	switch {
	case t.kind == ci.Nothing:
		return nil
	case t.kind == ci.History, t.kind == ci.Push && t.update.PolicyFromOldTip:
		known = nil // older commits are judged again
	case t.kind == ci.Push:
		known = t.update.Known
	case t.merge != "":
		tips = append(tips, t.merge)
	}
	commits, err := s.Repo.Commits(ctx, tips, known)
	if err != nil {
		return err
	}
	related := [][]string{append(tips, known...)} // of each list, the merge bases with the first are needed
	for _, c := range commits {
		related = append(related, c.Parents)
	}
	for _, ids := range related {
		for _, id := range ids[min(1, len(ids)):] {
			if _, err := s.Repo.MergeBases(ctx, ids[0], id); err != nil {
				return err
			}
		}
	}
	return nil
}

// namesNoCommit reports whether a pushed tag leads to something other than a commit: then there is nothing to judge.
func (j *job) namesNoCommit(ctx context.Context, s *session.Session) bool {
	if j.plan.Kind != ci.Push || !strings.HasPrefix(j.plan.Ref, "refs/tags/") || len(j.plan.Head) == 0 || !history.IsObjectID(j.plan.Head[0].Revision) {
		return false
	}
	commit, here, err := s.Repo.Peel(ctx, j.plan.Head[0].Revision)
	return err == nil && here && commit == ""
}

func (j *job) findChange(ctx context.Context, s *session.Session) (t ciTarget, err error) {
	t.kind = ci.Change
	if t.base, t.merge, t.words, err = j.mergeOf(ctx, s, j.head); err != nil {
		return t, err
	}
	if t.base != "" {
		for _, p := range j.made {
			j.note("%s, %s, is no merge of the head: it was not judged", p.Words, p.Revision)
		}
	}
	if t.base == "" {
		if t.base, t.words, err = j.first(ctx, s, j.plan.Base); err != nil {
			return t, err
		}
		if t.base, t.words, err = j.resolveBase(ctx, s, t.base, t.words, j.head); err != nil {
			return t, err
		}
		if t.merge, err = j.madeAfter(ctx, s, t.base); err != nil {
			return t, err
		}
	}
	j.fact("base", "%s (%s)", t.base, t.words)
	reported := []string{t.base}
	for _, p := range j.plan.Base {
		if len(p.Fetch) > 0 && p.Fetch[0] == p.Revision && !slices.Contains(reported, p.Revision) {
			reported = append(reported, p.Revision)
			j.fact("passed over", "%s (%s)", p.Revision, p.Words)
		}
	}
	if t.merge != "" {
		j.fact("merge result", "%s", t.merge)
	}
	return t, nil
}

func (j *job) findPush(ctx context.Context, s *session.Session) (ciTarget, error) {
	branch, err := j.defaultBranch(ctx, s)
	if err != nil {
		return ciTarget{}, err
	}
	if j.plan.NoBefore && branch.ID != "" {
		has, err := s.Repo.IsAncestor(ctx, j.head, branch.ID)
		if err != nil {
			return ciTarget{}, err
		}
		if has {
			// It can be the default branch itself, compared with which nothing is new.
			j.fact("base", "none: the head is on %s already, so its whole history is judged", branch.Ref)
			return ciTarget{kind: ci.History, base: branch.ID, words: branch.Ref}, nil
		}
	}
	onDefault := j.plan.OnDefault || branch.ID == ""
	t := ciTarget{kind: ci.Push, branch: branch, words: "the tip before the push"}
	t.update = history.Update{Ref: j.plan.Ref, New: j.head, Name: branchName(j.plan.Ref, origin), PolicyFromOldTip: onDefault}
	if t.update.Old, err = j.before(ctx, s, onDefault); err != nil {
		return t, err
	}
	if onDefault {
		if t.update.Old == "" {
			j.fact("base", "none: the ref is new, and its whole history is judged")
		}
		return t, nil
	}
	// The commits of earlier pushes are judged again until the default branch has them.
	t.update.Known, t.update.RejudgeOld, t.words = []string{branch.ID}, true, branch.Ref
	switch {
	case t.update.Old != "":
		j.fact("new since", "%s (%s)", branch.ID, branch.Ref)
	case len(j.plan.Base) > 0:
		j.fact("base", "%s (%s; the tip before the push is not here)", branch.ID, branch.Ref)
	case j.plan.NoBefore:
		j.fact("base", "%s (%s)", branch.ID, branch.Ref)
	default:
		j.fact("base", "%s (%s; the ref is new)", branch.ID, branch.Ref)
	}
	if j.plan.Compare {
		t.update.Target = history.Tip{ID: branch.ID, Name: history.ShortRef(branch.Ref)}
		j.fact("compared with", "%s (%s), as a warning", branch.ID, branch.Ref)
	}
	return t, nil
}

// before is the ref's tip before the push; empty for a new ref. If the server says that it no longer has the tip, a note says so and the
// default branch bounds what is new. On the default branch itself that is an error.
func (j *job) before(ctx context.Context, s *session.Session, onDefault bool) (string, error) {
	if len(j.plan.Base) == 0 {
		return "", nil
	}
	old, words, err := j.first(ctx, s, j.plan.Base)
	switch {
	case err == nil:
		j.fact("base", "%s (%s)", old, words)
		return old, nil
	case !errors.Is(err, history.ErrLacking), j.shallow:
		return "", err
	case j.withoutGit():
		return "", &failure.Error{Message: failure.Of(err).Message, Remedy: withGit, Err: err}
	case !errors.Is(j.asked[j.plan.Base[0].Revision], githistory.ErrGone):
		return "", &failure.Error{Message: failure.Of(err).Message, Remedy: withCredentials, Err: err}
	case onDefault:
		return "", err
	}
	j.note("the tip before the push, %s, is gone: what came since the default branch is judged, "+
		"but not whether the push drops entries that only that tip had", j.plan.Base[0].Revision)
	return "", nil
}

// defaultBranch looks up the default branch. It is the zero Branch if that branch itself is judged, and in a clone without a remote or a
// default branch.
func (j *job) defaultBranch(ctx context.Context, s *session.Session) (githistory.Branch, error) {
	if j.plan.OnDefault {
		return githistory.Branch{}, nil
	}
	if len(j.plan.Default) > 0 {
		id, _, err := j.first(ctx, s, j.plan.Default)
		if err != nil {
			return githistory.Branch{}, err
		}
		return githistory.Branch{Ref: j.plan.Default[0].Revision, ID: id}, nil
	}
	if j.fork != "" {
		return githistory.Branch{}, j.forkRemoteError(nil)
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, origin)
	if j.remote && strings.HasPrefix(branch.Ref, "refs/heads/") {
		branch = githistory.Branch{} // a local branch of that name
	}
	if err == nil && !j.plan.NoBefore && j.plan.Ref != "" && branchName(branch.Ref, origin) == branchName(j.plan.Ref, origin) {
		return githistory.Branch{}, nil
	}
	if err == nil && branch.ID == "" && j.remote && j.plan.Kind != ci.Change {
		return branch, &failure.Error{
			Message: "the default branch is unknown: the event does not name it, and this clone has neither refs/remotes/origin/HEAD nor a branch of a usual name",
			Remedy:  `git fetch origin "+refs/heads/*:refs/remotes/origin/*" && git remote set-head origin --auto`,
		}
	}
	return branch, err
}
