package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/wording"
)

// end brings back what was set aside. What findings and refusals are about stays as it is: the commands in them name these commits.
func (p *publishing) end(ctx context.Context) error {
	if p.out.Found || p.out.Refused != "" {
		now, err := p.git.id(ctx, "HEAD")
		if err != nil {
			return err
		}
		if now == p.state.Tip {
			p.say(asBefore)
		} else {
			p.say("Nothing was pushed. The branch was at %s; to have it so again: git reset --keep %s", p.state.Tip, p.state.Tip)
		}
	}
	if err := p.bringBack(ctx); err != nil {
		return err
	}
	return p.forget(ctx)
}

const asBefore = "Nothing was pushed. The branch and the work tree are as before."

// giveUp takes everything back after an error, or where a hook has refused a commit of a rebase or merge that is halfway, and says so.
// What has arrived stays.
func (p *publishing) giveUp(ctx context.Context, halfway string, cause error) error {
	done := p.out.Done
	p.out.Done = nil
	moved := p.noted || p.state.Pushing != ""
	if err := p.takeBack(ctx); err != nil {
		f := *failure.Of(err)
		f.Message = "taking everything back failed: " + f.Message
		if cause != nil {
			f.Message = failure.Of(cause).Message + "; and " + f.Message
		}
		f.Err = errors.Join(cause, err)
		return &f
	}
	switch {
	case p.state.Pushed:
		p.out.Done = slices.Concat(done, p.out.Done)
		p.say("%s was pushed to %s, and stays.", history.Short(p.state.Pushing), p.target())
	case p.unasked != nil:
		p.say("%s. The branch and the work tree are as before.", p.unknown())
	case moved:
		p.say(asBefore)
	}
	if cause != nil {
		return p.putAway(ctx, cause)
	}
	by := "git merge --no-commit "
	if halfway == "rebase" {
		by = "git rebase "
	}
	p.say("The commit that was refused is not made; to make it by hand: %s%s", by, wording.ShellWord(p.state.Remote+"/"+short(p.state.Target)))
	return nil
}

// unknown says what is not known about the push.
func (p *publishing) unknown() string {
	return fmt.Sprintf("Whether %s has %s is not known: %s", p.target(), p.state.Pushing, failure.Of(p.unasked).Message)
}

// abort takes an interrupted sync back.
func (p *publishing) abort(ctx context.Context) error {
	at, err := p.git.id(ctx, p.state.Branch)
	if err != nil {
		return err
	}
	if err := p.keepMeanwhile(ctx); err != nil {
		return err
	}
	committed, err := p.committedSince(ctx)
	if err != nil {
		return err
	}
	if committed {
		p.state.Tip = at
	}
	picked, err := p.committedInStop(ctx, at)
	if err != nil {
		return err
	}
	if err := p.takeBack(ctx); err != nil {
		return err
	}
	if p.unasked != nil {
		p.say("%s", p.unknown())
	}
	if picked != "" {
		p.say("What was committed since it stopped is on no branch; to have it: git cherry-pick %s", picked)
	}
	now, err := p.git.id(ctx, "HEAD")
	switch {
	case err != nil:
		return err
	case p.state.Pushed:
		p.say("It was pushed already, and stays.")
	case committed:
		p.say("The branch has commits that this sync has not made, and stays as it is.")
	case now == at:
		p.say("The branch and the work tree are as before.")
	default:
		p.say("The branch and the work tree are as before. The branch was at %s; to have it so again: git reset --keep %s", at, at)
	}
	return nil
}

// committedInStop are the commits, as git names a range, that somebody has made while a rebase was stopped; empty if there are none.
func (p *publishing) committedInStop(ctx context.Context, branch string) (string, error) {
	head, err := p.git.id(ctx, "HEAD")
	left, _, _ := strings.Cut(p.state.LeftAt, "\n")
	if err != nil || !p.state.Stopped || left == "" || head == left || head == branch {
		return "", err
	}
	return left + ".." + head, nil
}

// committedSince reports whether the branch has commits that neither were there before nor are of sync's own making: those put on top
// are not more, and are published or merges otherwise.
func (p *publishing) committedSince(ctx context.Context) (bool, error) {
	known := []string{p.state.Tip}
	upstream, err := p.git.id(ctx, p.tracking())
	if err != nil {
		return false, err
	}
	if upstream != "" {
		known = append(known, upstream)
	}
	since, err := p.git.count(ctx, append([]string{"--no-merges", p.state.Branch, "--not"}, known...)...)
	if err != nil || since == 0 {
		return false, err
	}
	follows, err := p.git.holds(ctx, "merge-base", "--is-ancestor", p.state.Tip, p.state.Branch)
	if err != nil || follows {
		return follows, err
	}
	own, err := p.git.count(ctx, append([]string{"--no-merges", p.state.Tip, "--not"}, known[1:]...)...)
	return since > own, err
}

