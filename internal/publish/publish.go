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

	"github.com/gofrs/flock"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/wording"
)

// Options are what to publish, and how.
type Options struct {
	// Remote and Branch say where to; empty for what the current branch follows, or else origin and its own name.
	Remote, Branch string
	// Merge has it merge even what could be rebased.
	Merge   bool
	Place   githistory.Place
	Environ []string
	// Combining has do use a combiner of workspaces' files, under the policy of the commit trusted.
	Combining func(ctx context.Context, trusted, head string, do func(*reconcile.Combiner) error) error
	// Locked runs do while nobody else writes in the workspaces.
	Locked func(ctx context.Context, do func(context.Context) error) error
	// JudgeOwn judges the commits that head has and base lacks, under the policy of the commit upstream. JudgePush judges a push as
	// the pre-push hook does. They report whether nothing is wrong.
	JudgeOwn  func(ctx context.Context, base, head, upstream string) (bool, error)
	JudgePush func(ctx context.Context, push Push) (bool, error)
}

// Push is one update of a remote's branch. Old is the branch's commit, empty for a new branch.
type Push struct{ Remote, Local, Ref, Old, New string }

// Outcome is what was done.
type Outcome struct {
	// Done says what was done, a line each.
	Done []string
	// Found is true if a judgement found something, and so nothing was pushed.
	Found bool
	// Refused says which hook or remote refused, and what it said; nothing was pushed then.
	Refused string
	// Said is what hooks and the remote said besides.
	Said string
}

// attempts is how often a push is tried while others push.
const attempts = 10

// publishing is one sync.
type publishing struct {
	opts Options
	git  *commandLine
	// branch is the full name of the branch; remote and target say where it is pushed: the remote's name, and the branch's full name there.
	branch, remote, target string
	// follows is true if the branch has an upstream. sign is true if the user's commits are signed.
	follows, sign bool
	// refs are the commits of those refs that matter here, by their full names.
	refs map[string]string
	// finishing is true while the last step of an earlier sync is done, which may have begun it; finished is true afterwards.
	finishing, finished bool
	// judged is the commit whose own commits were judged as they are.
	judged string
	// pushed is the commit that the remote is known to have got here; asked is one of which that is not known.
	pushed, asked string
	out           Outcome
}

// Run brings the current branch and its remote branch together, and pushes. The outcome says what was done, also beside an error; it is
// nil if nothing was begun.
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
		p.say("Whether %s has %s is not known; the next sync looks. The branch and the work tree are as before.", p.name(), history.Short(p.asked))
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
		Message: fmt.Sprintf("%s has moved on %d times while this was pushed", p.name(), attempts),
		Remedy:  "try again: `small-hook sync`",
	}
}

// wait waits before the n-th repetition, longer each time and for a random part of it, so that many who lose do not meet again.
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

// attempt fetches, puts the own commits on top, judges, pushes, and brings the work tree there. again is true if somebody else has pushed
// or committed meanwhile.
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
	held := flock.New(filepath.Join(dir, "sync.lock"))
	locked, err := held.TryLock()
	if err != nil {
		return nil, &failure.Error{Message: "cannot lock " + held.Path() + ": " + err.Error(), Err: err}
	}
	if !locked {
		return nil, &failure.Error{Message: "another small-hook sync is at work in this work tree", Remedy: "wait until it has ended"}
	}
	return held.Unlock, nil
}

// ownDir is the directory in the git directory for what is ours.
const ownDir = "small-gate"

// say adds a line to what was done. What is done again after a lost race is said once.
func (p *publishing) say(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); line != "" && !slices.Contains(p.out.Done, line) {
		p.out.Done = append(p.out.Done, line)
	}
}

// tracking is the ref in which git keeps the remote's branch.
func (p *publishing) tracking() string { return "refs/remotes/" + p.remote + "/" + short(p.target) }

// name is the remote's branch, for messages.
func (p *publishing) name() string { return wording.Printable(p.remote + "/" + short(p.target)) }

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
