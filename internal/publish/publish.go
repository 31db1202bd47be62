package publish

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/wording"
)

// Options are what to publish, and how.
type Options struct {
	// Remote and Branch say where to; empty for what the current branch follows, or else origin and its own name.
	Remote, Branch string
	// Merge has it merge even what could be rebased.
	Merge bool
	// Continue and Abort take up, or take back, what an earlier sync has begun.
	Continue, Abort bool
	Place           githistory.Place
	Environ         []string
	// Continues reports whether a log is another one with new entries after it. Bring appends what a log has and base lacks to the log
	// in the work tree, and returns how many entries that are.
	Continues func(base, log []byte) bool
	Bring     func(ctx context.Context, path string, base, log []byte) (int, error)
	// Reconcile resolves the workspaces' files in the rebase, merge or cherry-pick that is under way.
	Reconcile func(ctx context.Context) (*reconcile.Outcome, error)
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
	opts  Options
	git   *commandLine
	state state
	// noted is true while the state is written down.
	noted bool
	// stopped is true if this run ends with a person having to resolve something: then nothing is taken back.
	stopped bool
	// kept is a commit of what somebody has written in the work tree, keptPaths say where; found says where it is kept, once the work
	// tree is overwritten.
	kept, found string
	keptPaths   []string
	// unasked is why the remote could not be asked whether it has what was pushed.
	unasked error
	// judged is true once the own commits were judged as they are.
	judged bool
	// from is the commit to which a lost race takes an unpublished merge back.
	from string
	// follows is true if the branch has an upstream.
	follows bool
	out     Outcome
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
	interrupted, err := p.load(ctx)
	switch {
	case err != nil:
		return nil, err
	case interrupted && !opts.Continue && !opts.Abort:
		message := "an earlier sync of " + wording.Printable(short(p.state.Branch)) + " was interrupted"
		if len(p.state.Conflicts) > 0 {
			message += ", with a conflict in " + list(p.state.Conflicts)
		}
		return nil, &failure.Error{
			Message: message,
			Remedy:  "go on with it: `small-hook sync --continue`. To take it back: small-hook sync --abort",
		}
	case !interrupted && (opts.Continue || opts.Abort):
		return nil, &failure.Error{Message: "no sync is under way here", Remedy: "begin one: `small-hook sync`"}
	}
	defer func() {
		if p.found == "" {
			return
		}
		p.out.Done = append([]string{p.found}, p.out.Done...)
	}()
	if opts.Abort {
		return &p.out, p.abort(ctx)
	}
	err = p.work(ctx)
	if p.stopped {
		return &p.out, err
	}
	ctx = context.WithoutCancel(ctx)
	halfway := ""
	if p.noted {
		command, failed := p.git.underWay()
		halfway, err = command, errors.Join(err, failed)
	}
	if err != nil || halfway != "" {
		return &p.out, p.giveUp(ctx, halfway, err)
	}
	return &p.out, p.end(ctx)
}

