package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
)

// packIndex finds objects in a pack by searching its index where it lies: a
// table of how many ids begin with at most a byte, the sorted ids, and tables
// of checksums and offsets (gitformat-pack(5), version 2). Of the ids only those
// parts are read that begin with a wanted byte.
type packIndex struct {
	file    *os.File
	fanout  [256]uint32
	size    int64
	ids     [256][]byte
	offsets [256][]byte // those of the ids in four bytes each
}

const (
	idSize       = len(plumbing.Hash{})
	indexHeader  = 8
	fanoutSize   = 256 * 4
	idsAt        = indexHeader + fanoutSize
	largeOffset  = 1 << 31
	trailersSize = 2 * idSize
)

var indexMagic = []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}

// errPackIndex says that a pack's index is not one that can be read.
var errPackIndex = errors.New("the pack index is damaged or of another version than 2")

func openPackIndex(name string) (*packIndex, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	x := &packIndex{file: file}
	if err := x.readHeader(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	return x, nil
}

func (x *packIndex) readHeader() error {
	info, err := x.file.Stat()
	if err != nil {
		return err
	}
	x.size = info.Size()
	var head [idsAt]byte
	if _, err := x.file.ReadAt(head[:], 0); err != nil {
		return errors.Join(errPackIndex, err)
	}
	if !bytes.Equal(head[:indexHeader], indexMagic) {
		return errPackIndex
	}
	last := uint32(0)
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[indexHeader+4*i:])
		if x.fanout[i] < last {
			return errPackIndex
		}
		last = x.fanout[i]
	}
	// Each object has an id, a checksum and an offset.
	if x.size < int64(idsAt)+int64(last)*int64(idSize+8)+int64(trailersSize) {
		return errPackIndex
	}
	return nil
}

// count is the number of objects.
func (x *packIndex) count() int64 { return int64(x.fanout[255]) }

// bucket are the sorted ids that begin with a byte, and the place of the first.
func (x *packIndex) bucket(first byte) (ids []byte, from int64, err error) {
	if first > 0 {
		from = int64(x.fanout[first-1])
	}
	n := int64(x.fanout[first]) - from
	if n == 0 {
		return nil, from, nil
	}
	if x.ids[first] == nil {
		x.ids[first], err = x.part(int64(idsAt)+from*int64(idSize), n*int64(idSize))
	}
	return x.ids[first], from, err
}

// part reads some bytes of the index.
func (x *packIndex) part(at, size int64) ([]byte, error) {
	data := make([]byte, size)
	if _, err := x.file.ReadAt(data, at); err != nil {
		return nil, err
	}
	return data, nil
}

// find is the offset of an object in the pack.
func (x *packIndex) find(id plumbing.Hash) (offset int64, found bool, err error) {
	ids, from, err := x.bucket(id[0])
	if err != nil {
		return 0, false, err
	}
	i := sort.Search(len(ids)/idSize, func(i int) bool { return bytes.Compare(ids[i*idSize:(i+1)*idSize], id[:]) >= 0 })
	if i*idSize >= len(ids) || !bytes.Equal(ids[i*idSize:(i+1)*idSize], id[:]) {
		return 0, false, nil
	}
	offset, err = x.offset(id[0], from, int64(i))
	return offset, err == nil, err
}

// offset is where the object is whose id is number i of those that begin with a
// byte; from is the place of the first of them. Offsets of 2 GiB and more are in
// a table of their own.
func (x *packIndex) offset(first byte, from, i int64) (int64, error) {
	table := int64(idsAt) + x.count()*int64(idSize+4)
	if x.offsets[first] == nil {
		data, err := x.part(table+4*from, 4*int64(len(x.ids[first])/idSize))
		if err != nil {
			return 0, err
		}
		x.offsets[first] = data
	}
	at := binary.BigEndian.Uint32(x.offsets[first][4*i:])
	if at < largeOffset {
		return int64(at), nil
	}
	large := table + 4*x.count() + 8*int64(at-largeOffset)
	if large+8 > x.size-int64(trailersSize) {
		return 0, errPackIndex
	}
	data, err := x.part(large, 8)
	if err != nil {
		return 0, err
	}
	offset := binary.BigEndian.Uint64(data)
	if offset > 1<<62 {
		return 0, errPackIndex
	}
	return int64(offset), nil
}

// withPrefix adds the ids that begin with the bytes of prefix, of which the
// last counts only by its upper half if half is set.
func (x *packIndex) withPrefix(prefix []byte, half bool, add func(plumbing.Hash)) error {
	ids, _, err := x.bucket(prefix[0])
	for ; err == nil && len(ids) > 0; ids = ids[idSize:] {
		if id := plumbing.Hash(ids[:idSize]); hasPrefix(id, prefix, half) {
			add(id)
		}
	}
	return err
}

func hasPrefix(id plumbing.Hash, prefix []byte, half bool) bool {
	n := len(prefix)
	if !half {
		return bytes.HasPrefix(id[:], prefix)
	}
	return bytes.HasPrefix(id[:], prefix[:n-1]) && id[n-1]>>4 == prefix[n-1]>>4
}

func (x *packIndex) close() error { return x.file.Close() }
