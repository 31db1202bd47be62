package embedded

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// pack reads the objects of a pack (gitformat-pack(5)). Its files stay open, so that a
// repository that is being repacked can still be read.
type pack struct {
	name   string // the path without .pack
	index  packIndex
	file   *os.File
	size   int64
	recent *recent
	// What the last object was read with, for the next.
	buffer *bufio.Reader
	zlib   io.ReadCloser
}

// packed is what stands at an offset: an object, or a delta to one.
type packed struct {
	at, data int64
	kind     plumbing.ObjectType
	size     int64 // of the data when it is inflated
	base     int64 // of a delta: where what it changes stands
}

const (
	// maxChain is how many deltas may follow one another. git makes at most 4095.
	maxChain = 10000
	// maxDelta bounds the size of a delta and of its base, in bytes.
	maxDelta = 1 << 30
	// maxInflated is more than the times by which inflating can make data larger.
	maxInflated = 1040
	// packHead is more than what stands before the data of an object.
	packHead = 32
	// packEnd is the size of the sum that a pack ends with.
	packEnd = int64(idSize)
)

var errPack = errors.New("the pack is damaged")

func openPack(name string, recent *recent) (*pack, error) {
	p := &pack{name: name, recent: recent, buffer: bufio.NewReaderSize(nil, 8<<10)}
	var err error
	if p.index.File, err = os.Open(name + ".idx"); err != nil {
		return nil, err
	}
	if err := p.index.readFanout(); err != nil {
		return nil, errors.Join(fmt.Errorf("pack index %s.idx: %w", name, err), p.index.Close())
	}
	if p.file, err = os.Open(name + ".pack"); err != nil {
		return nil, errors.Join(err, p.index.Close())
	}
	info, err := p.file.Stat()
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.size = info.Size() - packEnd
	return p, nil
}

func (p *pack) close() error { return errors.Join(p.index.Close(), p.file.Close()) }

// read reads an object if the pack has it.
func (p *pack) read(id plumbing.Hash, limit int64) (o object, found bool, err error) {
	at, found, err := p.index.find(id)
	if err != nil {
		return o, false, fmt.Errorf("pack index %s.idx: %w", p.name, err)
	}
	if !found {
		return o, false, nil
	}
	if o, err = p.object(at, limit); err != nil {
		return object{}, false, fmt.Errorf("%s.pack at %d: %w", p.name, at, err)
	}
	o.data = bytes.Clone(o.data) // the next may be made from it
	return o, true, nil
}

// object is the object at an offset. It is made from a whole one, or from one that was made not long ago, by the deltas between.
func (p *pack) object(at, limit int64) (o object, err error) {
	base, deltas, err := p.chain(at)
	if err != nil {
		return o, err
	}
	o, size := base.object, base.object.size
	var first []byte // says how large the object is
	if len(deltas) > 0 {
		if first, err = p.inflate(deltas[0]); err == nil {
			_, size, _, err = deltaSizes(first)
		}
	}
	if err != nil || size > limit {
		return object{kind: o.kind, size: size}, err
	}
	if o.data == nil {
		if o.data, err = p.inflate(base.packed); err != nil {
			return o, err
		}
		p.recent.put(p, base.at, o)
	}
	for i, d := range slices.Backward(deltas) {
		delta := first
		if i > 0 {
			if delta, err = p.inflate(d); err != nil {
				return o, err
			}
		}
		if o.data, err = applyDelta(o.data, delta); err != nil {
			return o, err
		}
		o.size = int64(len(o.data))
		p.recent.put(p, d.at, o)
	}
	return o, nil
}

// base is the object that a chain of deltas begins with; it has its data if that is still known.
type base struct {
	packed
	object object
}

// chain follows the deltas from an offset, the last of which changes the base. No size that it accepts is above maxDelta, if there is
// a delta.
func (p *pack) chain(at int64) (b base, deltas []packed, err error) {
	for {
		if o, known := p.recent.get(p, at); known {
			b = base{packed{at: at}, o}
			break
		}
		e, err := p.head(at)
		if err != nil {
			return b, nil, err
		}
		if isWhole(e.kind) {
			b = base{e, object{kind: e.kind, size: e.size}}
			break
		}
		if len(deltas) > maxChain {
			return b, nil, errPack
		}
		deltas, at = append(deltas, e), e.base
	}
	for _, d := range deltas {
		if max(d.size, b.object.size) > maxDelta {
			return b, nil, fmt.Errorf("a delta of %d bytes and its base of %d are too large", d.size, b.object.size)
		}
	}
	return b, deltas, nil
}

