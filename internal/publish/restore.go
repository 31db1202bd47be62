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
)

// reset makes branch, index and work tree as a commit is, whatever git has left half done.
func (p *publishing) reset(ctx context.Context, to string) error {
	command, err := p.git.underWay()
	if err != nil {
		return err
	}
	// HEAD first: killed in between, it is not detached.
	if _, err := p.git.run(ctx, "symbolic-ref", "HEAD", p.state.Branch); err != nil {
		return err
	}
	if command == "rebase" {
		if _, err := p.git.run(ctx, "rebase", "--quit"); err != nil {
			return err
		}
	}
	written, err := p.written(ctx)
	if err != nil {
		return err
	}
	if _, err := p.git.run(ctx, "reset", "-q", "--hard", "--no-recurse-submodules", to); err != nil {
		return err
	}
	for _, commit := range written {
		if err := p.removeLeftovers(ctx, to, commit); err != nil {
			return err
		}
	}
	return p.removeScratch(ctx)
}

// written are the commits whose files git may have written here.
func (p *publishing) written(ctx context.Context) ([]string, error) {
	var commits []string
	for _, revision := range []string{"HEAD", p.tracking(), p.state.Tip, p.state.Aside} {
		if revision == "" {
			continue
		}
		id, err := p.git.id(ctx, revision)
		if err != nil {
			return nil, err
		}
		if id != "" && !slices.Contains(commits, id) {
			commits = append(commits, id)
		}
	}
	return commits, nil
}

// removeLeftovers removes files that a commit adds to what is checked out: a git that was killed has written them and not listed them
// in the index. A file with other content is somebody's own.
func (p *publishing) removeLeftovers(ctx context.Context, here, commit string) error {
	added, err := p.git.paths(ctx, "diff-tree", "-r", "--name-only", "--no-renames", "--diff-filter=A", "-z", here, commit)
	if err != nil {
		return err
	}
	for _, path := range added {
		name := filepath.Join(p.git.top, filepath.FromSlash(path))
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return &failure.Error{Message: "cannot look at what git has left: " + err.Error(), Err: err}
		}
		now, err := p.git.run(ctx, "hash-object", "--path="+path, "--", name)
		if err != nil {
			return err
		}
		then, err := p.git.run(ctx, "rev-parse", commit+":"+path)
		if err != nil {
			return err
		}
		if now != then {
			continue
		}
		if err := os.Remove(name); err != nil {
			return &failure.Error{Message: "cannot remove what git has left: " + err.Error(), Err: err}
		}
	}
	return nil
}

// keepFound keeps the changes in the work tree that are of none of the commits that git may have written, before they are overwritten:
// somebody may have gone on working after a crash.
func (p *publishing) keepFound(ctx context.Context) error {
	inside, outside, err := p.dirty(ctx)
	if err != nil {
		return err
	}
	unknown := slices.Concat(inside, outside)
	commits, err := p.written(ctx)
	if err != nil {
		return err
	}
	for _, commit := range commits {
		differ, err := p.git.paths(ctx, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "-z", commit)
		if err != nil {
			return err
		}
		unknown = slices.DeleteFunc(unknown, func(path string) bool { return !slices.Contains(differ, path) })
	}
	if len(unknown) == 0 {
		return nil
	}
	p.kept, err = p.snapshot(ctx, "small-hook sync: what was found in the work tree", "HEAD")
	p.keptPaths = unknown
	return err
}

func trimmed(line string) string { return strings.TrimSuffix(line, "\n") }
