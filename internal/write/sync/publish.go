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
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// Options say what to push where, and how.
type Options struct {
	// Remote and Branch say where to push; empty means the current branch's upstream, or else the branch of the same name on origin.
	Remote, Branch string
	// Merge asks for a merge even where a rebase would do.
	Merge bool
	// Place is the work tree, and Environ the environment for git, as KEY=VALUE.
	Place   githistory.Place
	Environ []string
	// Combining runs the function do with a combiner of logs and workspaces' files. trusted is the commit whose configuration
	// counts, or empty for HEAD's; of the configuration of head, if it is not empty, the baselines and further logs count, too.
	Combining func(ctx context.Context, trusted, head string, do func(*reconcile.Combiner) error) error
	// Locked runs the function do under the locks of all workspaces.
	Locked func(ctx context.Context, do func(context.Context) error) error
	// JudgeOwn judges the commits that head has and base lacks. upstream is the commit whose configuration counts. JudgePush judges a push as the
	// pre-push hook does. Both return true if nothing is wrong.
	JudgeOwn  func(ctx context.Context, base, head, upstream string) (bool, error)
	JudgePush func(ctx context.Context, push Push) (bool, error)
}

// command returns the command with these options, quoted for a message.
func (o Options) command() string {
	words := "small-hook sync"
	if o.Merge {
		words += " --merge"
	}
	for _, name := range []string{o.Remote, o.Branch} {
		if name != "" {
			words += " " + wording.ShellWord(name)
		}
	}
	return wording.Commands(words)
}

// Push is one update of a remote's branch. Local is the full name of the branch here, Ref that of the branch on the remote. Old is the commit of
// the remote's branch, empty for a new branch. New is the commit to push.
type Push struct{ Remote, Local, Ref, Old, New string }

// Outcome says what a sync did. Refused and Said quote hooks and the remote, and have to be escaped before they are printed.
type Outcome struct {
	// Done says what was done, one line per step.
	Done []string
	// HasFindings is true if a judgement had findings. What it judged was not pushed.
	HasFindings bool
	// Refused names the hook or remote that refused the last push, with its message. It is empty if none did.
	Refused string
	// Said is the message of hooks and the remote where they did not refuse.
	Said string
}

// attempts is how often sync tries to push while somebody else pushes first, or commits here.
const attempts = 10

// publishing is one sync.
type publishing struct {
	opts Options
	git  *commandLine
	// branch is the full name of the checked-out branch. target is the full name of the branch that it is pushed to, and remote the name of the
	// remote that has that.
	branch, remote, target string
	// hasUpstream is true if the branch has an upstream, a remote's branch or a local one. sign is true if the user's commits are signed.
	hasUpstream, sign bool
	// refs maps the full names of refs to their commits: see readRefs.
	refs map[string]string
	// finishingEarlier is true while this sync does the last step of an earlier one, which may have done a part of it. finishedEarlier is true afterwards.
	finishingEarlier, finishedEarlier bool
	// judged is the branch's tip when its own commits were judged.
	judged string
	// attempted is a commit that this sync has sent to the remote. It is empty again once the remote is known not to have it. pushed is the last
	// commit that the remote is known to have.
	pushed, attempted string
	// newIDs maps the ids of the commits that the last build rewrote to their new ids.
	newIDs map[string]string
	out    Outcome
}

// Run puts the current branch's own commits on top of its remote branch, and pushes. If there is an error too, the outcome says what was done
// before it. The outcome is nil if sync failed before its first attempt.
func Run(ctx context.Context, opts Options) (out *Outcome, err error) {
	p := &publishing{opts: opts}
	if p.git, err = openGit(opts.Place, opts.Environ, opts.command()); err != nil {
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
	err = p.repeat(ctx)
	stopped := err != nil || p.out.HasFindings || p.out.Refused != ""
	switch {
	case p.pushed != "" && err != nil:
		p.say("%s was pushed to %s; that is not undone.", history.Short(p.pushed), p.remoteName())
	case p.attempted != "" && p.pushed == "":
		p.say("It is not known whether %s has %s; the next sync finds out. The branch and the work tree are as before.", p.remoteName(), history.Short(p.attempted))
	case stopped && (p.finishedEarlier || p.pushed != ""):
		p.say("Nothing else was pushed.")
	case stopped:
		p.say("Nothing was pushed. The branch and the work tree are as before.")
	}
	return &p.out, err
}

// repeat calls attempt, and calls it again after each attempt during which somebody pushed, or committed here.
func (p *publishing) repeat(ctx context.Context) error {
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
		Message: fmt.Sprintf("%s moved on during each of %d attempts to push", p.remoteName(), attempts),
		Remedy:  "try again: " + p.git.again,
	}
}

