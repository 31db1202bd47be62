package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
)

// packIndex says where the objects of a pack are (gitformat-pack(5), version 2 of pack-*.idx files). Each look-up reads a few bytes of
// the file, so that opening one costs the same whatever the pack holds; after many look-ups the file is read whole. The checksum at its end is
// not verified: git does not do it either, and an object's content is compared with its id.
type packIndex struct {
	file *os.File
	// ReaderAt is the file or, after manyLookups, its content.
	io.ReaderAt
	lookups int
	// fanout counts the objects up to those whose ids begin with a byte.
	fanout [256]uint32
	// large counts the offsets of 2 GiB and more.
	large int64
}

const (
	indexFanout = 8
	indexIDs    = indexFanout + 256*4
	// The sizes of an id, a checksum and an offset, in bytes.
	bytesID, bytesSum, bytesOffset = int64(idSize), 4, 4
	// A look-up halves the ids until this many are left, and reads those at once.
	fewIDs = 64
	// At this many look-ups the index is read whole, if it has at most maxWhole objects: 28 MB.
	manyLookups, maxWhole = 1000, 1_000_000
)

var errPackIndex = errors.New("it is damaged, or not of version 2")

// readFanout reads how the index begins, and holds its size against it.
func (x *packIndex) readFanout() error {
	var head [indexIDs]byte
	if _, err := x.ReadAt(head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	sorted := true
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[indexFanout+4*i:])
		sorted = sorted && (i == 0 || x.fanout[i-1] <= x.fanout[i])
	}
	info, err := x.file.Stat()
	if err != nil {
		return err
	}
	large := info.Size() - x.at(x.count()) - 2*bytesID
	x.large = large / 8
	if string(head[:indexFanout]) != "\xfftOc\x00\x00\x00\x02" || !sorted || large < 0 || large%8 != 0 || x.large > x.count() {
		return errPackIndex
	}
	return nil
}

func (x *packIndex) count() int64 { return int64(x.fanout[255]) }

// at is where the offsets of so many objects end, if the index has no more objects.
func (x *packIndex) at(objects int64) int64 { return indexIDs + objects*(bytesID+bytesSum+bytesOffset) }

// find is the offset of an object in the pack.
func (x *packIndex) find(id plumbing.Hash) (offset int64, found bool, err error) {
	if x.lookups++; x.lookups == manyLookups && x.count() <= maxWhole {
		text := make([]byte, x.at(x.count())+8*x.large)
		if _, err := x.file.ReadAt(text, 0); err != nil {
			return 0, false, err
		}
		x.ReaderAt = bytes.NewReader(text)
	}
	low, high := 0, int(x.fanout[id[0]])
	if id[0] > 0 {
		low = int(x.fanout[id[0]-1])
	}
	var ids [fewIDs * idSize]byte
	for high-low > fewIDs {
		middle := (low + high) / 2
		if _, err := x.ReadAt(ids[:idSize], indexIDs+int64(middle)*bytesID); err != nil {
			return 0, false, err
		}
		if bytes.Compare(id[:], ids[:idSize]) < 0 {
			high = middle
		} else {
			low = middle
		}
	}
	if _, err := x.ReadAt(ids[:(high-low)*idSize], indexIDs+int64(low)*bytesID); err != nil {
		return 0, false, err
	}
	for i := range high - low {
		if bytes.Equal(id[:], ids[i*idSize:(i+1)*idSize]) {
			offset, err = x.offset(int64(low + i))
			return offset, err == nil, err
		}
	}
	return 0, false, nil
}

// offset is the offset of the n-th object. One of 2 GiB and more stands behind the others.
func (x *packIndex) offset(n int64) (int64, error) {
	var number [8]byte
	if _, err := x.ReadAt(number[4:], indexIDs+x.count()*(bytesID+bytesSum)+n*bytesOffset); err != nil {
		return 0, err
	}
	const isLarge = 1 << 31
	offset := binary.BigEndian.Uint64(number[:])
	if offset&isLarge == 0 {
		return int64(offset), nil
	}
	if n = int64(offset &^ isLarge); n >= x.large {
		return 0, errPackIndex
	}
	_, err := x.ReadAt(number[:], x.at(x.count())+n*8)
	return int64(binary.BigEndian.Uint64(number[:]) & (1<<63 - 1)), err
}
