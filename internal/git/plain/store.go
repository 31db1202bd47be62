package plain

import (
	"cmp"
	"context"
	"crypto"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/hash"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

const (
	// maxParsed is the size limit for a commit or a tree, in bytes.
	maxParsed = 64 << 20
	// maxTags is the limit for a chain of tags of tags, and maxTag the size limit for a tag, in bytes.
	maxTags, maxTag = 100, 1 << 20
	// idSize is the size of an id in bytes. This reader supports only sha1.
	idSize = len(plumbing.Hash{})
	// cacheSize is the size, in bytes, of go-git's cache of objects from packs, of which other objects are deltas.
	cacheSize = 32 * cache.MiByte
	// maxInMemory is the size, in bytes, of the largest object that go-git builds in memory; logs are smaller. Larger ones stream, which is slower.
	maxInMemory = 16 << 20
)

// errNotFound means that an object is missing, or that a revision names no commit.
var errNotFound = errors.New("it is not here")

// store reads objects. It is safe for concurrent use.
type store struct {
	dir string // the common git directory

	mu    sync.Mutex // guards the following
	packs *filesystem.ObjectStorage
}

type object struct {
	kind plumbing.ObjectType
	size int64
	data []byte // nil if size is above the limit
}

// maxStack, in bytes, is enough for the longest chain of deltas that git makes. In a circle of deltas go-git calls itself until the stack is full, and the
// process dies. This limit cannot prevent that, but with Go's own limit it would take ten seconds and a gigabyte.
const maxStack = 64 << 20

// tuneGoGit limits the process's stack, and makes go-git hash with crypto/sha1, which is faster than its default (sha1cd).
var tuneGoGit = sync.OnceValue(func() error {
	debug.SetMaxStack(maxStack)
	return hash.RegisterHash(crypto.SHA1, sha1.New)
})

func (s *store) open() {
	options := filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: maxInMemory}
	s.packs = filesystem.NewObjectStorageWithOptions(dotgit.New(osfs.New(s.dir)), cache.NewObjectLRU(cacheSize), options)
}

// read reads an object by its id; if it is above limit bytes, only its kind and size. The content is verified against the id.
// It tries twice. In between it makes go-git open the packs anew: they may have changed, and after a failure in one pack go-git reports the objects of all
// others as missing.
func (s *store) read(id string, limit int64) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.try(id, limit)
	if err == nil {
		return o, nil
	}
	if err := s.packs.Close(); err != nil {
		return o, err
	}
	s.open()
	return s.try(id, limit)
}

// try reads an object from its own file or from a pack.
func (s *store) try(id string, limit int64) (o object, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("go-git failed: %v", p)
		}
	}()
	hash := plumbing.NewHash(id)
	file, err := os.Open(filepath.Join(s.dir, "objects", id[:2], id[2:]))
	if err == nil { // not through go-git's storage, which would have the content in memory twice
		defer func() { err = errors.Join(err, file.Close()) }()
		r, err := objfile.NewReader(file)
		if err == nil {
			o.kind, o.size, err = r.Header()
		}
		if err != nil {
			return o, err
		}
		return o, o.fill(r, hash, limit)
	}
	encoded, err := s.packs.EncodedObject(plumbing.AnyObject, hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		// The object may be missing, or its pack is damaged: the pack lacks an object that its index lists, or the entry in its index is broken.
		// EncodedObject skips a broken entry; HashesWithPrefix returns an error.
		listed, err := s.packs.HashesWithPrefix(hash[:])
		if err == nil && len(listed) > 0 {
			err = errors.New("the pack does not hold what its index says")
		}
		return o, cmp.Or(err, errNotFound)
	}
	if err != nil {
		return o, err
	}
	if o.kind, o.size = encoded.Type(), encoded.Size(); o.size > limit {
		return o, nil // nothing gets unpacked
	}
	r, err := encoded.Reader()
	if err != nil {
		return o, err
	}
	return o, o.fill(r, hash, limit)
}

// fill reads the content of an object of at most limit bytes, and checks its id.
func (o *object) fill(r io.ReadCloser, id plumbing.Hash, limit int64) (err error) {
	if o.size <= limit {
		o.data = make([]byte, o.size)
		if _, err = io.ReadFull(r, o.data); err == nil && plumbing.ComputeHash(o.kind, o.data) != id {
			err = githistory.ErrDamaged
		}
	}
	return errors.Join(err, r.Close())
}

// object reads an object that must exist.
func (r *Repo) object(ctx context.Context, id string, kind plumbing.ObjectType, limit int64) (object, error) {
	if err := cmp.Or(githistory.SHA1.Check(id), ctx.Err()); err != nil {
		return object{}, err
	}
	o, err := r.objects.read(id, limit)
	switch {
	case err != nil:
		return o, unreadable(id, err)
	case o.kind != kind:
		return o, &failure.Error{Message: fmt.Sprintf("object %s is a %s, not a %s", id, o.kind, kind)}
	case o.data == nil && kind != plumbing.BlobObject:
		return o, unreadable(id, fmt.Errorf("a %s of %d bytes is too large for this reader", kind, o.size))
	}
	return o, nil
}

// unreadable makes the failure for an object that cannot be read. git may be able to.
func unreadable(id string, err error) error {
	if errors.Is(err, githistory.ErrDamaged) {
		return githistory.Damaged(id) // git is no remedy: it does not check ids when it reads
	}
	f := githistory.Unreadable(id, errors.Join(ErrUnserved, err))
	if !errors.Is(err, errNotFound) {
		f.Message += ": " + wording.Printable(err.Error())
		f.Remedy += "; or " + useGit
	}
	return f
}
