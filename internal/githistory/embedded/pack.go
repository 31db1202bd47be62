package embedded

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// pack is a pack and its index. The files stay open, so that a
// repository that is being repacked can still be read.
type pack struct {
	index   packIndex
	file    *os.File
	name    string // the path without .pack
	entries map[int64]entry
	// stored is behind the header that was read last, and inflater inflates it.
	stored   *bufio.Reader
	inflater io.ReadCloser
	// bases are contents that were made lately, by offset; other packs have theirs there, by offsets that begin at first.
	bases *cache.BufferLRU
	first int64
}

// entry is what an entry yields, and where the base is to which it is a delta; 0 for none.
type entry struct {
	kind plumbing.ObjectType
	size int64
	base int64
}

const (
	// maxChain is how many deltas may follow one another. git makes at most 4095.
	maxChain = 10000
	// maxDelta bounds the size of a delta and of its base, in bytes.
	maxDelta = 1 << 30
	// maxPack is more than a pack has bytes.
	maxPack = 1 << 48
)

// errPack is the error for a pack or a delta that breaks the format.
var errPack = errors.New("the pack is damaged")

// openPack opens the pack with a number among those that share a cache.
func openPack(name string, number int, bases *cache.BufferLRU) (*pack, error) {
	index, err := os.Open(name + ".idx")
	if err != nil {
		return nil, err
	}
	p := &pack{stored: bufio.NewReader(nil), index: packIndex{file: index, ReaderAt: index}, name: name, entries: map[int64]entry{}, bases: bases, first: int64(number) * maxPack}
	if err := p.index.readFanout(); err != nil {
		return nil, errors.Join(fmt.Errorf("pack index %s.idx: %w", name, err), index.Close())
	}
	if p.file, err = os.Open(name + ".pack"); err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return p, nil
}

func (p *pack) close() error { return errors.Join(p.index.file.Close(), p.file.Close()) }

// read reads an object if the pack has it.
func (p *pack) read(id plumbing.Hash, limit int64) (o object, found bool, err error) {
	offset, found, err := p.index.find(id)
	if err == nil && !found {
		return o, false, nil
	}
	var e entry
	if err == nil {
		e, err = p.entryAt(offset, 0)
	}
	if o = (object{kind: e.kind, size: e.size}); err == nil && e.size <= limit {
		o.data, err = p.content(offset)
	}
	if err != nil {
		return object{}, false, fmt.Errorf("%s.pack at %d: %w", p.name, offset, err)
	}
	return o, true, nil
}

// content makes what an entry yields that entryAt has looked at. go-git's Packfile would hash each object on the way to it; what is read is
// compared with its id at the end.
func (p *pack) content(offset int64) ([]byte, error) {
	var deltas []int64
	data, made := p.bases.Get(p.first + offset)
	for !made && p.entries[offset].base != 0 {
		deltas = append(deltas, offset)
		offset = p.entries[offset].base
		data, made = p.bases.Get(p.first + offset)
	}
	if !made {
		var err error
		if data, err = p.inflate(offset); err != nil {
			return nil, err
		}
		p.bases.Put(p.first+offset, data)
	}
	for _, at := range slices.Backward(deltas) {
		delta, err := p.inflate(at)
		if err == nil {
			data, err = packfile.PatchDelta(data, delta)
		}
		if err == nil && int64(len(data)) != p.entries[at].size {
			err = errPack
		}
		if err != nil {
			return nil, err
		}
		p.bases.Put(p.first+at, data)
	}
	return data, nil
}

// inflate reads what is stored at an offset: an object, or a delta.
func (p *pack) inflate(offset int64) ([]byte, error) {
	h, err := p.header(offset)
	if err != nil {
		return nil, err
	}
	r, err := p.inflated()
	if err != nil {
		return nil, err
	}
	return readExactly(r, h.size)
}

// header is how an entry begins: its kind, how many bytes are stored in it before they were deflated, and the base of a delta, by its
// offset or by its id.
type header struct {
	kind   plumbing.ObjectType
	size   int64
	base   int64
	baseID plumbing.Hash
}

// header reads how an entry begins (gitformat-pack(5)). go-git's scanner would hash each byte that it reads.
func (p *pack) header(offset int64) (h header, err error) {
	p.stored.Reset(io.NewSectionReader(p.file, offset, maxPack))
	first, err := p.stored.ReadByte()
	if err != nil {
		return h, err
	}
	var high uint64
	if first&0x80 != 0 {
		high, err = binary.ReadUvarint(p.stored)
	}
	if err != nil || high >= maxPack {
		return h, errors.Join(errPack, err)
	}
	h.kind, h.size = plumbing.ObjectType(first>>4&7), int64(high<<4|uint64(first&15))
	switch h.kind {
	case plumbing.REFDeltaObject:
		_, err = io.ReadFull(p.stored, h.baseID[:])
	case plumbing.OFSDeltaObject:
		var back int64
		back, err = p.distance()
		h.base = offset - back
	}
	return h, err
}

// distance reads how far before a delta its base begins: seven bits in a byte, and one more for each byte but the last.
func (p *pack) distance() (int64, error) {
	for n := int64(0); n < maxPack; n++ {
		next, err := p.stored.ReadByte()
		if err != nil {
			return 0, err
		}
		n = n<<7 | int64(next&0x7f)
		if next&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errPack
}

// inflated is what is stored behind what was read last.
func (p *pack) inflated() (io.Reader, error) {
	again, used := p.inflater.(zlib.Resetter)
	if !used {
		var err error
		p.inflater, err = zlib.NewReader(p.stored)
		return p.inflater, err
	}
	return p.inflater, again.Reset(p.stored, nil)
}

// entryAt finds out what an entry yields without making it. go-git would follow
// deltas that form a circle without end, and apply them to a base of any size.
func (p *pack) entryAt(offset int64, depth int) (entry, error) {
	if e, known := p.entries[offset]; known {
		return e, nil
	}
	h, err := p.header(offset)
	if err != nil {
		return entry{}, err
	}
	e := entry{kind: h.kind, size: h.size}
	if !isWhole(h.kind) {
		if e, err = p.deltaAt(h, depth); err != nil {
			return e, err
		}
	}
	p.entries[offset] = e
	return e, nil
}

// deltaAt is entryAt of the delta whose header was read last.
func (p *pack) deltaAt(h header, depth int) (entry, error) {
	base := h.base
	size, err := p.deltaSize()
	if err == nil && h.kind == plumbing.REFDeltaObject {
		base, _, err = p.index.find(h.baseID) // 0 where it is not
	}
	switch {
	case err != nil:
		return entry{}, err
	case base <= 0, depth > maxChain: // base is 0 where there is no delta
		return entry{}, errPack
	}
	e, err := p.entryAt(base, depth+1)
	if err == nil && max(e.size, h.size) > maxDelta {
		err = fmt.Errorf("a delta of %d bytes and its base of %d are too large", h.size, e.size)
	}
	return entry{e.kind, size, base}, err
}

// deltaSize is the size of what the delta makes whose header was read last: the
// second of the two numbers with which it begins (gitformat-pack(5)).
func (p *pack) deltaSize() (int64, error) {
	r, err := p.inflated()
	if err != nil {
		return 0, err
	}
	start := bufio.NewReaderSize(io.LimitReader(r, 20), 20)
	_, err1 := binary.ReadUvarint(start)
	size, err2 := binary.ReadUvarint(start)
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	return int64(min(size, 1<<62)), nil
}

func isWhole(kind plumbing.ObjectType) bool {
	switch kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		return true
	}
	return false
}
