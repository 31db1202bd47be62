package plain

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// Repo is an open repository. It is safe for concurrent use. Close it when it is no longer needed.
//
// If a method returns an error, its other results mean nothing. The error is a *failure.Error, or wraps the error of a context that ended. Revisions are
// full ids or history.Index; only Resolve takes git's other names.
type Repo struct {
	githistory.Place

	env     program.Environ
	config  config // git's, from the repository's own file
	objects *store
	head    githistory.Branch // HEAD when the repository was opened
	headErr error             // why HEAD cannot be read

	index atomic.Pointer[indexTrees] // as it was last read

	mu      sync.Mutex // guards the following
	commits map[string]*commit
}

var _ history.History = (*Repo)(nil)

// Open finds the repository of a directory as git does: from git's environment variables, or else by walking up. An empty dir is the
// current directory; relative paths in git's variables refer to it. A nil environ means the process's own.
//
// The error has githistory.ErrNotRepository in its chain if there is no repository, and ErrUnserved if it is not plain.
func Open(ctx context.Context, dir string, environ []string) (*Repo, error) {
	if environ == nil {
		environ = os.Environ()
	}
	here, err := githistory.Physical(dir)
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot open %s: %s", wording.Printable(cmp.Or(dir, "the current directory")), wording.Printable(err.Error())), Err: err}
	}
	r := &Repo{env: environ, commits: map[string]*commit{}}
	if r.Place, r.config, err = findPlain(here, r.env); err != nil {
		return nil, err
	}
	r.objects = &store{dir: r.CommonDir}
	r.objects.open()
	if err := cmp.Or(ctx.Err(), tuneGoGit()); err != nil {
		return nil, asFailure(githistory.CannotOpen(here), err)
	}
	r.head, r.headErr = r.refs().follow("HEAD")
	return r, nil
}

// Close closes the open files. The Repo cannot be used afterwards.
func (r *Repo) Close() error { return asFailure("the packs cannot be closed", r.objects.packs.Close()) }

// Reader returns this reader's name in a report.
func (r *Repo) Reader() string { return "go-git" }

// Blob reads an object as [githistory.Repo.Blob] does, but fetches nothing.
func (r *Repo) Blob(ctx context.Context, id string, limit int64) (history.Blob, error) {
	o, err := r.object(ctx, id, plumbing.BlobObject, limit)
	return history.Blob{Size: o.size, Data: o.data}, err
}

// Version returns the version of the library in the program, such as "5.19.3"; empty if that is unknown.
func (r *Repo) Version(context.Context) (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/go-git/go-git/v5" {
				return strings.TrimPrefix(dep.Version, "v"), nil
			}
		}
	}
	return "", nil
}

// Substitutes reports no replace refs and no grafts: a repository that has any is not plain.
func (r *Repo) Substitutes(context.Context) (replaceRefs, grafts bool, err error) { return }

// Partial returns false: a partial clone is not plain.
func (r *Repo) Partial(context.Context) (bool, error) { return false, nil }

// Signature reads a commit's author, date and message. For the index it returns the author that git would write, if git has passed GIT_AUTHOR_* to this
// hook; otherwise it refuses, because only git can tell.
func (r *Repo) Signature(ctx context.Context, revision string) (history.Signature, error) {
	if revision == history.Index {
		name, email := r.env.Get("GIT_AUTHOR_NAME"), r.env.Get("GIT_AUTHOR_EMAIL")
		if name == "" || email == "" {
			return history.Signature{}, unserved("only git can tell who the author of this commit will be")
		}
		return history.Signature{Name: name, Email: email}, nil
	}
	o, err := r.object(ctx, revision, plumbing.CommitObject, maxParsed)
	return githistory.ParseSignature(o.data), err
}
