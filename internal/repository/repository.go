// Package repository opens a git repository with the reader that suits it: the embedded one, or the installed git.
package repository

import (
	"context"
	"errors"
	"fmt"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/githistory/embedded"
)

// The readers, as --reader names them. An empty name means Auto.
const (
	// Auto takes Embedded where that serves the repository and is quicker, else Git.
	Auto     = "auto"
	Embedded = "go-git"
	Git      = "git"
)

// Readers are the names that --reader takes.
var Readers = []string{Auto, Embedded, Git}

// Repository is an open repository, whichever reader reads it.
type Repository interface {
	history.History
	githistory.Refs
	// Resolve turns the name of a revision into a commit's full id.
	Resolve(ctx context.Context, name string) (string, error)
	// Peel follows an object to a commit, empty if it leads to none; here is false if the object is not in the repository.
	Peel(ctx context.Context, id string) (commit string, here bool, err error)
	// IsAncestor reports whether ancestor is commit or reachable from it.
	IsAncestor(ctx context.Context, ancestor, commit string) (bool, error)
	// Sparse lists those of some paths of the index that are kept out of the work tree (git-sparse-checkout(1)).
	Sparse(ctx context.Context, paths []string) ([]string, error)
	// Neighbours are the upstream branch and what other work trees have checked out.
	Neighbours(ctx context.Context) ([]githistory.Neighbour, error)
	// RemoteURL is where a remote leads to; empty without such a remote.
	RemoteURL(ctx context.Context, remote string) (string, error)
	// Substitutes reports what would have git show another history.
	Substitutes(ctx context.Context) (replaceRefs, grafts bool, err error)
	// Reader is the reader's name, and Version that of what it reads with.
	Reader() string
	Version(ctx context.Context) (string, error)
	Close() error
}

// Source says which repository to open, and how.
type Source struct {
	// Dir is a directory in it; empty means the current one.
	Dir     string
	Environ []string
	// Reader is one of Readers, or empty.
	Reader string
	// Mode is the name of the command, which says how much will be read.
	Mode string
}

// manyObjects is up to how many packed objects the embedded reader walks through history. A range of ten commits takes it 0.8 times
// git's processor time where all ways down from it lead to one commit, however long the history is; else it follows the history to its
// beginning, which takes 1.1 times git's in one of 10,000 commits (44,000 objects), and 1.9 times in one of 50,000. An audit takes a
// third of git's time where there are 2 GB of logs in 44,000 objects, 0.8 times in 200,000 objects with small logs and more than git's
// in 800,000, and more memory in both of these.
const manyObjects = 100_000

// walks reports whether a mode walks through history. The others look at one or two trees, which takes the embedded reader the same
// time in a repository of any size.
func walks(mode string) bool {
	switch mode {
	case "range", "merge-check", "sync", "pre-push", "pre-receive", "push", "audit":
		return true
	}
	return false
}

// Do runs do on the repository, and tells it why this reader was taken. If the embedded reader turns out not to serve what is asked
// (do's error says so), Auto has do run again with git. Do returns the name of the last reader, if any opened the repository, and
// the last error of do; where git would have to take over and cannot, an error that says why neither reader can.
func (s Source) Do(ctx context.Context, do func(repo Repository, why string) error) (reader string, err error) {
	switch s.Reader {
	case Git:
		repo, err := s.openGit(ctx)
		if err != nil {
			return "", err
		}
		return finish(repo, do(repo, named))
	case Embedded:
		repo, err := embedded.Open(ctx, s.Dir, s.Environ)
		if err != nil {
			return "", err
		}
		return finish(repo, do(repo, named))
	case Auto, "":
		return s.auto(ctx, do)
	}
	return "", &failure.Error{
		Message: fmt.Sprintf("there is no reader %q", s.Reader),
		Remedy:  "use --reader auto, go-git or git",
	}
}

const named = "--reader says so"

func finish(repo Repository, err error) (string, error) {
	return repo.Reader(), errors.Join(err, repo.Close())
}

func (s Source) auto(ctx context.Context, do func(repo Repository, why string) error) (reader string, err error) {
	own, err := embedded.Open(ctx, s.Dir, s.Environ)
	if errors.Is(err, githistory.ErrNotRepository) || ctx.Err() != nil {
		return "", err
	}
	if err == nil {
		if n := own.PackedObjects(); walks(s.Mode) && n > manyObjects {
			if repo, gitErr := s.openGit(ctx); gitErr == nil {
				why := fmt.Sprintf("the repository has about %d packed objects, and git is faster from %d on", n, manyObjects)
				reader, err = finish(repo, do(repo, why))
				return reader, errors.Join(err, own.Close())
			}
		}
		err = do(own, "it serves this repository, and no other program has to be started")
		closed := own.Close()
		reader = own.Reader()
		if closed != nil || ctx.Err() != nil || !errors.Is(err, embedded.ErrUnserved) {
			return reader, errors.Join(err, closed)
		}
	}
	repo, gitErr := s.openGit(ctx)
	if gitErr != nil {
		return reader, neither(err, gitErr)
	}
	return finish(repo, do(repo, "the embedded reader does not serve it: "+failure.Of(err).Message))
}

func (s Source) openGit(ctx context.Context) (Repository, error) {
	repo, err := githistory.Open(ctx, s.Dir, githistory.Options{Environ: s.Environ})
	if err != nil {
		return nil, err // and not a nil of that type
	}
	return repo, nil
}

// neither is the failure where no reader can do it.
func neither(own, git error) error {
	first, second := failure.Of(own).Message, failure.Of(git)
	f := &failure.Error{Message: first, Remedy: second.Remedy, Err: errors.Join(own, git)}
	if second.Message != first {
		f.Message += "; and git cannot do it instead: " + second.Message
	}
	if f.Remedy == "" {
		f.Remedy = "name a directory of a repository that can be read here"
	}
	return f
}
