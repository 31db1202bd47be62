package publish

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// join brings the branch and the remote's together: forward where only the remote has something new, else with the own commits on top.
func (p *publishing) join(ctx context.Context, upstream string) error {
	bases, err := p.git.try(ctx, "merge-base", "HEAD", upstream)
	if err != nil {
		return err
	}
	behind, err := p.git.count(ctx, "HEAD.."+upstream)
	if err != nil {
		return err
	}
	own, err := p.git.count(ctx, upstream+"..HEAD")
	switch {
	case err != nil:
		return err
	case bases.status != 0:
		return &failure.Error{
			Message: "this branch and " + p.target() + " have no commit in common",
			Remedy:  "is it the right remote? If they are to be one: `git merge --allow-unrelated-histories " + wording.ShellWord(p.tracking()) + "`, then `small-hook sync`",
		}
	case behind == 0:
		return nil
	case own == 0:
		if err := p.note(); err != nil {
			return err
		}
		if _, err := p.git.run(ctx, "merge", "-q", "--ff-only", "--no-autostash", upstream); err != nil {
			return err
		}
		p.say("Took %s of %s.", wording.Count(behind, "new commit"), p.target())
		return nil
	}
	if !p.judged {
		clean, err := p.opts.JudgeOwn(ctx, strings.TrimSpace(bases.out), "HEAD", upstream)
		if p.out.Found = err == nil && !clean; err != nil || !clean {
			return err
		}
		p.judged = true
	}
	if err := p.note(); err != nil {
		return err
	}
	rebase, err := p.mayRebase(ctx, upstream, own)
	if err != nil {
		return err
	}
	if rebase {
		err = p.rebase(ctx, upstream)
	} else {
		err = p.merge(ctx, upstream)
	}
	if err == nil && p.out.Refused == "" {
		p.say("Put %s on top of %s of %s.", wording.Count(own, "own commit"), wording.Count(behind, "new commit"), p.target())
	}
	return err
}

// mayRebase reports whether the own commits may be rewritten: none is published, none is a merge, and git would stop where a log has to
// be reconciled. A merge is reconciled in any case.
func (p *publishing) mayRebase(ctx context.Context, upstream string, own int) (bool, error) {
	plain, err := p.git.count(ctx, "--no-merges", upstream+"..HEAD", "--not", "--remotes")
	if err != nil || plain != own || p.state.Merge {
		return false, err
	}
	byLines, err := p.mergedByLines(ctx)
	return !byLines, err
}

// rebase puts the own commits on top. What the user's configuration would add to a rebase is off: it would move other branches, or
// reorder commits.
func (p *publishing) rebase(ctx context.Context, upstream string) error {
	p.from = ""
	done, err := p.bring(ctx, "-c", "rebase.updateRefs=false", "-c", "rebase.rebaseMerges=false", "rebase", "-q",
		"--merge", "--no-autostash", "--no-autosquash", "--no-fork-point", "--empty=drop", upstream)
	return p.goOn(ctx, "rebase", done, err)
}

// merge merges the remote's branch. It is committed only when it is reconciled, also where git sees no conflict.
func (p *publishing) merge(ctx context.Context, upstream string) error {
	done, err := p.bring(ctx, "merge", "-q", "--no-commit", "--no-ff", "--no-squash", "--no-autostash",
		"-m", "Merge "+p.state.Remote+"/"+short(p.state.Target), upstream)
	return p.goOn(ctx, "merge", done, err)
}

// goOn goes on after git has begun a rebase or a merge.
func (p *publishing) goOn(ctx context.Context, command string, done result, err error) error {
	if err != nil {
		return err
	}
	under, err := p.git.underWay()
	if err == nil && under == "" && done.status != 0 {
		err = p.refusal(command, done)
	}
	if err != nil || p.out.Refused != "" {
		return err
	}
	return p.finish(ctx)
}

