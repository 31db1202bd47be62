package githistory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Neighbour is a commit with others' work that is already in this repository: the upstream of HEAD's branch, or the HEAD of another work tree.
type Neighbour struct {
	// Ref is the full name of the branch; empty for a detached HEAD.
	Ref string
	// Worktree is the path of the work tree that has the commit checked out, as git worktree list prints it; empty for an upstream branch.
	Worktree string
	ID       string // of the commit
}

// Neighbours returns the upstream of the checked-out branch, if there is one and it was fetched, and then the other work trees that exist and
// have commits, sorted by path. It leaves out other local branches, because many are abandoned.
func (r *Repo) Neighbours(ctx context.Context) ([]Neighbour, error) {
	var out []Neighbour
	upstream, err := r.findUpstream(ctx)
	if err != nil {
		return nil, r.toFailure("cannot look up the upstream branch", err)
	}
	if upstream.ID != "" {
		out = append(out, upstream)
	}
	trees, err := r.otherWorktrees(ctx)
	if err != nil {
		return nil, r.toFailure("cannot list the work trees", err)
	}
	return append(out, trees...), nil
}

// findUpstream looks up the upstream of HEAD's branch. It lists only the branches at HEAD's commit: they are few, and HEAD's branch is one of them.
func (r *Repo) findUpstream(ctx context.Context) (Neighbour, error) {
	head, err := r.Head(ctx)
	if err != nil || head == "" {
		return Neighbour{}, err
	}
	out, err := r.git.Output(ctx, nil, "for-each-ref", "--points-at="+head, "--format=%(HEAD) %(upstream)", "refs/heads/")
	if err != nil {
		return Neighbour{}, err
	}
	for line := range strings.Lines(string(out)) {
		name, isCurrent := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "* ")
		if !isCurrent || name == "" {
			continue
		}
		refs, err := r.lookUpRefs(ctx, name)
		return Neighbour{Ref: name, ID: refs[name].ID}, err
	}
	return Neighbour{}, nil
}

// otherWorktrees lists the other work trees of the repository that exist and have commits. git lists the main one first.
func (r *Repo) otherWorktrees(ctx context.Context) ([]Neighbour, error) {
	out, err := r.git.Output(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var trees []Neighbour
	for i, record := range strings.Split(strings.TrimSuffix(string(out), "\x00\x00"), "\x00\x00") {
		var tree Neighbour
		bare := false
		for field := range strings.SplitSeq(record, "\x00") {
			key, value, _ := strings.Cut(field, " ")
			switch key {
			case "worktree":
				tree.Worktree = filepath.FromSlash(value)
			case "HEAD":
				tree.ID = value
			case "branch":
				tree.Ref = value
			case "bare":
				bare = true
			}
		}
		isOwn := i == 0 && r.GitDir == r.CommonDir || SameDirectory(tree.Worktree, r.Top)
		// A deleted work tree stays listed until git worktree prune.
		if bare || isOwn || !MayExist(filepath.Join(tree.Worktree, ".git")) {
			continue
		}
		if strings.Trim(tree.ID, "0") == "" {
			// There are no commits yet, or the ref is broken.
			if _, err := r.lookUpRefs(ctx, tree.Ref); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.format.Check(tree.ID); err != nil {
			return nil, fmt.Errorf("git worktree list printed %q", wording.Printable(record))
		}
		trees = append(trees, tree)
	}
	slices.SortFunc(trees, func(a, b Neighbour) int { return strings.Compare(a.Worktree, b.Worktree) })
	return trees, nil
}

// DotGits maps the git directories of a repository's work trees to their .git (gitrepository-layout(5), worktrees). In the main work tree .git is the
// git directory itself. A work tree that was deleted stays listed until git worktree prune.
func DotGits(commonDir string) (map[string]string, error) {
	entries, err := os.ReadDir(filepath.Join(commonDir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dotGits := map[string]string{commonDir: commonDir}
	for _, entry := range entries {
		dir := filepath.Join(commonDir, "worktrees", entry.Name())
		path, err := os.ReadFile(filepath.Join(dir, "gitdir"))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // git skips such a work tree too, and a file there
		case err != nil:
			return nil, err
		default:
			dotGits[dir] = Within(dir, strings.TrimRight(string(path), "\r\n"))
		}
	}
	return dotGits, nil
}

// SameDirectory reports whether two paths lead to one directory. It is true for equal paths even if they do not exist.
func SameDirectory(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	there, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(there, other)
}
