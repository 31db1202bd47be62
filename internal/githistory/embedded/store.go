package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"

	"github.com/small-gate/small-gate/internal/githistory"
)

// errMissing says that no object directory has an object.
var errMissing = errors.New("the object is not here")

// store reads objects. It is safe for concurrent use.
type store struct {
	dirs []string

	mu    sync.Mutex // guards everything below
	packs map[string]*pack
	order []*pack // the pack of the last success comes first
	// bases are objects that others are deltas of, trees are trees that were
	// compared with their ids: neighbours in history share most of both.
	bases cache[place]
	trees cache[plumbing.Hash]
}

// cacheSize bounds each cache, in bytes.
const cacheSize = 32 << 20

func newStore(dirs []string) *store {
	return &store{dirs: dirs, packs: map[string]*pack{}, bases: newCache[place](cacheSize), trees: newCache[plumbing.Hash](cacheSize)}
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, p := range s.order {
		errs = append(errs, p.close())
	}
	s.packs, s.order = map[string]*pack{}, nil
	return errors.Join(errs...)
}

// read is the object of an id; of one above limit bytes only its kind and size.
// What is read is compared with the id.
func (s *store) read(id plumbing.Hash, limit int64) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.trees.get(id); ok {
		return o, nil
	}
	o, err := s.find(id, limit, 0)
	if err != nil {
		return o, err
	}
	if o.data != nil && idOf(o) != id {
		return object{}, githistory.ErrDamaged
	}
	if o.kind == plumbing.TreeObject {
		s.trees.put(id, o)
	}
	return o, nil
}

// find looks where the last object was, then among loose objects, then in the
// other packs, and once more among packs that have come since.
func (s *store) find(id plumbing.Hash, limit int64, depth int) (object, error) {
	if len(s.order) > 0 {
		if o, found, err := s.fromPack(s.order[0], id, limit, depth); found || err != nil {
			return o, err
		}
	}
	if o, found, err := s.loose(id, limit); found || err != nil {
		return o, err
	}
	for range 2 {
		known := len(s.order)
		for i := range s.order {
			p := s.order[i]
			o, found, err := s.fromPack(p, id, limit, depth)
			if err != nil {
				return o, err
			}
			if found {
				copy(s.order[1:i+1], s.order[:i])
				s.order[0] = p
				return o, nil
			}
		}
		if err := s.list(); err != nil {
			return object{}, err
		}
		if len(s.order) == known {
			break
		}
	}
	return object{}, errMissing
}

// list takes in packs that are not known yet. One that has gone in the
// meantime has left its objects in another.
func (s *store) list() error {
	for _, dir := range s.dirs {
		names, err := os.ReadDir(filepath.Join(dir, "pack"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, entry := range names {
			base, isIndex := strings.CutSuffix(entry.Name(), ".idx")
			name := filepath.Join(dir, "pack", base)
			if !isIndex || s.packs[name] != nil {
				continue
			}
			p, err := openPack(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			s.packs[name] = p
			s.order = append(s.order, p)
		}
	}
	return nil
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

func readLoose(file *os.File, limit int64) (o object, err error) {
	r, err := objfile.NewReader(file)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if o.kind, o.size, err = r.Header(); err != nil {
		return o, err
	}
	if o.size < 0 || !isWhole(o.kind) {
		return o, errors.New("the object's header is damaged")
	}
	if o.size > limit {
		return o, nil
	}
	o.data, err = readExactly(r, o.size)
	return o, err
}

// fromPack reads an object if the pack has it.
func (s *store) fromPack(p *pack, id plumbing.Hash, limit int64, depth int) (o object, found bool, err error) {
	offset, found, err := p.index.find(id)
	if err != nil || !found {
		return o, false, err
	}
	o, err = s.resolve(p, offset, limit, depth)
	return o, err == nil, err
}