// finish brings the rebase, merge or cherry-pick that is under way to its end. It stops where a person has to decide.
func (p *publishing) finish(ctx context.Context) error {
	for {
		command, err := p.git.underWay()
		if err != nil || command == "" {
			return err
		}
		if err := p.resolve(ctx); err != nil {
			return err
		}
		if command == "cherry-pick" {
			return p.unstage(ctx)
		}
		before, err := p.progress(ctx)
		if err != nil {
			return err
		}
		args := []string{"commit", "-q"}
		if command == "rebase" {
			args = []string{"rebase", "--continue"}
		}
		done, err := p.bring(ctx, args...)
		if err != nil {
			return err
		}
		if after, err := p.progress(ctx); err != nil || after == before {
			return errorsOr(err, p.refused(ctx, args[0], done))
		}
	}
}

// refused notes that a hook has refused a commit. One in which a conflict was resolved by hand is not thrown away for that.
func (p *publishing) refused(ctx context.Context, command string, done result) error {
	if len(p.state.Conflicts) > 0 {
		return p.stop(ctx, p.git.failed([]string{command}, done))
	}
	return p.refusal(command, done)
}

// progress says how far git has come: if it is the same after a command, that has done nothing.
func (p *publishing) progress(ctx context.Context) (string, error) {
	head, err := p.git.id(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	left, err := os.ReadFile(filepath.Join(p.git.gitDir, "rebase-merge", "git-rebase-todo"))
	if errors.Is(err, fs.ErrNotExist) {
		return head, nil
	}
	if err != nil {
		return "", &failure.Error{Message: "cannot read how far the rebase has come: " + err.Error(), Err: err}
	}
	return head + "\n" + string(left), nil
}

// resolve reconciles the workspaces, and stops if anything is still in conflict.
func (p *publishing) resolve(ctx context.Context) error {
	if err := p.refuseMarkers(); err != nil {
		return p.stop(ctx, err)
	}
	out, err := p.opts.Reconcile(ctx)
	if err != nil {
		return p.stop(ctx, err)
	}
	for _, file := range out.Merged {
		for _, note := range file.Notes {
			p.say("%s: %s", file.Path, note)
		}
	}
	conflicts := slices.Concat(out.Conflicts, out.Elsewhere)
	if len(conflicts) == 0 {
		return nil
	}
	p.state.Conflicts = conflicts
	return p.stop(ctx, &failure.Error{Message: list(conflicts) + " is in conflict with " + p.target(), Remedy: "edit it so that both sides' work is in it, then type " + add(conflicts)})
}

// stop is the end of what can be done without a person. Nothing is taken back.
func (p *publishing) stop(ctx context.Context, err error) error {
	f := *failure.Of(err)
	if errors.Is(err, context.Canceled) {
		return err
	}
	p.stopped, p.state.Stopped = true, true
	f.Message = "sync has stopped: " + f.Message
	if err := p.leave(ctx); err != nil {
		return errors.Join(&f, err)
	}
	if f.Remedy != "" {
		f.Remedy += "; then "
	}
	f.Remedy += "`small-hook sync --continue`. To "
	if p.state.Pushed {
		f.Remedy += "keep your uncommitted changes as a stash instead: small-hook sync --abort"
	} else {
		f.Remedy += "take everything back instead: small-hook sync --abort"
	}
	if err := p.note(); err != nil {
		return errors.Join(&f, err)
	}
	return &f
}

// refuseMarkers refuses to go on while a file that somebody was asked to resolve has conflict markers. Below .small reconcile looks itself.
func (p *publishing) refuseMarkers() error {
	marked, err := p.marked(slices.DeleteFunc(slices.Clone(p.state.Conflicts), isBelowSmall))
	if err != nil || len(marked) == 0 {
		return err
	}
	return &failure.Error{
		Message: list(marked) + " has conflict markers",
		Remedy:  "edit it so that both sides' work is in it and no marker is left, then type " + add(marked),
	}
}

// marked are those of some files that have conflict markers. One that was removed has none.
func (p *publishing) marked(paths []string) (marked []string, err error) {
	for _, path := range paths {
		data, err := os.ReadFile(filepath.Join(p.git.top, filepath.FromSlash(path)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &failure.Error{Message: "cannot read " + wording.Printable(path) + ": " + err.Error(), Err: err}
		}
		if small.HasConflictMarkers(data, small.MarkerSize) {
			marked = append(marked, path)
		}
	}
	return marked, nil
}

func isBelowSmall(path string) bool {
	_, _, ok := small.SplitPath(path)
	return ok
}
