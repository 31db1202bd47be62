package publish

import (
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// from is the ref that keeps where the branch was, and to the one that keeps what is pushed. Both are written before the push.
func (p *publishing) from() string { return kept + "sync-from/" + short(p.branch) }
func (p *publishing) to() string   { return kept + "sync-to/" + short(p.branch) }

// kept is where both are, for all branches.
const kept = "refs/small-gate/"

// remember writes both refs. If the branch is pushed as it is, there is no last step to remember.
func (p *publishing) remember(ctx context.Context, head, goal string) error {
	if head == goal {
		return p.forget(ctx)
	}
	if err := p.clear(ctx); err != nil {
		return err
	}
	_, err := p.git.tell(ctx, fmt.Sprintf("update %s %s\nupdate %s %s\n", p.from(), head, p.to(), goal), "update-ref", "--stdin")
	p.refs[p.from()], p.refs[p.to()] = head, goal
	return err
}

// clear deletes refs left by a deleted branch: git allows no a/b beside an a.
func (p *publishing) clear(ctx context.Context) error {
	var stale []string
	for ref := range p.refs {
		for _, own := range []string{p.from(), p.to()} {
			if strings.HasPrefix(own, ref+"/") || strings.HasPrefix(ref, own+"/") {
				stale = append(stale, ref)
			}
		}
	}
	return p.drop(ctx, stale...)
}

// forget deletes both refs.
func (p *publishing) forget(ctx context.Context) error { return p.drop(ctx, p.from(), p.to()) }

// drop deletes refs, if they are there.
func (p *publishing) drop(ctx context.Context, refs ...string) error {
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
	_, err := p.git.tell(ctx, lines, "update-ref", "--stdin")
	return err
}

// finishEarlier does the last step of an earlier sync whose push has arrived, if the branch is where it was then.
func (p *publishing) finishEarlier(ctx context.Context, upstream string) error {
	from, to := p.refs[p.from()], p.refs[p.to()]
	if to != "" && to == p.refs[p.branch] { // it was killed after the move: what is left are locks and these refs
		if err := p.opts.Locked(ctx, func(context.Context) error { return nil }); err != nil {
			return err
		}
		return p.forget(ctx)
	}
	if to == "" || from != p.refs[p.branch] || upstream == "" {
		return nil
	}
	arrived, err := p.has(ctx, upstream, to)
	if err != nil || !arrived {
		return err
	}
	p.finishing = true
	defer func() { p.finishing = false }()
	if err := p.movable(ctx, from, to); err != nil {
		return err
	}
	if _, err := p.move(ctx, from, to); err != nil {
		return err
	}
	p.finished = true
	p.say("An earlier sync pushed to %s but did not finish; it is finished now.", p.name())
	return p.look(ctx)
}

// has reports whether the history of tip has a commit.
func (p *publishing) has(ctx context.Context, tip, commit string) (bool, error) {
	done, err := p.git.ask(ctx, "merge-base", "--is-ancestor", commit, tip)
	return done.Status == 0, err
}

// goal is the commit that the branch and the remote's branch should both be at: one of their tips if the other has nothing new, else one
// that is built. done says what was put on top of what.
func (p *publishing) goal(ctx context.Context, head, upstream string) (goal, done string, err error) {
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
		return "", "", &failure.Error{Message: "git rev-list cannot compare the branch with " + p.name() + ": " + failure.Of(err).Message, Err: err}
	case behind == 0:
		return head, "", nil
	case own == 0:
		return upstream, fmt.Sprintf("Took %s of %s.", wording.Count(behind, "new commit"), p.name()), nil
	}
	bases, err := p.git.Run(ctx, nil, "merge-base", "--all", head, upstream)
	if err == nil && bases.Status != 0 {
		err = &failure.Error{
			Message: "this branch and " + p.name() + " have no commit in common",
			Remedy:  "is it the right remote? If they are to be one: `git merge --allow-unrelated-histories " + wording.ShellWord(p.tracking()) + "`, then `small-hook sync`",
		}
	}
	if err != nil {
		return "", "", err
	}
	b := &building{publishing: p, bases: strings.Fields(string(bases.Out)), head: head, onto: upstream, since: upstream}
	if err := b.goOn(ctx); err != nil {
		return "", "", err
	}
	if b.since == head { // an earlier sync has pushed all of it, or its push may still arrive
		return b.onto, "", nil
	}
	if p.judged != head {
		clean, err := p.opts.JudgeOwn(ctx, b.bases[0], head, upstream)
		if p.out.Found = err == nil && !clean; err != nil || !clean {
			return "", "", err
		}
		p.judged = head
	}
	if goal, err = b.build(ctx); err != nil {
		return "", "", err
	}
	return goal, fmt.Sprintf("Put %s on top of %s of %s.", wording.Count(own, "own commit"), wording.Count(behind, "new commit"), p.name()), nil
}

// goOn goes on after an earlier sync: commits that it has pushed, or whose push may still arrive, are not built again.
func (b *building) goOn(ctx context.Context) error {
	from, to := b.refs[b.from()], b.refs[b.to()]
	if from == "" || to == "" {
		return nil
	}
	after, err := b.has(ctx, b.head, from)
	if err != nil || !after {
		return err
	}
	arrived, err := b.has(ctx, b.onto, to)
	if err != nil || arrived {
		b.since = from
		return err
	}
	// The push may have been sent, and can still arrive while the remote's branch is where it was then. Push the same commits again.
	still, err := b.has(ctx, to, b.onto)
	if still {
		b.onto, b.since = to, from
	}
	return err
}
