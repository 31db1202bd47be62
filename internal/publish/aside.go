package publish

import (
	"context"

	"github.com/small-gate/small-gate/internal/failure"
)

// setAside puts uncommitted changes below .small out of the way, as a commit of the form that git stash makes. Other uncommitted
// changes are refused.
func (p *publishing) setAside(ctx context.Context) error {
	inside, outside, err := p.dirty(ctx)
	switch {
	case err != nil:
		return err
	case len(outside) > 0:
		return &failure.Error{
			Message: "there are uncommitted changes: " + list(outside),
			Remedy: "commit them, or put them away: `git stash push -- :/ ':(top,exclude,glob)**/.small/**'`, then `small-hook sync`, then " +
				"`git stash pop`",
		}
	case len(inside) == 0:
		return nil
	case p.state.Aside != "":
		return p.stop(ctx, &failure.Error{
			Message: "there are new uncommitted changes: " + list(inside) + "; others are set aside already",
			Remedy:  "commit them: `git commit -q -a -m Record`",
		})
	}
	if marked, err := p.marked(inside); err != nil || len(marked) > 0 {
		return errorsOr(err, &failure.Error{
			Message: list(marked) + " has conflict markers", Remedy: "`small-hook reconcile`, then `small-hook sync`",
		})
	}
	if p.state.Aside, err = p.git.run(ctx, "stash", "create", "small-hook sync: uncommitted changes"); err != nil {
		return err
	}
	if err := p.note(); err != nil {
		return err
	}
	if _, err := p.git.run(ctx, "update-ref", asideRef, p.state.Aside); err != nil {
		return err
	}
	_, err = p.git.run(ctx, "reset", "-q", "--hard", "--no-recurse-submodules")
	return err
}

// bringBack puts what was set aside back into the work tree, which is as HEAD is: exactly, where it was taken from, else merged with
// what is there now.
func (p *publishing) bringBack(ctx context.Context) error {
	if p.state.Aside == "" {
		return nil
	}
	before, err := p.git.id(ctx, p.state.Aside+"^1")
	if err != nil {
		return err
	}
	head, err := p.git.id(ctx, "HEAD")
	if err != nil {
		return err
	}
	p.say("Uncommitted changes below .small are kept, and are not pushed.")
	if head == before {
		_, err = p.git.run(ctx, "stash", "apply", "-q", "--index", p.state.Aside)
		return err
	}
	picked, err := p.git.run(ctx, "commit-tree", "-m", "uncommitted changes", "-p", before, p.state.Aside+"^{tree}")
	if err != nil {
		return err
	}
	done, err := p.bring(ctx, "cherry-pick", "--no-commit", picked)
	if err != nil {
		return err
	}
	if done.status != 0 {
		if paths, err := p.git.unmerged(ctx); err != nil || len(paths) == 0 {
			return errorsOr(err, p.git.failed([]string{"cherry-pick"}, done))
		}
	}
	// It is told to reconcile as what it is: one's own commit that is applied.
	if _, err := p.git.run(ctx, "update-ref", "CHERRY_PICK_HEAD", picked); err != nil {
		return err
	}
	return p.finish(ctx)
}

// unstage leaves what is in the index uncommitted. CHERRY_PICK_HEAD goes, too.
func (p *publishing) unstage(ctx context.Context) error {
	_, err := p.git.run(ctx, "reset", "-q", "--no-recurse-submodules")
	return err
}

func errorsOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
