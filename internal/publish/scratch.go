package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/reconcile"
)

// stripped is a commit without some files, and the places of its parents in a list of such. It is wanted if it is to be put on what is
// checked out.
type stripped struct {
	id      string
	parents []int
	files   reconcile.Files
	wanted  bool
}

// scratchPlace is the place of the scratch work tree of this work tree, and that of what git keeps about it. There is one at a time: the lock
// is held.
func (p *publishing) scratchPlace() (tree, admin string) {
	sum := sha256.Sum256([]byte(p.git.gitDir))
	name := "small-gate-" + hex.EncodeToString(sum[:6])
	return filepath.Join(p.git.gitDir, ownDir, name), filepath.Join(p.opts.Place.CommonDir, "worktrees", name)
}

// removeScratch removes the scratch work tree, also one that a sync has left which was killed.
func (p *publishing) removeScratch() error {
	tree, admin := p.scratchPlace()
	for _, dir := range []string{tree, admin} {
		if err := os.RemoveAll(dir); err != nil {
			return cannotWrite(err)
		}
	}
	return nil
}

// scratchOptions keep the user's hooks, signatures and settings for work trees out of the scratch work tree.
var scratchOptions = []string{
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false", "-c", "index.sparse=false",
	"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.splitIndex=false", "-c", "rerere.enabled=false",
	"-c", "commit.gpgSign=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "merge.ff=true",
	"-c", "advice.detachedHead=false",
}

// makeScratch makes the scratch work tree, at a commit, with no file checked out.
func (p *publishing) makeScratch(ctx context.Context, commit string) (*commandLine, error) {
	tree, admin := p.scratchPlace()
	at := *p.git
	at.Options = scratchOptions
	if _, err := at.run(ctx, "worktree", "add", "-q", "--detach", "--no-checkout", tree, commit); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(admin, "info"), 0o777); err != nil {
		return nil, cannotWrite(err)
	}
	if err := os.WriteFile(filepath.Join(admin, "info", "sparse-checkout"), []byte("/.small-gate-nothing\n"), 0o666); err != nil {
		return nil, cannotWrite(err)
	}
	const who = "small-gate <small-gate>"
	at.Dir, at.gitDir = tree, admin
	at.Environ = append(gitcmd.Working(p.opts.Environ, gitcmd.Locating...),
		"GIT_AUTHOR_NAME=small-gate", "GIT_AUTHOR_EMAIL=small-gate", "GIT_COMMITTER_NAME=small-gate", "GIT_COMMITTER_EMAIL=small-gate")
	return &at, nil
}

// mergeCode has git bring commits together, without the files that it must not merge. The last one is checked out, and the command is
// given those that are wanted. It returns the trees of what was checked out and of what was made of it, in order.
func (b *building) mergeCode(ctx context.Context, commits []stripped, command ...string) (trees []string, err error) {
	git, err := b.makeScratch(ctx, b.onto)
	if err != nil {
		return nil, err
	}
	b.scratch = git
	s := newStream("refs/worktree/small-gate/stripped")
	for _, c := range commits {
		var parents []string
		for _, at := range c.parents {
			parents = append(parents, s.marks[at])
		}
		s.commit(step{commit: commit{author: nobody}, parents: parents, code: b.commits[c.id].tree}, nobody)
		for path := range c.files {
			s.remove(path)
		}
	}
	ids, err := git.imports(ctx, s)
	if err != nil {
		return nil, err
	}
	here := ids[len(ids)-1]
	if _, err := git.run(ctx, "reset", "-q", "--hard", here); err != nil {
		return nil, err
	}
	args := slices.Clone(command)
	for i, c := range commits {
		if c.wanted {
			args = append(args, ids[i])
		}
	}
	done, err := result{}, error(nil)
	if len(args) > len(command) {
		done, err = git.try(ctx, args...)
	}
	if err != nil {
		return nil, err
	}
	if done.status != 0 {
		return nil, b.inConflict(ctx, git, command, done)
	}
	if command[0] == "merge" {
		out, err := git.run(ctx, "rev-parse", "HEAD^{tree}")
		return []string{out}, err
	}
	out, err := git.run(ctx, "log", "--reverse", "--format=%T", "--no-show-signature")
	return strings.Fields(out), err
}

// inConflict is the failure of a git that stopped in the scratch work tree: for a conflict, or because it could not go on.
func (b *building) inConflict(ctx context.Context, git *commandLine, command []string, done result) error {
	paths, err := git.unmerged(ctx)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return git.failed(command, done)
	}
	by := command[0]
	if by != "merge" {
		by = "rebase"
	}
	return b.byHand(ctx, &failure.Error{Message: list(paths) + " is in conflict with " + b.name()}, by, paths...)
}
