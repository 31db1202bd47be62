package entrypoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/githistory/embedded"
	"github.com/small-gate/small-gate/internal/reconcile"
)

// The readers of repositories, as --reader names them.
const (
	// ReaderAuto takes the embedded reader where it serves the repository and is
	// quicker, else the installed git. It is what an empty name means.
	ReaderAuto = "auto"
	// ReaderEmbedded reads the repository's files itself.
	ReaderEmbedded = "go-git"
	// ReaderGit drives the installed git.
	ReaderGit = "git"
)

// Readers are the names that --reader takes.
var Readers = []string{ReaderAuto, ReaderEmbedded, ReaderGit}

// repository is what the entry points need of a repository.
type repository interface {
	reconcile.Repository
	// CurrentBranch is the full name of the branch that HEAD names.
	CurrentBranch(ctx context.Context) (string, error)
	// Neighbours are the upstream branch and what other work trees have checked
	// out.
	Neighbours(ctx context.Context) ([]githistory.Neighbour, error)
	// HeadBranch is what the repository's own HEAD names.
	HeadBranch(ctx context.Context) (githistory.Branch, error)
	// DefaultBranch looks the default branch of a remote up.
	DefaultBranch(ctx context.Context, remote string) (githistory.Branch, error)
	// RemoteURL is where a remote leads to; empty without such a remote.
	RemoteURL(ctx context.Context, remote string) (string, error)
	// Tips are the commits at the tips of all refs below the prefixes.
	Tips(ctx context.Context, prefixes ...string) ([]string, error)
	// IsAncestor reports whether ancestor is commit or reachable from it.
	IsAncestor(ctx context.Context, ancestor, commit string) (bool, error)
	// Peel follows an object to a commit, if it leads to one.
	Peel(ctx context.Context, id string) (commit string, ok bool, err error)
	// Has reports whether an object is here, without fetching it.
	Has(ctx context.Context, id string) (bool, error)
	// ReplaceRefs and Grafts report what would have git show another history.
	ReplaceRefs(ctx context.Context) (bool, error)
	Grafts() (bool, error)
	// Reader names the reader, Version is that of what it reads with.
	Reader() string
	Version(ctx context.Context) (string, error)
	Close() error
}

// manyObjects is up to how many packed objects the embedded reader is quicker
// than starting git. It decodes every pack index, and follows what a range
// excludes to its beginning: a range of ten commits took 0.7 times git's
// processor time in a repository of 6,000 objects (1,000 commits), 2 times in one
// of 29,000 and 6 times in one of 136,000. The other modes look at one or two
// trees: 1 time at 29,000 and 2 times at 136,000.
func manyObjects(mode string) int64 {
	switch mode {
	case "range", "merge-check", "pre-push", "pre-receive", "push", "audit":
		return 10_000
	}
	return 25_000
}

// opened is a repository as it was opened for a judgement.
type opened struct {
	repo repository
	// why says why this reader was taken.
	why string
}

// read opens the request's repository and runs do on it. With auto, what the
// embedded reader turns out not to serve (do's error says so) is done again by
// git. name is that of the reader that had the last word, if any opened the
// repository. Of do's errors none is returned but where git would have to do it
// again and cannot: then err says why neither reader can.
func (r Request) read(ctx context.Context, mode string, do func(opened) error) (name string, err error) {
	switch r.Reader {
	case ReaderGit:
		repo, err := r.openGit(ctx)
		if err != nil {
			return "", err
		}
		return finish(opened{repo: repo, why: "--reader says so"}, do)
	case ReaderEmbedded:
		repo, err := embedded.Open(ctx, r.Dir, r.Environ)
		if err != nil {
			return "", err
		}
		return finish(opened{repo: repo, why: "--reader says so"}, do)
	case ReaderAuto, "":
		return r.readAuto(ctx, mode, do)
	}
	return "", &failure.Error{
		Message: fmt.Sprintf("there is no reader %q", r.Reader),
		Remedy:  "use --reader auto, go-git or git",
	}
}

// finish runs do on a repository and closes it.
func finish(o opened, do func(opened) error) (string, error) {
	do(o) //nolint:errcheck // whoever gave do has its error
	return o.repo.Reader(), o.repo.Close()
}

// readAuto is read where the reader is not named.
func (r Request) readAuto(ctx context.Context, mode string, do func(opened) error) (name string, err error) {
	own, err := embedded.Open(ctx, r.Dir, r.Environ)
	if errors.Is(err, githistory.ErrNotRepository) || ctx.Err() != nil {
		return "", err
	}
	if err == nil {
		if n := own.PackedObjects(); n > manyObjects(mode) {
			if repo, gitErr := r.openGit(ctx); gitErr == nil {
				why := fmt.Sprintf("the repository has about %d packed objects, and git is faster from %d on", n, manyObjects(mode))
				name, err = finish(opened{repo: repo, why: why}, do)
				return name, errors.Join(err, own.Close())
			}
		}
		err = do(opened{repo: own, why: "it serves this repository, and no other program has to be started"})
		closed := own.Close()
		if closed != nil || ctx.Err() != nil || !errors.Is(err, embedded.ErrUnserved) {
			return own.Reader(), closed
		}
		name = own.Reader()
	}
	repo, gitErr := r.openGit(ctx)
	if gitErr != nil {
		return name, neither(err, gitErr)
	}
	return finish(opened{repo: repo, why: "the embedded reader does not serve it: " + message(err)}, do)
}

func (r Request) openGit(ctx context.Context) (repository, error) {
	repo, err := githistory.Open(ctx, r.Dir, githistory.Options{Environ: r.Environ})
	if err != nil {
		return nil, err
	}
	return repo, nil
}

// neither is the failure where no reader can do it.
func neither(own, git error) error {
	f := &failure.Error{
		Message: fmt.Sprintf("%s; and git cannot do it instead: %s", message(own), message(git)),
		Err:     errors.Join(own, git),
	}
	if message(own) == message(git) {
		f.Message = message(own)
	}
	var failure *failure.Error
	if errors.As(git, &failure) {
		f.Remedy = failure.Remedy
	}
	if f.Remedy == "" {
		f.Remedy = "name a directory of a repository that can be read here"
	}
	return f
}

// message is what an error says, without what to do about it.
func message(err error) string { return failure.Of(err).Message }
