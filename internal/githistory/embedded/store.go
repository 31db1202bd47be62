package embedded

import (
	"bufio"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"

	"github.com/small-gate/small-gate/internal/githistory"
)

var errMissing = errors.New("the object is not here")

// cacheSize bounds what is kept of objects from packs, in bytes. Twice that can be in memory, for fronts (see patch).
const cacheSize = 32 * cache.MiByte

// store reads objects. It is safe for concurrent use.
//
// go-git's own ObjectStorage is not used: it takes the objects of another push's
// quarantine for the repository's, searches alternates anew for each object, and
// after a damaged pack index takes what it missed for absent.
type store struct {
	dirs []string

	mu    sync.Mutex // guards everything below
	packs []*pack    // the pack of the last success comes first
	bases *cache.BufferLRU
}

type object struct {
	kind plumbing.ObjectType
	size int64
	data []byte // nil if size is above the limit that was asked for
}

// id is what the object's content gives it.
func (o object) id() plumbing.Hash {
	sum := sha1.New()
	sum.Write(fmt.Appendf(nil, "%s %d\x00", o.kind, len(o.data)))
	sum.Write(o.data)
	return plumbing.Hash(sum.Sum(nil))
}

func newStore(dirs []string) *store {
	return &store{dirs: dirs, bases: cache.NewBufferLRU(cacheSize)}
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, p := range s.packs {
		errs = append(errs, p.close())
	}
	s.packs = nil
	return errors.Join(errs...)
}

// read is the object of an id; of one above limit bytes only its kind and size.
// What is read is compared with the id.
func (s *store) read(id plumbing.Hash, limit int64) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.find(id, limit)
	if err == nil && o.data != nil && o.id() != id {
		return object{}, githistory.ErrDamaged
	}
	o.data = slices.Clip(o.data) // behind a front stands the rest of its base
	return o, err
}

// find looks where the last object was, then among loose objects, then in the
// other packs, and once more among packs that have come since.
func (s *store) find(id plumbing.Hash, limit int64) (object, error) {
	if len(s.packs) > 0 {
		if o, found, err := s.packs[0].read(id, limit); found || err != nil {
			return o, err
		}
	}
	if o, found, err := s.loose(id, limit); found || err != nil {
		return o, err
	}
	for range 2 {
		known := len(s.packs)
		for i, p := range s.packs {
			o, found, err := p.read(id, limit)
			if found {
				s.packs = slices.Insert(slices.Delete(s.packs, i, i+1), 0, p)
			}
			if found || err != nil {
				return o, err
			}
		}
		if err := s.list(); err != nil {
			return object{}, err
		}
		if len(s.packs) == known {
			break
		}
	}
	return object{}, errMissing
}

// list takes in packs that are not known yet. One that has gone in the
// meantime has left its objects in another.
func (s *store) list() error {
	names, err := s.indexes()
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.ContainsFunc(s.packs, func(p *pack) bool { return p.name == name }) {
			continue
		}
		p, err := openPack(name, len(s.packs), s.bases)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s.packs = append(s.packs, p)
	}
	return nil
}

// indexes lists the packs, without .idx.
func (s *store) indexes() ([]string, error) {
	var names []string
	for _, dir := range s.dirs {
		dir = filepath.Join(dir, "pack")
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			if name, isIndex := strings.CutSuffix(entry.Name(), ".idx"); isIndex {
				names = append(names, filepath.Join(dir, name))
			}
		}
	}
	return names, nil
}

// loose reads an object that has a file of its own.
func (s *store) loose(id plumbing.Hash, limit int64) (o object, found bool, err error) {
	text := id.String()
	for _, dir := range s.dirs {
		file, err := os.Open(filepath.Join(dir, text[:2], text[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return o, false, err
		}
		o, err := readLoose(file, limit)
		return o, err == nil, errors.Join(err, file.Close())
	}
	return o, false, nil
}

// readLoose does not hash what it reads, as go-git's reader does: store.read hashes it.
func readLoose(file *os.File, limit int64) (o object, err error) {
	inflated, err := zlib.NewReader(file)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, inflated.Close()) }()
	r := bufio.NewReader(inflated)
	header, err := r.ReadSlice(0)
	if err != nil {
		return o, errors.Join(errLooseHeader, err)
	}
	kind, size, _ := strings.Cut(string(header[:len(header)-1]), " ")
	if o.kind, err = plumbing.ParseObjectType(kind); err != nil {
		return o, err
	}
	if o.size, err = strconv.ParseInt(size, 10, 64); err != nil || o.size < 0 || !isWhole(o.kind) {
		return o, errLooseHeader
	}
	if o.size <= limit {
		o.data, err = readExactly(r, o.size)
	}
	return o, err
}

var errLooseHeader = errors.New("the object's header is damaged")

// readExactly reads size bytes, and fails if there are more or fewer.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return nil, errors.New("the object is longer than its header says")
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	return data, nil
}

// indexBytes is about how many bytes of a pack's index there are for each
// object: its id, its checksum and its offset.
const indexBytes = 28

// PackedObjects is about how many objects are in packs, judged by the sizes of
// their indexes. It only decides which reader is faster: what cannot be seen is
// not counted.
func (r *Repo) PackedObjects() int64 {
	names, err := r.objects.indexes()
	if err != nil {
		return 0
	}
	var bytes int64
	for _, name := range names {
		if info, err := os.Stat(name + ".idx"); err == nil {
			bytes += info.Size()
		}
	}
	return bytes / indexBytes
}
