package publish

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
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
		return p.clear(ctx, inside)
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
	return p.clear(ctx, inside)
}

// clear makes the work tree as HEAD is, if nothing but what is set aside would be lost.
func (p *publishing) clear(ctx context.Context, dirty []string) error {
	differ, err := p.git.paths(ctx, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "-z", p.state.Aside)
	if err != nil {
		return err
	}
	lost := slices.DeleteFunc(slices.Clone(dirty), func(path string) bool { return !slices.Contains(differ, path) })
	if len(lost) > 0 {
		return &failure.Error{
			Message: list(lost) + " was changed after the sync was interrupted, which has set other uncommitted changes aside",
			Remedy:  "commit it: `git commit -m 'Record' -- " + words(lost) + "`, then `small-hook sync --continue`",
		}
	}
	_, err = p.git.run(ctx, "reset", "-q", "--hard", "--no-recurse-submodules")
	return err
}

func words(paths []string) (text string) {
	for i, path := range paths {
		if i > 0 {
			text += " "
		}
		text += wording.ShellWord(":(top,literal)" + path)
	}
	return text
}

// bringBack puts what was set aside back into the work tree: exactly, where it was taken from, else merged with what is there now.
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
	inside, outside, err := p.dirty(ctx)
	if err != nil {
		return err
	}
	if dirty := append(inside, outside...); len(dirty) > 0 {
		if err := p.clear(ctx, dirty); err != nil {
			return err
		}
	}
	if head == before {
		if _, err = p.git.run(ctx, "stash", "apply", "-q", "--index", p.state.Aside); err != nil {
			return err
		}
		return p.dropAside(ctx)
	}
	picked, err := p.git.run(ctx, "commit-tree", "-m", "uncommitted changes", "-p", before, p.state.Aside+"^{tree}")
	if err != nil {
		return err
	}
	done, err := p.git.try(ctx, "cherry-pick", "--no-commit", picked)
	if err != nil {
		return err
	}
	if done.status == 0 {
		return p.unstage(ctx)
	}
	if paths, err := p.git.unmerged(ctx); err != nil || len(paths) == 0 {
		return errorsOr(err, p.git.failed([]string{"cherry-pick"}, done))
	}
	// It is told to reconcile as what it is: one's own commit that is applied.
	if _, err := p.git.run(ctx, "update-ref", "CHERRY_PICK_HEAD", picked); err != nil {
		return err
	}
	return p.finish(ctx)
}

// unstage leaves what is in the index uncommitted, and ends the bringing back.
func (p *publishing) unstage(ctx context.Context) error {
	if _, err := p.git.run(ctx, "reset", "-q", "--no-recurse-submodules"); err != nil { // CHERRY_PICK_HEAD goes, too
		return err
	}
	return p.dropAside(ctx)
}

func (p *publishing) dropAside(ctx context.Context) error {
	p.say("Uncommitted changes below .small are kept, and are not pushed.")
	p.state.Aside = ""
	if err := p.note(); err != nil {
		return err
	}
	_, err := p.git.run(ctx, "update-ref", "-d", asideRef)
	return err
}

func errorsOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
