package embedded

import (
	"encoding/binary"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// patch makes size bytes of a delta and its base (gitformat-pack(5)). It is go-git's PatchDelta, which makes room as it goes.
func patch(base, delta []byte, size int64) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	to, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 || from != uint64(len(base)) || to != uint64(size) {
		return nil, packfile.ErrInvalidDelta
	}
	delta = delta[n+m:]
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var piece []byte
		if op&0x80 != 0 {
			var ok bool
			if piece, delta, ok = copied(op, base, delta); !ok {
				return nil, packfile.ErrInvalidDelta
			}
		} else {
			if op == 0 || int(op) > len(delta) {
				return nil, packfile.ErrInvalidDelta
			}
			piece, delta = delta[:op], delta[op:]
		}
		if len(piece) > cap(out)-len(out) {
			return nil, packfile.ErrInvalidDelta
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != size {
		return nil, packfile.ErrInvalidDelta
	}
	return out, nil
}

// copied is the piece of the base that an instruction copies: four bits say which bytes of its offset follow, and three which of its size.
func copied(op byte, base, delta []byte) (piece, rest []byte, ok bool) {
	var number uint64
	for bit := range 7 {
		if op&(1<<bit) == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		number |= uint64(delta[0]) << (8 * bit)
		delta = delta[1:]
	}
	at, size := number&0xffffffff, number>>32
	if size == 0 {
		size = 0x10000
	}
	if at+size > uint64(len(base)) {
		return nil, nil, false
	}
	return base[at : at+size], delta, true
}