// work does all up to the push.
func (p *publishing) work(ctx context.Context) error {
	if p.opts.Continue {
		if err := p.takeUp(ctx); err != nil || p.out.Refused != "" {
			return err
		}
	}
	if err := p.begin(ctx); err != nil {
		return err
	}
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
		Message: fmt.Sprintf("%s has moved on %d times while this was pushed", p.target(), attempts),
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

// attempt fetches, puts the own commits on top, judges and pushes. lost is true if somebody else has pushed meanwhile.
func (p *publishing) attempt(ctx context.Context) (lost bool, err error) {
	upstream, err := p.fetch(ctx)
	if err != nil {
		return false, err
	}
	if upstream != "" {
		if err := p.join(ctx, upstream); err != nil || p.out.Found || p.out.Refused != "" {
			return false, err
		}
	}
	head, err := p.git.id(ctx, "HEAD")
	if err != nil {
		return false, err
	}
	if head == upstream {
		if len(p.out.Done) == 0 {
			p.say("Nothing to do: %s and %s are the same.", wording.Printable(short(p.state.Branch)), p.target())
		}
		return false, nil
	}
	push := Push{Remote: p.state.Remote, Local: p.state.Branch, Ref: p.state.Target, Old: upstream, New: head}
	clean, err := p.opts.JudgePush(ctx, push)
	if p.out.Found = err == nil && !clean; err != nil || !clean {
		return false, err
	}
	if lost, err = p.push(ctx, push); err != nil || !lost {
		return false, err
	}
	if p.from != "" {
		_, err = p.git.run(ctx, "reset", "-q", "--keep", p.from)
	}
	return true, err
}

// fetch looks where the remote's branch is and brings its commits; empty if there is no such branch.
func (p *publishing) fetch(ctx context.Context) (string, error) {
	there, err := p.lookUp(ctx)
	if err != nil || there == "" {
		return "", err
	}
	tracked, err := p.git.id(ctx, p.tracking())
	if err != nil || tracked == there {
		return tracked, err
	}
	done, err := p.git.try(ctx, "fetch", "-q", "--no-write-fetch-head", "--no-recurse-submodules", p.state.Remote, "+"+p.state.Target+":"+p.tracking())
	if err != nil {
		return "", err
	}
	if done.status != 0 {
		return "", &failure.Error{
			Message: fmt.Sprintf("cannot fetch %s: %s", p.target(), oneLine(done.stderr)),
			Remedy:  fmt.Sprintf("see what git says: `git fetch --prune %s`, then try again: `small-hook sync`", wording.ShellWord(p.state.Remote)),
		}
	}
	return p.git.id(ctx, p.tracking())
}

// lookUp asks the remote where its branch is; empty if there is none.
func (p *publishing) lookUp(ctx context.Context) (string, error) {
	done, err := p.git.try(ctx, "ls-remote", p.state.Remote, p.state.Target)
	if err != nil {
		return "", err
	}
	if done.status != 0 {
		return "", &failure.Error{
			Message: fmt.Sprintf("cannot reach the remote %s: %s", wording.Printable(p.state.Remote), oneLine(done.stderr)),
			Remedy:  fmt.Sprintf("see why: `git ls-remote %s`; then try again: `small-hook sync`", wording.ShellWord(p.state.Remote)),
		}
	}
	for line := range strings.Lines(done.out) {
		id, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ref == p.state.Target { // git also lists refs that end so
			return id, nil
		}
	}
	return "", nil
}

// push pushes. lost is true if the remote's branch has moved meanwhile: the remote is asked, since what git says about that differs
// from server to server.
func (p *publishing) push(ctx context.Context, push Push) (lost bool, err error) {
	args := []string{"push", "--porcelain", "--no-follow-tags"}
	if push.Old == "" && !p.follows {
		args = append(args, "--set-upstream")
	}
	what := p.target() + ", which is new"
	if push.Old != "" {
		n, err := p.git.count(ctx, push.Old+".."+push.New)
		if err != nil {
			return false, err
		}
		what = wording.Count(n, "commit") + " to " + p.target()
	}
	if err := p.pushing(push.New, false); err != nil {
		return false, err
	}
	done, err := p.git.hooked(ctx, append(args, push.Remote, push.Local+":"+push.Ref)...)
	if err != nil {
		p.out.Said = done.stderr
		return false, err
	}
	if done.status != 0 {
		there, err := p.lookUp(ctx)
		if err != nil {
			return false, err
		}
		if there != push.New {
			if err := p.pushing("", false); err != nil || there != push.Old {
				return true, err
			}
			return false, p.refusal("push", done)
		}
	}
	p.out.Said = done.stderr
	p.say("Pushed %s.", what)
	return false, p.pushing(push.New, true)
}

// pushing notes which commit is pushed, and whether the remote is known to have it.
func (p *publishing) pushing(commit string, arrived bool) error {
	p.state.Pushing, p.state.Pushed = commit, arrived
	if !p.noted {
		return nil
	}
	return p.note()
}

// refusal notes that git did not do it because a hook or the remote said no. Anything else is an error.
func (p *publishing) refusal(command string, done result) error {
	rejected := rejections(done.out)
	who := p.target()
	switch {
	case done.hook != "":
		who = "the " + wording.Printable(done.hook) + " hook"
	case rejected == "":
		return p.git.failed([]string{command}, done)
	}
	p.out.Refused = who + " refused:\n" + strings.TrimSpace(done.stderr+"\n"+rejected)
	return nil
}

// rejections are the lines of git push --porcelain for refs that were not updated.
func rejections(porcelain string) string {
	var lines []string
	for line := range strings.Lines(porcelain) {
		if rest, ok := strings.CutPrefix(line, "!\t"); ok && strings.Contains(rest, "rejected]") { // [rejected] or [remote rejected]
			lines = append(lines, strings.TrimSpace(strings.ReplaceAll(rest, "\t", " ")))
		}
	}
	return strings.Join(lines, "\n")
}

// say adds a line to what was done. What is done again after a lost race is said once.
func (p *publishing) say(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(p.out.Done, line) {
		p.out.Done = append(p.out.Done, line)
	}
}

// tracking is the ref in which git keeps the remote's branch.
func (p *publishing) tracking() string {
	return "refs/remotes/" + p.state.Remote + "/" + short(p.state.Target)
}

// target is the remote's branch, for messages.
func (p *publishing) target() string {
	return wording.Printable(p.state.Remote + "/" + short(p.state.Target))
}

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
