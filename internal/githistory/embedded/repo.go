package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
)

// Repo is an open repository. It is safe for concurrent use. Close must be
// called when it is no longer needed.
//
// The errors of its methods mean that the question could not be answered. They
// are *failure.Error values with what to type next, or wrap the error of a
// context that ended.
type Repo struct {
	githistory.Place

	env       gitcmd.Environ
	base      string // of relative paths in git's variables
	ownConfig bool   // the work tree has a configuration of its own
	objects   *store
	boundary  map[plumbing.Hash]bool // commits whose parents the clone hides
	head      string                 // HEAD's commit when the repository was opened
	headErr   error

	mu      sync.Mutex // guards what follows
	commits map[plumbing.Hash]*commit
	trees   map[plumbing.Hash][]treeEntry // the last ones: neighbours in history share most
	room    int                           // how many more entries trees may hold
}

var _ history.History = (*Repo)(nil)

// Open finds the repository of a directory as git does: from git's environment
// variables, or else by walking up. An empty dir is the current directory;
// relative paths in git's variables count from it. A nil environ means the
// process's own.
//
// The error has githistory.ErrNotRepository in its chain if there is no
// repository, and ErrUnserved if there is one that this reader does not serve.
func Open(ctx context.Context, dir string, variables []string) (*Repo, error) {
	if err := alive(ctx, "opening the repository"); err != nil {
		return nil, err
	}
	if variables == nil {
		variables = os.Environ()
	}
	here, err := githistory.Physical(dir)
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot open %s: %s", wording.Printable(dir), wording.Printable(err.Error())), Err: err}
	}
	env := gitcmd.Environ(variables)
	s, err := locate(here, env)
	if err != nil {
		return nil, err
	}
	r := &Repo{Place: s.Place, env: env, base: s.base, ownConfig: s.layout.own}
	r.commits, r.trees, r.room = map[plumbing.Hash]*commit{}, map[plumbing.Hash][]treeEntry{}, maxEntries
	dirs, err := objectDirs(s, env)
	if err != nil {
		return nil, err
	}
	r.objects = newStore(dirs)
	if r.boundary, r.Shallow, err = readBoundary(s, env); err != nil {
		return nil, err
	}
	r.head, r.headErr = r.readHead()
	return r, nil
}

// Close closes the files that are open. The Repo is of no use after it.
func (r *Repo) Close() error {
	return cannot("the packs cannot be closed", r.objects.close())
}

// Reader names this reader in a report.
func (r *Repo) Reader() string { return "go-git" }

// Blob reads an object as [githistory.Repo.Blob] does, but fetches nothing.
func (r *Repo) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	id, err := parseID(object)
	if err != nil {
		return history.Blob{}, err
	}
	if err := alive(ctx, "reading an object"); err != nil {
		return history.Blob{}, err
	}
	o, err := r.object(id, plumbing.BlobObject, limit)
	if err != nil {
		return history.Blob{}, err
	}
	return history.Blob{Size: o.size, Data: o.data}, nil
}

func (r *Repo) object(id plumbing.Hash, kind plumbing.ObjectType, limit int64) (object, error) {
	o, err := r.objects.read(id, limit)
	if err != nil {
		return o, r.unreadable(id, err)
	}
	if o.kind != kind {
		return o, &failure.Error{Message: fmt.Sprintf("object %s is a %s, not a %s", id, o.kind, kind)}
	}
	return o, nil
}

// unreadable makes the failure for an object that cannot be read. git may be able
// to.
func (r *Repo) unreadable(id plumbing.Hash, err error) error {
	if errors.Is(err, githistory.ErrDamaged) {
		return githistory.Damaged(id.String()) // and git would not look
	}
	f := githistory.Unreadable(id.String(), errors.Join(ErrUnserved, err))
	if !errors.Is(err, errMissing) {
		f.Message += ": " + wording.Printable(err.Error())
		f.Remedy += "; or " + useGit
	}
	return f
}

// Version is the version of the library as it was built into the program, such as
// "5.19.3"; empty if that is not known.
func (r *Repo) Version(context.Context) (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", nil
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/go-git/go-git/v5" {
			return strings.TrimPrefix(dep.Version, "v"), nil
		}
	}
	return "", nil
}

// Substitutes is as [githistory.Repo.Substitutes].
func (r *Repo) Substitutes(context.Context) (replaceRefs, grafts bool, err error) {
	names, err := (&refs{repo: r}).list([]string{githistory.ReplaceRefs(r.env)})
	if err != nil {
		return false, false, cannot("cannot look for replace refs", err)
	}
	grafts, err = githistory.HasGrafts(r.CommonDir, r.env)
	return len(names) > 0, grafts, cannot("cannot read the file of grafts", err)
}

// Signature says whose a commit is. Of the index, it is the author that git
// would write, where git has said so: it hands GIT_AUTHOR_* to the hooks of
// git commit. Otherwise that is for git to tell.
func (r *Repo) Signature(ctx context.Context, revision string) (history.Signature, error) {
	if err := alive(ctx, "reading a commit"); err != nil {
		return history.Signature{}, err
	}
	if revision == history.Index {
		name, email := r.env.Get("GIT_AUTHOR_NAME"), r.env.Get("GIT_AUTHOR_EMAIL")
		if name == "" || email == "" {
			return history.Signature{}, unserved("only git can tell who the author of this commit will be")
		}
		return history.Signature{Name: name, Email: email}, nil
	}
	id, err := parseID(revision)
	if err != nil {
		return history.Signature{}, err
	}
	o, err := r.object(id, plumbing.CommitObject, maxCommit)
	if err != nil {
		return history.Signature{}, err
	}
	if o.data == nil {
		return history.Signature{}, githistory.TooLargeCommit(revision)
	}
	return githistory.ParseSignature(o.data), nil
}
