// Package repository opens a git repository with the reader that suits it: go-git's, or the installed git.
package repository

import (
	"context"
	"errors"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/plain"
)

// The readers, as --reader names them. An empty name means Auto.
const (
	// Auto chooses Embedded for hooks in small, plain repositories, and otherwise Git if it is installed.
	Auto     = "auto"
	Embedded = "go-git"
	Git      = "git"
)

// Readers are the values of --reader.
var Readers = []string{Auto, Embedded, Git}

// Repository is an open repository, with either reader.
type Repository interface {
	history.History
	githistory.Refs
	// Resolve turns the name of a revision into a commit's full id.
	Resolve(ctx context.Context, name string) (string, error)
	// Peel follows an object to a commit, empty if it leads to none; here is false if the object is not in the repository.
	Peel(ctx context.Context, id string) (commit string, here bool, err error)
	// IsAncestor reports whether ancestor is commit or reachable from it.
	IsAncestor(ctx context.Context, ancestor, commit string) (bool, error)
	// HoldIndex lists all files of the index, of which later answers may be made: it does not change while a hook runs.
	HoldIndex(ctx context.Context) ([]history.File, error)
	// Sparse lists those of some paths of the index that are kept out of the work tree (git-sparse-checkout(1)).
	Sparse(ctx context.Context, paths []string) ([]string, error)
	// Marks lists the files that a filter means and that git was told not to compare with the work tree, if they are on disk.
	Marks(ctx context.Context, f history.Filter) ([]githistory.Mark, error)
	// Neighbours are the upstream branch and what is checked out in other work trees.
	Neighbours(ctx context.Context) ([]githistory.Neighbour, error)
	// RemoteURL is the URL of a remote; empty without such a remote.
	RemoteURL(ctx context.Context, remote string) (string, error)
	// Substitutes reports what would make git show another history.
	Substitutes(ctx context.Context) (replaceRefs, grafts bool, err error)
	// Partial reports whether the clone lacks objects that its remote has (partial clone).
	Partial(ctx context.Context) (bool, error)
	// Reader is the reader's name, and Version the version of its git or library.
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
	// Mode is the name of the command, which determines how much will be read.
	Mode string
}

// walks reports whether a mode may walk far through history, for which git takes half the time and half the memory. Hooks in a clone read
// few commits: for a push of five, the go-git reader needs a third of the time, since git would run fourteen times.
func walks(mode string) bool {
	switch mode {
	case "range", "merge-check", "sync", "pre-receive", "push", "audit", "log":
		return true
	}
	return false
}

// Unserved is an error that says that the go-git reader does not support what was asked, for [Source.Do]; nil if f says something else.
func Unserved(f *failure.Error) error {
	if f != nil && errors.Is(f, plain.ErrUnserved) {
		return f
	}
	return nil
}

// Do runs do on the repository, and tells it why this reader was chosen. If the go-git reader does not support what is asked (do's error
// says so), Auto runs do again with git. Do returns the name of the last reader, if one opened the repository, and the last error of do; if
// git would have to take over and cannot, the error says why neither reader can.
func (s Source) Do(ctx context.Context, do func(repo Repository, why string) error) (reader string, err error) {
	switch s.Reader {
	case Git:
		repo, err := s.openGit(ctx)
		if err != nil {
			return "", err
		}
		return finish(repo, do(repo, named))
	case Embedded:
		repo, err := plain.Open(ctx, s.Dir, s.Environ)
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
	if walks(s.Mode) {
		if repo, err := s.openGit(ctx); err == nil {
			return finish(repo, do(repo, "git walks through history faster"))
		}
	}
	own, err := plain.Open(ctx, s.Dir, s.Environ)
	if errors.Is(err, githistory.ErrNotRepository) || ctx.Err() != nil {
		return "", err
	}
	if err == nil {
		if why, small := own.Small(); !small {
			if repo, gitErr := s.openGit(ctx); gitErr == nil {
				reader, err = finish(repo, do(repo, why))
				return reader, errors.Join(err, own.Close())
			}
		}
		err = do(own, "it serves this repository, and no other program has to be started")
		closed := own.Close()
		reader = own.Reader()
		if closed != nil || ctx.Err() != nil || !errors.Is(err, plain.ErrUnserved) {
			return reader, errors.Join(err, closed)
		}
	}
	repo, gitErr := s.openGit(ctx)
	if gitErr != nil {
		return reader, neither(err, gitErr)
	}
	return finish(repo, do(repo, failure.Of(err).Message))
}

func (s Source) openGit(ctx context.Context) (Repository, error) {
	repo, err := githistory.Open(ctx, s.Dir, githistory.Options{Environ: s.Environ})
	if err != nil {
		return nil, err // and not a nil of that type
	}
	return repo, nil
}

// neither is the failure if no reader can do it.
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
