package publish

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
)

// end brings back what was set aside after a push.
func (p *publishing) end(ctx context.Context) error {
	if err := p.bringBack(ctx); err != nil {
		return err
	}
	return p.forget()
}

// giveUp takes everything back after what did not end in a push, and says so.
func (p *publishing) giveUp(ctx context.Context, cause error) (*Outcome, error) {
	p.out.Done = nil
	moved := p.noted
	if err := p.takeBack(ctx); err != nil {
		f := *failure.Of(err)
		f.Message = "taking everything back failed: " + f.Message
		if cause != nil {
			f.Message = failure.Of(cause).Message + "; and " + f.Message
		}
		f.Err = errors.Join(cause, err)
		return nil, &f
	}
	if cause != nil && moved {
		f := *failure.Of(cause)
		f.Message, f.Err = f.Message+". Nothing was pushed; the branch and the work tree are as before", cause
		return nil, &f
	}
	if cause != nil {
		return nil, cause
	}
	p.say("Nothing was pushed. The branch and the work tree are as before.")
	return &p.out, nil
}

// abort takes an interrupted sync back.
func (p *publishing) abort(ctx context.Context) error {
	head, err := p.git.id(ctx, "refs/heads/"+short(p.state.Branch))
	if err != nil {
		return err
	}
	if err := p.takeBack(ctx); err != nil {
		return err
	}
	now, err := p.git.id(ctx, "HEAD")
	if err != nil {
		return err
	}
	if now == head {
		p.say("The branch and the work tree are as before.")
	} else {
		p.say("The branch and the work tree are as before. The branch was at %s; to have it so again: git reset --keep %s", head, head)
	}
	return nil
}

// takeBack puts branch and work tree where they were. What the remote has already stays.
func (p *publishing) takeBack(ctx context.Context) error {
	if !p.noted {
		return nil
	}
	command, err := p.own(ctx)
	if err != nil {
		return err
	}
	if err := p.undo(ctx, command); err != nil {
		return err
	}
	head, err := p.git.id(ctx, "HEAD")
	if err != nil {
		return err
	}
	published, err := p.isPublished(ctx)
	if err != nil {
		return err
	}
	if head != p.state.Tip && !published {
		if _, err := p.git.run(ctx, "reset", "-q", "--keep", p.state.Tip); err != nil {
			return err
		}
	}
	if err := p.bringBack(ctx); err != nil {
		return err
	}
	return p.forget()
}

// undo undoes what git has not finished.
func (p *publishing) undo(ctx context.Context, command string) error {
	var err error
	switch command {
	case "rebase", "merge":
		_, err = p.git.run(ctx, command, "--abort")
	case "cherry-pick": // of what was set aside, which is kept
		_, err = p.git.run(ctx, "reset", "-q", "--hard", "--no-recurse-submodules")
	}
	return err
}

// isPublished reports whether the remote is known to have HEAD.
func (p *publishing) isPublished(ctx context.Context) (bool, error) {
	tracked, err := p.git.id(ctx, p.tracking())
	if err != nil || tracked == "" {
		return false, err
	}
	return p.git.holds(ctx, "merge-base", "--is-ancestor", "HEAD", tracked)
}

// takeUp finishes what an interrupted sync has begun, so that it can go on from there.
func (p *publishing) takeUp(ctx context.Context) error {
	command, err := p.own(ctx)
	if err != nil || command == "" {
		return err
	}
	if err := p.finish(ctx); err != nil {
		return err
	}
	p.state.Conflicts = nil
	return p.note()
}

// own is what git has not finished here, which has to be what the sync has begun, on its branch.
func (p *publishing) own(ctx context.Context) (string, error) {
	command, err := p.git.underWay()
	if err != nil {
		return "", err
	}
	branch := ""
	if command == "rebase" {
		data, err := os.ReadFile(filepath.Join(p.git.gitDir, "rebase-merge", "head-name"))
		if err != nil {
			return "", &failure.Error{Message: "a rebase is under way, which this sync has not begun: " + err.Error(), Remedy: "finish it: " + finishing[command], Err: err}
		}
		branch = strings.TrimSpace(string(data))
	} else if branch, err = p.currentBranch(ctx); err != nil {
		return "", err
	}
	if branch != p.state.Branch {
		return "", &failure.Error{
			Message: "the interrupted sync is that of " + wording.Printable(short(p.state.Branch)) + ", and this is " + wording.Printable(short(branch)),
			Remedy:  "`git switch " + wording.ShellWord(short(p.state.Branch)) + "`, then `small-hook sync --continue`. To take it back there: small-hook sync --abort",
		}
	}
	return command, nil
}
