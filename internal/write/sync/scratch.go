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
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/rewrite"
)

// scratchDirs returns the directory of the scratch work tree, and the directory in which git keeps its HEAD and index. Each work tree has one scratch
// work tree at most, because a sync holds the lock.
func (p *publishing) scratchDirs() (tree, admin string) {
	sum := sha256.Sum256([]byte(p.git.gitDir))
	name := "small-gate-" + hex.EncodeToString(sum[:6])
	return filepath.Join(p.git.gitDir, ownDir, name), filepath.Join(p.opts.Place.CommonDir, "worktrees", name)
}

// removeScratch removes the scratch work tree, also one that a killed sync left.
func (p *publishing) removeScratch() error {
	tree, admin := p.scratchDirs()
	for _, dir := range []string{tree, admin} {
		if err := os.RemoveAll(dir); err != nil {
			return errCannotWrite(err)
		}
	}
	return nil
}

// scratchOptions are options for git in the scratch work tree: no hooks, no signatures, none of the user's settings for work trees.
var scratchOptions = []string{
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false", "-c", "index.sparse=false",
	"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.splitIndex=false", "-c", "rerere.enabled=false",
	"-c", "commit.gpgSign=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
}

// scratchGit returns the git for the scratch work tree.
func (p *publishing) scratchGit() *commandLine {
	at := *p.git
	at.Dir, at.gitDir = p.scratchDirs()
	at.Options = scratchOptions
	at.Environ = append(gitcmd.Working(p.opts.Environ, gitcmd.Locating...),
		"GIT_AUTHOR_NAME=small-gate", "GIT_AUTHOR_EMAIL=small-gate", "GIT_COMMITTER_NAME=small-gate", "GIT_COMMITTER_EMAIL=small-gate")
	return &at
}

// mergeCode has git pick commits onto the commit b.onto, in a scratch work tree where no file is checked out. base is the parent of the first commit. For
// a merge, base is the merge base, and the only commit is the branch's tip: what the tip has changed since base is picked as one commit. files are the
// workspaces' files of base and of each commit, ontoFiles those of b.onto: git does not merge them. It returns the trees of b.onto and of each new commit
// without these files. command is the git command that a person would type instead: rebase or merge.
func (b *building) mergeCode(ctx context.Context, base string, commits []string, files []reconcile.Files, ontoFiles reconcile.Files, command string) ([]string, error) {
	git := b.scratchGit()
	if _, err := b.git.run(ctx, append(slices.Clone(scratchOptions), "worktree", "add", "-q", "--detach", "--no-checkout", git.Dir, b.onto)...); err != nil {
		return nil, err
	}
	err := os.MkdirAll(filepath.Join(git.gitDir, "info"), 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(git.gitDir, "info", "sparse-checkout"), []byte("/.small-gate-nothing\n"), 0o666)
	}
	if err != nil {
		return nil, errCannotWrite(err)
	}
	onto, own, err := b.stripFiles(ctx, base, commits, files, ontoFiles)
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
			err = git.errFailed(pick, done)
		}
		if err != nil {
			return nil, err
		}
		return nil, b.errByHand(ctx, &failure.Error{Message: listPaths(paths) + " is in conflict with " + b.remoteName()}, command, paths...)
	}
	out, err := git.run(ctx, "log", "--reverse", "--format=%T", "--no-show-signature")
	trees := strings.Fields(out)
	if err == nil && len(trees) != len(commits)+1 {
		err = &failure.Error{Message: "git cherry-pick has not made all the commits"}
	}
	return trees, err
}

// stripFiles makes commits from onto, base and each of some commits, without the workspaces' files. Those of onto and base have no parent; those of
// the commits, own, are a chain on top of base's.
func (b *building) stripFiles(ctx context.Context, base string, commits []string, files []reconcile.Files, ontoFiles reconcile.Files) (onto string, own []string, err error) {
	err = b.withObjects(func(objects *rewrite.Objects) error {
		strip := func(id string, files reconcile.Files, parents ...string) (string, error) {
			var gone []history.File
			for path := range files {
				gone = append(gone, history.File{Path: path})
			}
			return objects.Make(ctx, rewrite.Commit{Tree: b.commits[id].Tree, Parents: parents, Author: rewrite.Nobody, Committer: rewrite.Nobody}, gone)
		}
		if onto, err = strip(b.onto, ontoFiles); err != nil {
			return err
		}
		last, err := strip(base, files[0])
		for i := 0; i < len(commits) && err == nil; i++ {
			last, err = strip(commits[i], files[i+1], last)
			own = append(own, last)
		}
		return err
	})
	return onto, own, err
}