// wait waits before the n-th repetition, for a random time whose limit doubles each time. So clients that lost a race do not all try again at the
// same moment.
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

// attempt fetches the remote's branch, puts the branch's own commits on top, judges them, pushes, and moves the work tree. again is true if somebody pushed or
// committed meanwhile, so that it has to be done again.
func (p *publishing) attempt(ctx context.Context) (again bool, err error) {
	upstream, err := p.fetch(ctx)
	if err == nil {
		err = p.finishEarlier(ctx, upstream)
	}
	if err != nil {
		return false, err
	}
	head := p.refs[p.branch]
	goal, summary, err := p.findGoal(ctx, head, upstream)
	if err != nil || p.out.HasFindings {
		return false, err
	}
	if head == upstream {
		if len(p.out.Done) == 0 {
			p.say("Nothing to do: %s and %s are the same.", wording.Printable(short(p.branch)), p.remoteName())
		}
		return false, p.forgetMove(ctx)
	}
	if goal != head {
		if err := p.checkMove(ctx, head, goal); err != nil {
			return false, err
		}
	}
	if goal == upstream {
		return p.take(ctx, head, goal, summary)
	}
	again, err = p.send(ctx, Push{Remote: p.remote, Local: p.branch, Ref: p.target, Old: upstream, New: goal}, head, summary)
	if err != nil || again || p.out.HasFindings || p.out.Refused != "" {
		return again, err
	}
	return p.move(ctx, head, goal)
}

// take moves the branch from head to the remote's branch, where there is nothing to push.
func (p *publishing) take(ctx context.Context, head, goal, summary string) (again bool, err error) {
	if err := p.rememberMove(ctx, head, goal); err != nil {
		return false, err
	}
	if again, err = p.move(ctx, head, goal); err == nil && !again {
		p.say("%s", summary)
	}
	return again, err
}

// send judges a push and pushes, unless the judgement has findings. head is the branch's tip.
func (p *publishing) send(ctx context.Context, push Push, head, summary string) (lost bool, err error) {
	clean, err := p.opts.JudgePush(ctx, push)
	if p.out.HasFindings = err == nil && !clean; err != nil || !clean {
		return false, err
	}
	if err := p.rememberMove(ctx, head, push.New); err != nil {
		return false, err
	}
	lost, err = p.push(ctx, push, summary)
	if err == nil && p.out.Refused != "" {
		err = p.forgetMove(ctx)
	}
	return lost, err
}

// lock takes the lock that only one sync in a work tree can hold. The kernel frees it when the process ends, however it ends.
func (p *publishing) lock() (unlock func() error, err error) {
	dir := filepath.Join(p.git.gitDir, ownDir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, errCannotWrite(err)
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

// ownDir is the name of the program's own directory in the git directory.
const ownDir = "small-gate"

// say adds a line to the outcome, unless the line is there: after a lost race the same steps are done again.
func (p *publishing) say(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); line != "" && !slices.Contains(p.out.Done, line) {
		p.out.Done = append(p.out.Done, line)
	}
}

// tracking returns the remote-tracking ref of the remote's branch.
func (p *publishing) tracking() string { return "refs/remotes/" + p.remote + "/" + short(p.target) }

// remoteName names the remote's branch in messages.
func (p *publishing) remoteName() string { return wording.Printable(p.remote + "/" + short(p.target)) }

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