// takeUp goes on with what an interrupted sync has begun. Only where it stopped for a person is git's half done work taken up: what was
// killed is taken back, and begun again.
func (p *publishing) takeUp(ctx context.Context) (err error) {
	if err := p.onBranch(ctx); err != nil {
		return err
	}
	if err := p.keepMeanwhile(ctx); err != nil {
		return err
	}
	if !p.state.Stopped {
		// Whatever is committed stays: what git has finished, and what somebody has done since.
		if p.state.Tip, err = p.git.id(ctx, p.state.Branch); err != nil {
			return err
		}
		return p.takeBack(ctx)
	}
	command, err := p.git.underWay()
	if err != nil {
		return err
	}
	if err := p.finish(ctx); err != nil || p.out.Refused != "" {
		return err
	}
	if command == "cherry-pick" { // of what was set aside: all else was done before
		return p.forget(ctx)
	}
	// What was resolved by hand is not taken back any more.
	if p.state.Tip, err = p.git.id(ctx, "HEAD"); err != nil {
		return err
	}
	p.kept, p.state.Stopped, p.state.Conflicts = "", false, nil
	return p.note()
}

// takeBack puts branch and work tree where they were. What the remote has already stays.
func (p *publishing) takeBack(ctx context.Context) error {
	to, err := p.arrived(ctx)
	if err != nil || !p.noted {
		return err
	}
	if err := p.onBranch(ctx); err != nil {
		return err
	}
	if to == "" {
		to = p.state.Tip
	}
	if p.kept != "" {
		if p.found, err = p.store(ctx, p.kept); err != nil {
			return err
		}
		p.found = fmt.Sprintf("What was written meanwhile (%s) is kept as a stash; to see it: git stash show -p %s", list(p.keptPaths), p.found)
	}
	if err := p.reset(ctx, to); err != nil {
		return err
	}
	if err := p.bringBack(ctx); err != nil && (!p.opts.Abort || !p.stopped) {
		return err
	}
	if p.stopped { // What is uncommitted does not fit what was pushed, or committed since. Nobody is asked again.
		if err := p.reset(ctx, to); err != nil {
			return err
		}
		if _, err := p.git.run(ctx, "stash", "store", "-m", "small-hook sync: uncommitted changes", p.state.Aside); err != nil {
			return err
		}
		p.say("They are in conflict with it, and kept as a stash; to see them: git stash show -p %s", p.state.Aside)
	}
	return p.forget(ctx)
}

// arrived is the commit that was pushed, or that was committed upon it since; empty if the remote does not have it. The remote is asked: a
// push can be killed when it has arrived, and before it is known here. If it cannot be asked, what is known of it here counts.
func (p *publishing) arrived(ctx context.Context) (string, error) {
	if p.state.Pushing == "" {
		return "", nil
	}
	if !p.state.Pushed {
		there, err := p.fetch(ctx)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if p.unasked = err; err != nil {
			if there, err = p.git.id(ctx, p.tracking()); err != nil {
				return "", err
			}
		}
		if there == "" {
			return "", nil
		}
		if p.state.Pushed, err = p.git.holds(ctx, "merge-base", "--is-ancestor", p.state.Pushing, there); err != nil || !p.state.Pushed {
			return "", err
		}
		p.unasked = nil
	}
	longer, err := p.git.holds(ctx, "merge-base", "--is-ancestor", p.state.Pushing, p.state.Branch)
	if err != nil || !longer {
		return p.state.Pushing, err
	}
	return p.git.id(ctx, p.state.Branch)
}

// onBranch refuses to touch another branch than the sync's, and commits that somebody has made upon no branch.
func (p *publishing) onBranch(ctx context.Context) error {
	branch, err := p.git.branch(ctx)
	if err != nil || branch == p.state.Branch {
		return err
	}
	f := &failure.Error{Message: "the interrupted sync is that of " + wording.Printable(short(p.state.Branch)) + ", and "}
	if branch == "" {
		head, err := p.git.id(ctx, "HEAD")
		if err != nil {
			return err
		}
		f.Message += "HEAD is detached"
		f.Remedy = "keep what is committed there, and go back: `git branch detached-" + history.Short(head) + "`, then "
	} else {
		f.Message += "this is " + wording.Printable(short(branch))
	}
	how := "--continue"
	if p.opts.Abort {
		how = "--abort"
	}
	f.Remedy += "`git switch " + wording.ShellWord(short(p.state.Branch)) + "`, then `small-hook sync " + how + "`"
	return f
}
