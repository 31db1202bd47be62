package publish

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// Options are what to publish, and how.
type Options struct {
	// Remote and Branch say where to push; empty means the current branch's upstream, or else the branch of the same name on origin.
	Remote, Branch string
	// Merge asks for a merge even where a rebase would do.
	Merge bool
	// Place is the work tree, and Environ the environment for git, as KEY=VALUE.
	Place   githistory.Place
	Environ []string
	// Combining calls do with a combiner for the workspaces' files, under the policy of the commit trusted.
	Combining func(ctx context.Context, trusted, head string, do func(*reconcile.Combiner) error) error
	// Locked calls do under the locks of all workspaces.
	Locked func(ctx context.Context, do func(context.Context) error) error
	// JudgeOwn judges the commits that head has and base lacks, under the policy of the commit upstream. JudgePush judges a push as
	// the pre-push hook does. Both return true if nothing is wrong.
	JudgeOwn  func(ctx context.Context, base, head, upstream string) (bool, error)
	JudgePush func(ctx context.Context, push Push) (bool, error)
}

// Push is one update of a remote's branch: Local is the branch here, and Ref the one on the remote, both full names. Old is the commit of
// the remote's branch, empty for a new branch, and New is the commit to push.
type Push struct{ Remote, Local, Ref, Old, New string }

// Outcome says what a sync did. Messages of others in it must be escaped before printing.
type Outcome struct {
	// Done says what was done, one line per step.
	Done []string
	// Found is true if a judgement had findings. Then nothing was pushed.
	Found bool
	// Refused says which hook or remote refused, and what it said; empty if none did. Then nothing was pushed.
	Refused string
	// Said is what hooks and the remote said if they did not refuse.
	Said string
}

// attempts is how often sync tries again because somebody else has pushed.
const attempts = 10

// publishing is one sync.
type publishing struct {
	opts Options
	git  *commandLine
	// branch is the full name of the branch; remote and target say where it is pushed: the remote's name, and the branch's full name there.
	branch, remote, target string
	// follows is true if the branch has an upstream. sign is true if the user's commits are signed.
	follows, sign bool
	// refs are the commits of the refs that matter here, by full name: see look.
	refs map[string]string
	// finishing is true while this sync does the last step of an earlier one, which may have begun it; finished is true afterwards.
	finishing, finished bool
	// judged is the tip whose own commits have been judged.
	judged string
	// pushed is the commit that this sync is known to have pushed; asked is one that it tried to push.
	pushed, asked string
	// renamed are the new ids of the commits that were rewritten last, by the old ones.
	renamed map[string]string
	out     Outcome
}

// Run brings the current branch and its remote branch together, and pushes. The outcome says what was done, even if there is an error too;
// it is nil if sync stopped before it did anything.
func Run(ctx context.Context, opts Options) (out *Outcome, err error) {
	p := &publishing{opts: opts}
	if p.git, err = openGit(opts.Place, opts.Environ); err != nil {
		return nil, err
	}
	unlock, err := p.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	if err := p.removeScratch(); err != nil {
		return nil, err
	}
	err = p.work(ctx)
	switch {
	case p.pushed != "" && err != nil:
		p.say("%s was pushed to %s, and stays.", history.Short(p.pushed), p.name())
	case p.asked != "" && p.pushed == "":
		p.say("It is not known whether %s has %s; the next sync finds out. The branch and the work tree are as before.", p.name(), history.Short(p.asked))
	case p.finished && (err != nil || p.out.Found || p.out.Refused != ""):
		p.say("Nothing else was pushed.")
	case err != nil || p.out.Found || p.out.Refused != "":
		p.say("Nothing was pushed. The branch and the work tree are as before.")
	}
	return &p.out, err
}

// work tries until nobody else has pushed meanwhile.
func (p *publishing) work(ctx context.Context) error {
	for n := range attempts {
		if err := wait(ctx, n); err != nil {
			return err
		}
		lost, err := p.attempt(ctx)
		if err != nil || !lost {
			return err
		}
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s moved on during each of %d attempts to push", p.name(), attempts),
		Remedy:  "try again: `small-hook sync`",
	}
}

// wait waits before the n-th repetition: a random time with a limit that doubles, so that those who lost a race do not meet again.
func wait(ctx context.Context, n int) error {
	if n == 0 {
		return ctx.Err()
	}
	const first, most = 100 * time.Millisecond, 5 * time.Second
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(min(first<<n, most)))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt fetches, puts the own commits on top, judges, pushes, and moves the work tree. again is true if somebody else has pushed or
// committed meanwhile.
func (p *publishing) attempt(ctx context.Context) (again bool, err error) {
	upstream, err := p.fetch(ctx)
	if err == nil {
		err = p.finishEarlier(ctx, upstream)
	}
	if err != nil {
		return false, err
	}
	head := p.refs[p.branch]
	goal, done, err := p.goal(ctx, head, upstream)
	if err != nil || p.out.Found {
		return false, err
	}
	if head == upstream {
		if len(p.out.Done) == 0 {
			p.say("Nothing to do: %s and %s are the same.", wording.Printable(short(p.branch)), p.name())
		}
		return false, p.forget(ctx)
	}
	if goal != head {
		if err := p.movable(ctx, head, goal); err != nil {
			return false, err
		}
	}
	if goal != upstream {
		push := Push{Remote: p.remote, Local: p.branch, Ref: p.target, Old: upstream, New: goal}
		clean, err := p.opts.JudgePush(ctx, push)
		if p.out.Found = err == nil && !clean; err != nil || !clean {
			return false, err
		}
		if err := p.remember(ctx, head, goal); err != nil {
			return false, err
		}
		again, err = p.push(ctx, push, done)
		if err == nil && p.out.Refused != "" {
			err = p.forget(ctx)
		}
		if err != nil || again || p.out.Refused != "" {
			return again, err
		}
	} else {
		if err := p.remember(ctx, head, goal); err != nil {
			return false, err
		}
		p.say("%s", done)
	}
	return p.move(ctx, head, goal)
}

// lock keeps a second sync out of a work tree. The kernel frees it when the process ends, however it ends.
func (p *publishing) lock() (unlock func() error, err error) {
	dir := filepath.Join(p.git.gitDir, ownDir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, cannotWrite(err)
	}
	name := filepath.Join(dir, "sync.lock")
	unlock, err = lock.File(name)
	if errors.Is(err, lock.ErrTaken) {
		return nil, &failure.Error{Message: "another small-hook sync is at work in this work tree", Remedy: "wait until it has ended", Err: err}
	}
	if err != nil {
		return nil, &failure.Error{Message: "cannot lock " + wording.Printable(name) + ": " + wording.Printable(err.Error()), Err: err}
	}
	return unlock, nil
}

// ownDir is our directory in the git directory.
const ownDir = "small-gate"

// say adds a line to what was done, but only once: after a lost race the same steps are repeated.
func (p *publishing) say(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); line != "" && !slices.Contains(p.out.Done, line) {
		p.out.Done = append(p.out.Done, line)
	}
}

// tracking is the remote-tracking ref of the remote's branch.
func (p *publishing) tracking() string { return "refs/remotes/" + p.remote + "/" + short(p.target) }

// name is the remote's branch, for messages.
func (p *publishing) name() string { return wording.Printable(p.remote + "/" + short(p.target)) }

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
