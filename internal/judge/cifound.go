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

// foundPlan holds the commits that a plan names, as they were found in the clone.
type foundPlan struct {
	kind ci.Kind
	// base is the commit with which a change is compared. Its configuration is the policy for a change or a whole history. baseLabel names base for
	// people. For a push, base is empty, and baseLabel names the default branch or the tip before the push.
	base, baseLabel string
	// merge is the commit that the CI system made of the head and the target; empty if there is none.
	merge string
	// update is the push. defaultBranch is the zero Branch if the push moves the default branch, or if there is no default branch.
	update        history.Update
	defaultBranch githistory.Branch
}

// findCommits finds the commits that the plan names, and fetches those that the clone lacks. After each try to fetch, it opens the repository again.
func (j *job) findCommits(ctx context.Context) (found foundPlan, err error) {
	for again := true; again; again = errors.Is(err, errReopen) && ctx.Err() == nil {
		_, err = j.req.InRepository(ctx, string(j.plan.Kind), func(s *session.Session) (err error) {
			j.facts, j.notes, j.shallow = nil, nil, s.Repo.Where().Shallow
			if found, err = j.findInClone(ctx, s); err == nil && j.shallow {
				err = requireHistory(ctx, s, found, j.head)
			}
			if j.shallow && j.head != "" && errors.Is(err, history.ErrLacking) {
				err = cmp.Or(j.fetchNext(ctx, j.head), err)
			}
			return err
		})
	}
	return found, err
}

// findInClone finds the commits that the plan names. The error is errReopen after a try to fetch.
func (j *job) findInClone(ctx context.Context, s *session.Session) (foundPlan, error) {
	if j.plan.Kind == ci.Nothing {
		return foundPlan{kind: ci.Nothing}, nil
	}
	if err := j.inspectOrigin(ctx, s); err != nil {
		return foundPlan{}, err
	}
	if j.tagNamesNoCommit(ctx, s) {
		j.fact("nothing to judge", "%s names no commit", j.plan.Ref)
		return foundPlan{kind: ci.Nothing}, nil
	}
	head, label, err := j.resolveFirst(ctx, s, j.plan.Head)
	if err != nil {
		return foundPlan{}, j.missingHeadError(err)
	}
	j.head = head
	j.fact("head", "%s (%s)", head, label)
	switch j.plan.Kind {
	case ci.Change:
		return j.findChange(ctx, s)
	case ci.Push:
		return j.findPush(ctx, s)
	}
	branch, err := j.findDefaultBranch(ctx, s)
	if err != nil || branch.ID == "" { // the default branch itself is judged, or there is no default branch
		return foundPlan{kind: ci.History, base: head, baseLabel: label}, err
	}
	return foundPlan{kind: ci.History, base: branch.ID, baseLabel: branch.Ref}, nil
}

// requireHistory fails if a shallow clone lacks commits that the judgement will read.
func requireHistory(ctx context.Context, s *session.Session, found foundPlan, head string) error {
	tips, known := []string{head}, []string{found.base}
	switch {
	case found.kind == ci.Nothing:
		return nil
	case found.kind == ci.History, found.kind == ci.Push && found.update.PolicyFromOldTip:
		known = nil // older commits are judged again
	case found.kind == ci.Push:
		known = found.update.Known
	case found.merge != "":
		tips = append(tips, found.merge)
	}
	commits, err := s.Repo.Commits(ctx, tips, known)
	if err != nil {
		return err
	}
	lists := [][]string{append(tips, known...)} // the judgement needs the merge bases of each list's first commit with each later one
	for _, c := range commits {
		lists = append(lists, c.Parents)
	}
	for _, ids := range lists {
		for _, id := range ids[min(1, len(ids)):] {
			if _, err := s.Repo.MergeBases(ctx, ids[0], id); err != nil {
				return err
			}
		}
	}
	return nil
}

// tagNamesNoCommit reports whether a pushed tag points to something other than a commit, such as a tree.
func (j *job) tagNamesNoCommit(ctx context.Context, s *session.Session) bool {
	if j.plan.Kind != ci.Push || !strings.HasPrefix(j.plan.Ref, "refs/tags/") || len(j.plan.Head) == 0 || !history.IsObjectID(j.plan.Head[0].Revision) {
		return false
	}
	commit, here, err := s.Repo.Peel(ctx, j.plan.Head[0].Revision)
	return err == nil && here && commit == ""
}

// findChange finds the base of a change and, if there is one, the CI system's merge.
func (j *job) findChange(ctx context.Context, s *session.Session) (found foundPlan, err error) {
	found.kind = ci.Change
	if found.base, found.merge, found.baseLabel, err = j.findMerge(ctx, s, j.head); err != nil {
		return found, err
	}
	if found.base != "" {
		for _, p := range j.nonMerges {
			j.note("%s, %s, is not a merge of the head: it was not judged", p.Words, p.Revision)
		}
	}
	if found.base == "" {
		if found.base, found.baseLabel, err = j.resolveFirst(ctx, s, j.plan.Base); err != nil {
			return found, err
		}
		if found.base, found.baseLabel, err = j.replaceSuspectBase(ctx, s, found.base, found.baseLabel, j.head); err != nil {
			return found, err
		}
		if found.merge, err = j.findNextTip(ctx, s, found.base); err != nil {
			return found, err
		}
	}
	j.fact("base", "%s (%s)", found.base, found.baseLabel)
	reported := []string{found.base}
	for _, p := range j.plan.Base {
		if len(p.Fetch) > 0 && p.Fetch[0] == p.Revision && !slices.Contains(reported, p.Revision) {
			reported = append(reported, p.Revision)
			j.fact("passed over", "%s (%s)", p.Revision, p.Words)
		}
	}
	if found.merge != "" {
		j.fact("merge result", "%s", found.merge)
	}
	return found, nil
}