// head reads what stands before the data at an offset.
func (p *pack) head(at int64) (packed, error) {
	var start [packHead]byte
	if _, err := p.file.ReadAt(start[:], at); err != nil && !errors.Is(err, io.EOF) {
		return packed{}, err
	}
	e := packed{at: at, kind: plumbing.ObjectType(start[0] >> 4 & 7), size: int64(start[0] & 15)}
	next := 1
	if start[0]&0x80 != 0 {
		more, n := binary.Uvarint(start[1:])
		if n <= 0 || more > 1<<50 {
			return e, errPack
		}
		e.size, next = e.size|int64(more)<<4, 1+n
	}
	switch {
	case e.kind == plumbing.OFSDeltaObject:
		back := int64(start[next] & 0x7f)
		for ; start[next]&0x80 != 0 && next < packHead-1; next++ {
			back = (back+1)<<7 | int64(start[next+1]&0x7f)
		}
		e.base, next = at-back, next+1
		if back <= 0 || e.base <= 0 {
			return e, errPack
		}
	case e.kind == plumbing.REFDeltaObject:
		id := plumbing.Hash(start[next : next+idSize])
		next += idSize
		base, found, err := p.index.find(id)
		if err != nil || !found {
			return e, errors.Join(errPack, err)
		}
		e.base = base
	case !isWhole(e.kind):
		return e, errPack
	}
	e.data = at + int64(next)
	if e.size/maxInflated > p.size-e.data {
		return e, errPack
	}
	return e, nil
}

// inflate reads the data of an object or of a delta.
func (p *pack) inflate(e packed) (data []byte, err error) {
	p.buffer.Reset(io.NewSectionReader(p.file, e.data, p.size-e.data))
	if p.zlib == nil {
		p.zlib, err = zlib.NewReader(p.buffer)
	} else {
		err = p.zlib.(zlib.Resetter).Reset(p.buffer, nil)
	}
	if err != nil {
		return nil, err
	}
	return readExactly(p.zlib, e.size)
}

// deltaSizes are the sizes of what a delta changes and of what it makes, and its instructions.
func deltaSizes(delta []byte) (from, to int64, instructions []byte, err error) {
	a, n := binary.Uvarint(delta)
	b, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 {
		return 0, 0, nil, errPack
	}
	return int64(min(a, 1<<62)), int64(min(b, 1<<62)), delta[n+m:], nil
}

// applyDelta makes an object from its base: of pieces of that, and of bytes that stand in the delta.
func applyDelta(base, delta []byte) ([]byte, error) {
	from, to, delta, err := deltaSizes(delta)
	if err != nil || from != int64(len(base)) || to > maxDelta {
		return nil, errors.Join(errPack, err)
	}
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var piece []byte
		if op&0x80 == 0 {
			if int(op) > len(delta) {
				return nil, errPack
			}
			piece, delta = delta[:op], delta[op:]
		} else if piece, delta, err = copied(op, base, delta); err != nil {
			return nil, err
		}
		if len(piece) == 0 || int64(len(out)+len(piece)) > to {
			return nil, errPack
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != to {
		return nil, errPack
	}
	return out, nil
}

// copied is the piece of the base that an instruction copies. Bits of it say which bytes of the offset and of the size follow; the
// others are zero.
func copied(op byte, base, delta []byte) (piece, rest []byte, err error) {
	var numbers [8]byte
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, errPack
		}
		numbers[i], delta = delta[0], delta[1:]
	}
	at, size := int64(binary.LittleEndian.Uint32(numbers[:])), int64(binary.LittleEndian.Uint32(numbers[4:]))
	if size == 0 {
		size = 0x10000
	}
	if at+size > int64(len(base)) {
		return nil, nil, errPack
	}
	return base[at : at+size], delta, nil
}

// recent keeps objects that were read from packs, which others are deltas to. When the young ones are too many they are the old ones,
// and those are forgotten.
type recent struct {
	young, old map[place]object
	bytes      int64
}

type place struct {
	pack *pack
	at   int64
}

// recentSize is about how many bytes of young objects are kept, and of old ones.
const recentSize = 16 << 20

func (r *recent) get(p *pack, at int64) (object, bool) {
	if o, ok := r.young[place{p, at}]; ok {
		return o, true
	}
	o, ok := r.old[place{p, at}]
	if ok {
		r.put(p, at, o)
	}
	return o, ok
}

func (r *recent) put(p *pack, at int64, o object) {
	if o.size > 2*recentSize {
		return
	}
	if r.young == nil || r.bytes+o.size > recentSize {
		r.young, r.old, r.bytes = map[place]object{}, r.young, 0
	}
	r.young[place{p, at}] = o
	r.bytes += o.size
}

func isWhole(kind plumbing.ObjectType) bool {
	switch kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		return true
	}
	return false
}
