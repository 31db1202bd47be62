package publish

import (
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// fromRef keeps the commit where the branch is before the last step, and toRef the commit to which that step moves it. Both are written before the
// push, if there is one.
func (p *publishing) fromRef() string { return ownRefs + "sync-from/" + short(p.branch) }
func (p *publishing) toRef() string   { return ownRefs + "sync-to/" + short(p.branch) }

// ownRefs is the folder of both refs, for all branches.
const ownRefs = "refs/small-gate/"

// rememberMove writes both refs. If the branch is to stay where it is, it deletes them instead: there is no last step.
func (p *publishing) rememberMove(ctx context.Context, head, goal string) error {
	if head == goal {
		return p.forgetMove(ctx)
	}
	if err := p.dropClashing(ctx); err != nil {
		return err
	}
	_, err := p.git.runInput(ctx, fmt.Sprintf("update %s %s\nupdate %s %s\n", p.fromRef(), head, p.toRef(), goal), "update-ref", "--stdin")
	p.refs[p.fromRef()], p.refs[p.toRef()] = head, goal
	return err
}

// dropClashing deletes refs that a deleted branch left and that are in the way of the new ones: git allows no ref a/b beside a ref a.
func (p *publishing) dropClashing(ctx context.Context) error {
	var stale []string
	for ref := range p.refs {
		for _, own := range []string{p.fromRef(), p.toRef()} {
			if strings.HasPrefix(own, ref+"/") || strings.HasPrefix(ref, own+"/") {
				stale = append(stale, ref)
			}
		}
	}
	return p.deleteRefs(ctx, stale...)
}

// forgetMove deletes both refs.
func (p *publishing) forgetMove(ctx context.Context) error {
	return p.deleteRefs(ctx, p.fromRef(), p.toRef())
}

// deleteRefs deletes those of the refs that exist.
func (p *publishing) deleteRefs(ctx context.Context, refs ...string) error {
	var lines string
	for _, ref := range refs {
		if p.refs[ref] != "" {
			lines += "delete " + ref + "\n"
		}
		delete(p.refs, ref)
	}
	if lines == "" {
		return nil
	}
	_, err := p.git.runInput(ctx, lines, "update-ref", "--stdin")
	return err
}

// finishEarlier does the last step of an earlier sync that was killed, if the remote has what that sync pushed and the branch is where it was then.
func (p *publishing) finishEarlier(ctx context.Context, upstream string) error {
	from, to := p.refs[p.fromRef()], p.refs[p.toRef()]
	if to != "" && to == p.refs[p.branch] {
		// The earlier sync was killed after it had moved the branch. Its locks of the workspaces may be left: taking them once clears them.
		if err := p.opts.Locked(ctx, func(context.Context) error { return nil }); err != nil {
			return err
		}
		return p.forgetMove(ctx)
	}
	if to == "" || from != p.refs[p.branch] || upstream == "" {
		return nil
	}
	arrived, err := p.contains(ctx, upstream, to)
	if err != nil || !arrived {
		return err
	}
	p.finishingEarlier = true
	defer func() { p.finishingEarlier = false }()
	if err := p.checkMove(ctx, from, to); err != nil {
		return err
	}
	if again, err := p.move(ctx, from, to); err != nil || again {
		return err // if somebody has committed meanwhile, that is put on top of what was pushed
	}
	p.finishedEarlier = true
	p.say("An earlier sync with %s did not finish; it is finished now.", p.remoteName())
	return p.readRefs(ctx)
}

// contains reports whether the history of tip contains a commit.
func (p *publishing) contains(ctx context.Context, tip, commit string) (bool, error) {
	done, err := p.git.runYesNo(ctx, "merge-base", "--is-ancestor", commit, tip)
	return done.Status == 0, err
}

// findGoal finds the commit at which the branch and the remote's branch are to be. If only one of them has new commits, that is its tip; else the
// branch's own commits are judged, and new ones are built. If the judgement has findings, p.out.HasFindings is true and there is no goal. summary is the
// line for the outcome that says what was taken, or put on top of what.
func (p *publishing) findGoal(ctx context.Context, head, upstream string) (goal, summary string, err error) {
	if upstream == "" || head == upstream {
		return head, "", nil
	}
	sides, err := p.git.run(ctx, "rev-list", "--left-right", "--count", head+"..."+upstream)
	var own, behind int
	if err == nil {
		_, err = fmt.Sscan(sides, &own, &behind)
	}
	switch {
	case err != nil:
		return "", "", &failure.Error{Message: "git rev-list cannot compare the branch with " + p.remoteName() + ": " + failure.Of(err).Message, Err: err}
	case behind == 0:
		return head, "", nil
	case own == 0:
		return upstream, fmt.Sprintf("Took %s of %s.", wording.Count(behind, "new commit"), p.remoteName()), nil
	}
	bases, err := p.git.Run(ctx, nil, "merge-base", "--all", head, upstream)
	if err == nil && bases.Status != 0 {
		err = &failure.Error{
			Message: "this branch and " + p.remoteName() + " have no commit in common",
			Remedy:  "is it the right remote? If they are to be one: `git merge --allow-unrelated-histories " + wording.ShellWord(p.tracking()) + "`, then " + p.git.again,
		}
	}
	if err != nil {
		return "", "", err
	}
	b := &building{publishing: p, bases: strings.Fields(string(bases.Out)), head: head, onto: upstream, builtUpTo: upstream}
	if err := b.skipBuiltEarlier(ctx); err != nil {
		return "", "", err
	}
	if b.builtUpTo == head { // an earlier sync has built all of it, and its push may still arrive: push the same again
		return b.onto, "", nil
	}
	if p.judged != head {
		clean, err := p.opts.JudgeOwn(ctx, b.bases[0], head, upstream)
		if p.out.HasFindings = err == nil && !clean; err != nil || !clean {
			return "", "", err
		}
		p.judged = head
	}
	if goal, err = b.build(ctx); err != nil {
		return "", "", err
	}
	theirs := wording.Count(behind, "new commit") + " of " + p.remoteName()
	switch {
	case b.merged:
		return goal, "Merged " + wording.Count(own, "own commit") + " with " + theirs + ".", nil
	case b.emptied == own:
		return goal, "Took " + theirs + ", which has the changes of " + wording.Count(own, "own commit") + " already.", nil
	case b.emptied > 0:
		theirs += "; left out " + wording.Count(b.emptied, "own commit") + ", whose changes are there already"
	}
	return goal, "Put " + wording.Count(own-b.emptied, "own commit") + " on top of " + theirs + ".", nil
}

// skipBuiltEarlier leaves out the commits that an earlier sync has pushed, or whose push may still arrive: they are not built again.
func (b *building) skipBuiltEarlier(ctx context.Context) error {
	from, to := b.refs[b.fromRef()], b.refs[b.toRef()]
	if from == "" || to == "" {
		return nil
	}
	after, err := b.contains(ctx, b.head, from)
	if err != nil || !after {
		return err
	}
	arrived, err := b.contains(ctx, b.onto, to)
	if err != nil || arrived {
		b.builtUpTo = from
		return err
	}
	// The earlier push may have been sent, and can still arrive as long as the remote's branch has not moved. So the same commits are pushed again.
	still, err := b.contains(ctx, to, b.onto)
	if still {
		b.onto, b.builtUpTo = to, from
	}
	return err
}
