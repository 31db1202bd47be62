package publish

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// snapshot makes a commit of the work tree's files that git knows, in conflict or not, and leaves the index alone.
func (p *publishing) snapshot(ctx context.Context, message string, parents ...string) (string, error) {
	index, err := p.git.run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}
	file := filepath.Join(p.git.gitDir, ownDir, "index")
	data, err := os.ReadFile(index)
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return "", &failure.Error{Message: "cannot copy the index: " + err.Error(), Err: err}
	}
	apart := *p.git
	apart.environ = slices.Concat(p.git.environ, []string{"GIT_INDEX_FILE=" + file})
	if _, err := apart.run(ctx, "add", "-u", "--", ":/"); err != nil {
		return "", errors.Join(err, removed(file))
	}
	tree, err := apart.run(ctx, "write-tree")
	if err := errors.Join(err, removed(file)); err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-m", message, tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return p.git.run(ctx, args...)
}

// store keeps a snapshot as a stash, which git's garbage collection spares and git stash list shows, and returns the stash's commit. What
// it is compared with is the snapshot's first parent.
func (p *publishing) store(ctx context.Context, snapshot string) (string, error) {
	const message = "small-hook sync: what was written meanwhile"
	index, err := p.git.run(ctx, "commit-tree", "-m", message, "-p", snapshot+"^1", snapshot+"^1^{tree}")
	if err != nil {
		return "", err
	}
	stash, err := p.git.run(ctx, "commit-tree", "-m", message, "-p", snapshot+"^1", "-p", index, snapshot+"^{tree}")
	if err != nil {
		return "", err
	}
	_, err = p.git.run(ctx, "stash", "store", "-m", message, stash)
	return stash, err
}

// leave notes how the work tree is left to a person.
func (p *publishing) leave(ctx context.Context) error {
	parents := []string{"HEAD"}
	if n := len(p.state.Meanwhile); n > 0 {
		parents = append(parents, p.state.Meanwhile[n-1]) // so that git's garbage collection keeps it, too
	}
	var err error
	if p.state.Left, err = p.snapshot(ctx, "small-hook sync: where it stopped", parents...); err != nil {
		return err
	}
	if p.state.LeftAt, err = p.progress(ctx); err != nil {
		return err
	}
	_, err = p.git.run(ctx, "update-ref", leftRef, p.state.Left)
	return err
}

// keepMeanwhile keeps what was written since an earlier sync stopped or was killed, before anything is overwritten. Entries that were
// recorded meanwhile come back into the log by themselves.
func (p *publishing) keepMeanwhile(ctx context.Context) error {
	at, err := p.progress(ctx)
	if err != nil {
		return err
	}
	if !p.state.Stopped || p.state.Left == "" || at != p.state.LeftAt {
		return p.keepFound(ctx)
	}
	kept, err := p.snapshot(ctx, "small-hook sync: what was written since it stopped", p.state.Left)
	if err != nil {
		return err
	}
	changed, err := p.git.paths(ctx, "diff-tree", "-r", "--name-only", "--no-renames", "-z", p.state.Left, kept)
	if err != nil || len(changed) == 0 {
		return err
	}
	p.state.Meanwhile = append(p.state.Meanwhile, kept)
	if err := p.note(); err != nil {
		return err
	}
	if _, err := p.git.run(ctx, "update-ref", leftRef, kept); err != nil {
		return err
	}
	if changed = slices.DeleteFunc(changed, isLog); len(changed) > 0 {
		p.kept, p.keptPaths = kept, changed
	}
	if p.opts.Abort {
		return nil
	}
	// What goes on is what was left: the entries are not part of the commit that is made.
	return p.eachMeanwhile(ctx, kept, func(path string, _, _ []byte) error {
		_, err := p.git.run(ctx, "restore", "--source="+p.state.Left, "--staged", "--worktree", "--", ":(top,literal)"+path)
		return err
	})
}

func isLog(name string) bool {
	_, _, ok := small.SplitPath(name)
	return ok && path.Base(name) == small.Progress.FileName()
}

// eachMeanwhile calls do with each log in which entries were recorded while sync was stopped.
func (p *publishing) eachMeanwhile(ctx context.Context, kept string, do func(path string, before, after []byte) error) error {
	changed, err := p.git.paths(ctx, "diff-tree", "-r", "--name-only", "--no-renames", "--diff-filter=M", "-z", kept+"^", kept)
	if err != nil {
		return err
	}
	for _, path := range changed {
		if !isLog(path) {
			continue
		}
		var texts [2][]byte
		for i, commit := range []string{kept + "^", kept} {
			done, err := p.git.try(ctx, "cat-file", "blob", commit+":"+path)
			if err != nil {
				return err
			}
			if done.status != 0 {
				return p.git.failed([]string{"cat-file"}, done)
			}
			texts[i] = []byte(done.out)
		}
		if p.opts.Continues(texts[0], texts[1]) {
			if err := do(path, texts[0], texts[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringMeanwhile appends entries that were recorded while sync was stopped to the logs as they are now.
func (p *publishing) bringMeanwhile(ctx context.Context) error {
	for _, kept := range p.state.Meanwhile {
		err := p.eachMeanwhile(ctx, kept, func(path string, before, after []byte) error {
			n, err := p.opts.Bring(ctx, path, before, after)
			if err == nil && n > 0 {
				p.say("%s: kept %s, recorded since the stop and not committed.", wording.Printable(path), wording.Count(n, "new entry"))
			}
			if err != nil {
				cause := failure.Of(err).Message
				if kept, err = p.store(ctx, kept); err != nil {
					return err
				}
				p.say("%s: what was recorded since the stop is not put back: %s. It is kept as a stash; to see it: git stash show -p %s", wording.Printable(path), cause, kept)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	p.state.Meanwhile = nil
	return nil
}

// removeScratch removes what a git that was killed in a merge has left beside the files.
func (p *publishing) removeScratch(ctx context.Context) error {
	paths, err := p.git.paths(ctx, "ls-files", "-z", "--others", "--", ":(top,glob).merge_file_??????")
	if err != nil {
		return err
	}
	for _, path := range paths {
		if strings.Contains(path, "/") {
			continue
		}
		if err := os.Remove(filepath.Join(p.git.top, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &failure.Error{Message: "cannot remove what git has left: " + err.Error(), Err: err}
		}
	}
	return nil
}
