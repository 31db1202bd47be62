// Package repository opens a git repository with one of two readers: go-git or the installed git.
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
	// ListIndex lists all files of the index. Later answers about the index may come from this list: the index does not change while a hook runs.
	ListIndex(ctx context.Context) ([]history.File, error)
	// Sparse lists those of some paths of the index that a sparse checkout leaves out of the work tree (git-sparse-checkout(1)).
	Sparse(ctx context.Context, paths []string) ([]string, error)
	// Marks lists the files on disk that a filter selects and that git was told not to compare with the index.
	Marks(ctx context.Context, f history.Filter) ([]githistory.Mark, error)
	// Neighbours lists the upstream branch and the commits that are checked out in other work trees.
	Neighbours(ctx context.Context) ([]githistory.Neighbour, error)
	// RemoteURL returns the URL of a remote; empty if there is no such remote.
	RemoteURL(ctx context.Context, remote string) (string, error)
	// FetchSpecs returns the refspecs by which the remotes are fetched.
	FetchSpecs(ctx context.Context) ([]string, error)
	// Substitutes reports whether the repository has replace refs or grafts, with which git would show another history.
	Substitutes(ctx context.Context) (replaceRefs, grafts bool, err error)
	// Partial reports whether the clone lacks objects that its remote has (partial clone).
	Partial(ctx context.Context) (bool, error)
	// Reader returns the reader's name, and Version the version of git or of the library.
	Reader() string
	Version(ctx context.Context) (string, error)
	Close() error
}

// Source says which repository to open, and how.
type Source struct {
	// Dir is a directory of the repository; empty means the current one.
	Dir     string
	Environ []string
	// Reader is one of Readers, or empty.
	Reader string
	// Mode is the name of the command, which determines how much will be read.
	Mode string
}

// walks reports whether a mode may walk far through history, for which git takes half the time and half the memory. Other modes read few
// commits: for a push of five commits, go-git takes a third of the time, because git would be started fourteen times.
func walks(mode string) bool {
	switch mode {
	case "range", "merge-check", "sync", "pre-receive", "push", "audit", "log":
		return true
	}
	return false
}

// Unserved returns f as an error if it says that the go-git reader does not support something, so that [Source.Do] lets git take over; else nil.
func Unserved(f *failure.Error) error {
	if f != nil && errors.Is(f, plain.ErrUnserved) {
		return f
	}
	return nil
}

// Do runs do on the repository; why says why this reader was chosen. If do's error says that the go-git reader does not support something, Auto
// runs do again with git. Do returns the name of the last reader that opened the repository, and the last error of do. If git has to take over and
// cannot, the error says why neither reader can.
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
		if why, small := own.IsSmallEnough(); !small {
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

// neither returns the failure for a repository that no reader can read.
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
