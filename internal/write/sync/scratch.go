package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/rewrite"
)

// scratchPlace is the directory of the scratch work tree, and the one in which git keeps its HEAD and index. A work tree has only one at
// a time, since this sync holds the lock.
func (p *publishing) scratchPlace() (tree, admin string) {
	sum := sha256.Sum256([]byte(p.git.gitDir))
	name := "small-gate-" + hex.EncodeToString(sum[:6])
	return filepath.Join(p.git.gitDir, ownDir, name), filepath.Join(p.opts.Place.CommonDir, "worktrees", name)
}

// removeScratch removes the scratch work tree, even one that a killed sync left.
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
	"-c", "commit.gpgSign=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
}

// scratch is git in the scratch work tree.
func (p *publishing) scratch() *commandLine {
	at := *p.git
	at.Dir, at.gitDir = p.scratchPlace()
	at.Options = scratchOptions
	at.Environ = append(gitcmd.Working(p.opts.Environ, gitcmd.Locating...),
		"GIT_AUTHOR_NAME=small-gate", "GIT_AUTHOR_EMAIL=small-gate", "GIT_COMMITTER_NAME=small-gate", "GIT_COMMITTER_EMAIL=small-gate")
	return &at
}

// mergeCode has git put commits on top of onto, in a scratch work tree where no file is checked out. parent is the first commit's parent.
// files are the files of parent and of each commit that git must not merge, and upon those of onto. It returns the trees of onto and of
// each new commit, without these files. command is the git command that a person would use: rebase or merge.
func (b *building) mergeCode(ctx context.Context, parent string, commits []string, files []reconcile.Files, upon reconcile.Files, command string) ([]string, error) {
	git := b.scratch()
	if _, err := b.git.run(ctx, append(slices.Clone(scratchOptions), "worktree", "add", "-q", "--detach", "--no-checkout", git.Dir, b.onto)...); err != nil {
		return nil, err
	}
	err := os.MkdirAll(filepath.Join(git.gitDir, "info"), 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(git.gitDir, "info", "sparse-checkout"), []byte("/.small-gate-nothing\n"), 0o666)
	}
	if err != nil {
		return nil, cannotWrite(err)
	}
	onto, own, err := b.stripped(ctx, parent, commits, files, upon)
	if err != nil {
		return nil, err
	}
	if _, err := git.run(ctx, "reset", "-q", "--hard", onto); err != nil {
		return nil, err
	}
	pick := append([]string{"cherry-pick", "--allow-empty", "--allow-empty-message", "--keep-redundant-commits"}, own...)
	done, err := git.Run(ctx, nil, pick...)
	if err != nil {
		return nil, err
	}
	if done.Status != 0 {
		paths, err := git.unmerged(ctx)
		if err == nil && len(paths) == 0 {
			err = git.failed(pick, done)
		}
		if err != nil {
			return nil, err
		}
		return nil, b.byHand(ctx, &failure.Error{Message: list(paths) + " is in conflict with " + b.name()}, command, paths...)
	}
	out, err := git.run(ctx, "log", "--reverse", "--format=%T", "--no-show-signature")
	codes := strings.Fields(out)
	if err == nil && len(codes) != len(commits)+1 {
		err = &failure.Error{Message: "git cherry-pick has not made all the commits"}
	}
	return codes, err
}

// stripped makes commits with the trees of onto, of parent and of each commit, without files. The last ones, own, follow each other.
func (b *building) stripped(ctx context.Context, parent string, commits []string, files []reconcile.Files, upon reconcile.Files) (onto string, own []string, err error) {
	err = b.making(func(objects *rewrite.Objects) error {
		strip := func(id string, files reconcile.Files, parents ...string) (string, error) {
			var gone []history.File
			for path := range files {
				gone = append(gone, history.File{Path: path})
			}
			return objects.Make(ctx, rewrite.Commit{Tree: b.commits[id].Tree, Parents: parents, Author: rewrite.Nobody, Committer: rewrite.Nobody}, gone)
		}
		if onto, err = strip(b.onto, upon); err != nil {
			return err
		}
		last, err := strip(parent, files[0])
		for i := 0; i < len(commits) && err == nil; i++ {
			last, err = strip(commits[i], files[i+1], last)
			own = append(own, last)
		}
		return err
	})
	return onto, own, err
}
