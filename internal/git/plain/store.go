package plain

import (
	"cmp"
	"crypto"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	"github.com/small-gate/small-gate/internal/git/history"
)

const (
	// cacheSize bounds go-git's cache of pack objects for deltas, in bytes.
	cacheSize = 32 * cache.MiByte
	// maxHeld is the largest object of a pack that go-git builds in memory, in bytes. It streams larger ones, which is slower. A log or a
	// configuration is smaller.
	maxHeld = 16 << 20
)

var errMissing = errors.New("the object is not here")

// store reads objects. It is safe for concurrent use.
type store struct {
	dir string // the git directory

	mu    sync.Mutex // guards the following
	packs *filesystem.ObjectStorage
}

type object struct {
	kind plumbing.ObjectType
	size int64
	data []byte        // nil if size is above the limit
	id   plumbing.Hash // of the content, if reading it gave that
}

// maxStack is enough for the longest chain of deltas that git makes, in bytes. In a circle of deltas go-git calls itself without end, which
// ends the process: at Go's own limit that would take ten seconds and a gigabyte.
const maxStack = 64 << 20

// prepare also has go-git hash files with crypto/sha1: objects read are verified here.
var prepare = sync.OnceValue(func() error {
	debug.SetMaxStack(maxStack)
	return hash.RegisterHash(crypto.SHA1, sha1.New)
})

func newStore(commonDir string) (*store, error) {
	s := &store{dir: commonDir}
	s.open()
	return s, prepare()
}

func (s *store) open() {
	options := filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: maxHeld}
	s.packs = filesystem.NewObjectStorageWithOptions(dotgit.New(osfs.New(s.dir)), cache.NewObjectLRU(cacheSize), options)
}

func (s *store) close() error { return s.packs.Close() }

// read reads an object by its id; if it is above limit bytes, only its kind and size. The content is verified against the id.
//
// Packs may have changed since go-git listed them, and after an error it takes objects of packs that it did not reach for missing ones: so
// it lists them again.
func (s *store) read(id plumbing.Hash, limit int64) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.try(id, limit)
	if err != nil {
		if err := s.close(); err != nil {
			return o, err
		}
		s.open()
		o, err = s.try(id, limit)
	}
	if err != nil || o.size > limit {
		return o, err
	}
	found := o.id.String()
	if o.id.IsZero() {
		found = githistory.SHA1.ID(o.kind.String(), o.data)
	}
	if found != id.String() {
		return object{}, githistory.ErrDamaged
	}
	return o, nil
}

func (s *store) try(id plumbing.Hash, limit int64) (o object, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("go-git failed: %v", p)
		}
	}()
	if o, err = s.loose(id, limit); !errors.Is(err, fs.ErrNotExist) {
		return o, err
	}
	encoded, err := s.packs.EncodedObject(plumbing.AnyObject, id)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		// An object in a pack's index but not in the pack is damaged. This fails on a damaged entry of an index, which go-git skipped.
		listed, err := s.packs.HashesWithPrefix(id[:])
		if err == nil && len(listed) > 0 {
			err = errors.New("the pack does not hold what its index says")
		}
		return o, cmp.Or(err, errMissing)
	}
	if err != nil {
		return o, err
	}
	o.kind, o.size = encoded.Type(), encoded.Size()
	if o.size > limit {
		return o, nil // nothing gets unpacked
	}
	r, err := encoded.Reader()
	if err != nil {
		return o, err
	}
	return o, errors.Join(o.read(r, limit), r.Close())
}

// loose reads an object that has its own file. go-git's storage holds it twice, and reads more than its header says.
func (s *store) loose(id plumbing.Hash, limit int64) (o object, err error) {
	text := id.String()
	file, err := os.Open(filepath.Join(s.dir, "objects", text[:2], text[2:]))
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r, err := objfile.NewReader(file)
	if err != nil {
		return o, err
	}
	if o.kind, o.size, err = r.Header(); err == nil {
		err = o.read(r, limit)
	}
	if err == nil && o.size <= limit {
		o.id = r.Hash()
	}
	return o, errors.Join(err, r.Close())
}

// read reads the content, unless it has more than limit bytes.
func (o *object) read(r io.Reader, limit int64) error {
	if o.size > limit {
		return nil
	}
	o.data = make([]byte, o.size)
	_, err := io.ReadFull(r, o.data)
	return err
}
