package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// readRefs reads the branch, its remote-tracking branch, and the refs of an earlier sync.
func (p *publishing) readRefs(ctx context.Context) error {
	args := []string{"for-each-ref", "--format=%(refname) %(objectname)", ownRefs}
	if p.branch != "" {
		args = append(args, p.branch)
	}
	if p.remote != "" {
		args = append(args, p.tracking())
	}
	out, err := p.git.run(ctx, args...)
	p.refs = map[string]string{}
	for line := range strings.Lines(out) {
		ref, id, _ := strings.Cut(trimLine(line), " ")
		p.refs[ref] = id
	}
	return err
}

// fetch fetches the remote's branch. It returns the branch's commit, or nothing if the remote has no such branch.
func (p *publishing) fetch(ctx context.Context) (string, error) {
	done, err := p.git.runRetryingLocks(ctx, "", "-c", "maintenance.auto=false", "-c", "gc.auto=0", "fetch", "-q", "--no-write-fetch-head", "--no-recurse-submodules", "--no-tags",
		p.remote, "+"+p.target+":"+p.tracking())
	if err != nil {
		return "", err
	}
	if done.Status != 0 {
		if there, err := p.askRemote(ctx); err != nil || there == "" {
			return "", errors.Join(err, p.readRefs(ctx))
		}
		if p.git.isDiskFull() {
			return "", p.git.errFailed([]string{"fetch"}, done)
		}
		return "", &failure.Error{
			Message: fmt.Sprintf("cannot fetch %s: %s", p.remoteName(), gitcmd.OneLine(done.Stderr)),
			Remedy:  "see what git says: `git fetch --prune " + wording.ShellWord(p.remote) + "`, then try again: " + p.git.again,
		}
	}
	err = p.readRefs(ctx)
	return p.refs[p.tracking()], err
}

// askRemote asks the remote for the commit of its branch. The commit is empty if there is no such branch.
func (p *publishing) askRemote(ctx context.Context) (string, error) {
	done, err := p.git.Run(ctx, nil, "ls-remote", p.remote, p.target)
	if err != nil {
		return "", err
	}
	if done.Status != 0 {
		return "", &failure.Error{
			Message: fmt.Sprintf("cannot reach the remote %s: %s", wording.Printable(p.remote), gitcmd.OneLine(done.Stderr)),
			Remedy:  "see why: `git ls-remote " + wording.ShellWord(p.remote) + "`; then try again: " + p.git.again,
		}
	}
	for line := range strings.Lines(string(done.Out)) {
		if id, ref, _ := strings.Cut(trimLine(line), "\t"); ref == p.target { // git also lists refs that only end in this name
			return id, nil
		}
	}
	return "", nil
}

// push pushes, with the user's hooks. If git fails, push asks the remote where its branch is, because git's messages differ from server to server.
// lost is true if the branch has moved meanwhile. summary is the line for the outcome that says what was put on top of what.
func (p *publishing) push(ctx context.Context, push Push, summary string) (lost bool, err error) {
	what := p.remoteName() + ", which is new"
	if push.Old != "" {
		n, err := p.count(ctx, push.Old+".."+push.New)
		if err != nil {
			return false, err
		}
		what = wording.Count(n, "commit") + " to " + p.remoteName()
	}
	p.attempted = push.New
	pushed, err := p.git.Run(ctx, nil, "push", "--porcelain", "--no-follow-tags", push.Remote, push.New+":"+push.Ref)
	p.out.Said = pushed.Stderr
	if err != nil || pushed.Status != 0 {
		remoteHas, askErr := p.askRemote(context.WithoutCancel(ctx))
		if askErr != nil {
			return false, errors.Join(err, askErr)
		}
		p.attempted = ""
		switch {
		case remoteHas == push.New:
			p.pushed = push.New
		case err == nil && remoteHas == push.Old:
			return false, p.noteRefusal(pushed)
		}
		if err != nil || remoteHas != push.New {
			return err == nil, err
		}
	}
	p.pushed = push.New
	p.say("%s", summary)
	p.say("Pushed %s.", what)
	if push.Old != "" || p.hasUpstream {
		return false, nil
	}
	p.hasUpstream = true
	for key, value := range map[string]string{"remote": p.remote, "merge": p.target} {
		if _, err := p.git.run(ctx, "config", "branch."+short(p.branch)+"."+key, value); err != nil {
			return false, err
		}
	}
	return false, nil
}

// count counts commits.
func (p *publishing) count(ctx context.Context, args ...string) (n int, err error) {
	out, err := p.git.run(ctx, append([]string{"rev-list", "--count"}, args...)...)
	if err == nil {
		if _, err = fmt.Sscan(out, &n); err != nil {
			err = &failure.Error{Message: fmt.Sprintf("git rev-list --count printed %q", wording.Clip(out)), Err: err}
		}
	}
	return n, err
}

// noteRefusal notes in the outcome that a hook or the remote refused the push. If git failed for another reason, that is an error. git ends with
// status 1 and names no ref if the pre-push hook has failed.
func (p *publishing) noteRefusal(done gitcmd.Result) error {
	rejected := rejections(string(done.Out))
	who := p.remoteName()
	switch lock := lockName().FindStringSubmatch(done.Stderr); {
	case lock != nil:
		return p.errLocked(lock[1], done)
	case rejected == "" && done.Status == 1 && !strings.Contains(string(done.Out), "!\t"):
		who = "the pre-push hook"
	case rejected == "":
		return p.git.errFailed([]string{"push"}, done)
	}
	p.out.Said = ""
	p.out.Refused = who + " refused:\n" + strings.TrimSpace(done.Stderr+"\n"+rejected)
	return nil
}

// errLocked returns the failure of a push because of a lock file, on this machine or on the server.
func (p *publishing) errLocked(lock string, done gitcmd.Result) error {
	if _, err := os.Lstat(lock); err == nil {
		return p.git.errFailed([]string{"push"}, done)
	}
	return &failure.Error{
		Message: p.remoteName() + " is locked by another push, or by one that was killed: " + wording.Printable(lock) + " exists there",
		Remedy:  "try again: " + p.git.again + "; if the file stays, have it removed on the server",
	}
}

// rejections takes the lines for rejected refs from what git push --porcelain prints.
func rejections(porcelain string) string {
	var lines []string
	for line := range strings.Lines(porcelain) {
		if rest, ok := strings.CutPrefix(line, "!\t"); ok && strings.Contains(rest, "rejected]") { // [rejected] or [remote rejected]
			lines = append(lines, strings.TrimSpace(strings.ReplaceAll(rest, "\t", " ")))
		}
	}
	return strings.Join(lines, "\n")
}
