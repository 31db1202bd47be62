package embedded

import "encoding/binary"

// patch makes size bytes of a delta and its base (gitformat-pack(5)). It is go-git's PatchDelta, which makes room as it goes.
// A front shares the memory of its base if it is at least half of that.
func patch(base, delta []byte, size int64) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	to, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 || from != uint64(len(base)) || to != uint64(size) {
		return nil, errPack
	}
	delta = delta[n+m:]
	if out := front(base, delta); out != nil && int64(len(out)) == size && len(out) >= cap(base)/2 {
		return out, nil
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var piece []byte
		if op&0x80 != 0 {
			var ok bool
			if piece, delta, ok = copied(op, base, delta); !ok {
				return nil, errPack
			}
		} else {
			if op == 0 || int(op) > len(delta) {
				return nil, errPack
			}
			piece, delta = delta[:op], delta[op:]
		}
		if len(piece) > cap(out)-len(out) {
			return nil, errPack
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != size {
		return nil, errPack
	}
	return out, nil
}

// front is the result of a delta that only copies the front of its base; nil for any other. git stores a log's newest version whole
// and earlier ones as fronts of later ones. It shares the base's memory: whoever keeps it keeps all of that, and may not append to it.
func front(base, delta []byte) []byte {
	out := base[:0]
	for len(delta) > 0 {
		piece, rest, ok := copied(delta[0], base, delta[1:])
		if delta[0]&0x80 == 0 || !ok || len(out) == len(base) || &piece[0] != &base[len(out)] {
			return nil
		}
		out, delta = base[:len(out)+len(piece)], rest
	}
	return out
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
