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
	buckets [256][]byte
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
	if x.buckets[first] == nil {
		ids := make([]byte, n*int64(idSize))
		if _, err := x.file.ReadAt(ids, int64(idsAt)+from*int64(idSize)); err != nil {
			return nil, 0, err
		}
		x.buckets[first] = ids
	}
	return x.buckets[first], from, nil
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
	offset, err = x.offset(from + int64(i))
	return offset, err == nil, err
}

// offset reads where the object at a place of the sorted ids is. Offsets of 2
// GiB and more are in a table of their own.
func (x *packIndex) offset(place int64) (int64, error) {
	small := int64(idsAt) + x.count()*int64(idSize+4)
	var buf [8]byte
	if _, err := x.file.ReadAt(buf[:4], small+4*place); err != nil {
		return 0, err
	}
	at := binary.BigEndian.Uint32(buf[:4])
	if at < largeOffset {
		return int64(at), nil
	}
	large := small + 4*x.count() + 8*int64(at-largeOffset)
	if large+8 > x.size-int64(trailersSize) {
		return 0, errPackIndex
	}
	if _, err := x.file.ReadAt(buf[:], large); err != nil {
		return 0, err
	}
	offset := binary.BigEndian.Uint64(buf[:])
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