// findPush finds the commits to compare a pushed ref with. If the plan knows no old tip of the ref and the default branch has the head, the kind becomes
// ci.History.
func (j *job) findPush(ctx context.Context, s *session.Session) (foundPlan, error) {
	branch, err := j.findDefaultBranch(ctx, s)
	if err != nil {
		return foundPlan{}, err
	}
	if j.plan.NoBefore && branch.ID != "" {
		defaultHasHead, err := s.Repo.IsAncestor(ctx, j.head, branch.ID)
		if err != nil {
			return foundPlan{}, err
		}
		if defaultHasHead {
			// The ref may be the default branch itself: compared with that branch, no commit would be new.
			j.fact("base", "none: the head is on %s already, so its whole history is judged", branch.Ref)
			return foundPlan{kind: ci.History, base: branch.ID, baseLabel: branch.Ref}, nil
		}
	}
	onDefault := j.plan.OnDefault || branch.ID == ""
	found := foundPlan{kind: ci.Push, defaultBranch: branch, baseLabel: "the tip before the push"}
	found.update = history.Update{Ref: j.plan.Ref, New: j.head, Name: branchName(j.plan.Ref, origin), PolicyFromOldTip: onDefault}
	if found.update.Old, err = j.findTipBeforePush(ctx, s, onDefault); err != nil {
		return found, err
	}
	if onDefault {
		if found.update.Old == "" {
			j.fact("base", "none: the ref is new, and its whole history is judged")
		}
		return found, nil
	}
	// The commits of earlier pushes are judged again until the default branch has them.
	found.update.Known, found.update.RejudgeOld, found.baseLabel = []string{branch.ID}, true, branch.Ref
	switch {
	case found.update.Old != "":
		j.fact("new since", "%s (%s)", branch.ID, branch.Ref)
	case len(j.plan.Base) > 0:
		j.fact("base", "%s (%s; the tip before the push is not here)", branch.ID, branch.Ref)
	case j.plan.NoBefore:
		j.fact("base", "%s (%s)", branch.ID, branch.Ref)
	default:
		j.fact("base", "%s (%s; the ref is new)", branch.ID, branch.Ref)
	}
	if j.plan.WithDefault {
		found.update.Target = history.Tip{ID: branch.ID, Name: history.ShortRef(branch.Ref)}
		j.fact("compared with", "%s (%s), as a warning", branch.ID, branch.Ref)
	}
	return found, nil
}

// findTipBeforePush finds the ref's tip before the push. It returns "" for a new ref, and, with a note, if the server answers that it no longer has that
// tip: then all commits that the default branch lacks are judged. If the ref is the default branch, or if there is no default branch (onDefault),
// such an answer is an error.
func (j *job) findTipBeforePush(ctx context.Context, s *session.Session, onDefault bool) (string, error) {
	if len(j.plan.Base) == 0 {
		return "", nil
	}
	old, label, err := j.resolveFirst(ctx, s, j.plan.Base)
	switch {
	case err == nil:
		j.fact("base", "%s (%s)", old, label)
		return old, nil
	case !errors.Is(err, history.ErrLacking), j.shallow:
		return "", err
	case j.gitIsMissing():
		return "", &failure.Error{Message: failure.Of(err).Message, Remedy: remedyGit, Err: err}
	case !errors.Is(j.fetchErrors[j.plan.Base[0].Revision], githistory.ErrGone):
		return "", &failure.Error{Message: failure.Of(err).Message, Remedy: remedyCredentials, Err: err}
	case onDefault:
		return "", err
	}
	j.note("the tip before the push, %s, is gone: all commits that the default branch lacks are judged, "+
		"but not whether the push drops entries that only that tip had", j.plan.Base[0].Revision)
	return "", nil
}

// findDefaultBranch finds the default branch. It returns the zero Branch if the default branch itself is judged, or if a clone without origin has no
// default branch.
func (j *job) findDefaultBranch(ctx context.Context, s *session.Session) (githistory.Branch, error) {
	if j.plan.OnDefault {
		return githistory.Branch{}, nil
	}
	if len(j.plan.Default) > 0 {
		id, _, err := j.resolveFirst(ctx, s, j.plan.Default)
		if err != nil {
			return githistory.Branch{}, err
		}
		return githistory.Branch{Ref: j.plan.Default[0].Revision, ID: id}, nil
	}
	if j.foreignOrigin != "" {
		return githistory.Branch{}, j.foreignOriginError(nil)
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, origin)
	if j.hasOrigin && strings.HasPrefix(branch.Ref, "refs/heads/") {
		branch = githistory.Branch{} // a local branch may be out of date: in a clone of origin, only origin's branches count
	}
	if err == nil && !j.plan.NoBefore && j.plan.Ref != "" && branchName(branch.Ref, origin) == branchName(j.plan.Ref, origin) {
		return githistory.Branch{}, nil
	}
	if err == nil && branch.ID == "" && j.hasOrigin {
		return branch, &failure.Error{
			Message: "the default branch is unknown: the event does not name it, and this clone has neither refs/remotes/origin/HEAD nor a branch of a usual name",
			Remedy:  `git fetch origin "+refs/heads/*:refs/remotes/origin/*" && git remote set-head origin --auto`,
		}
	}
	return branch, err
}
