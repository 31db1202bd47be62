package embedded

import (
	"errors"
	"io"
	"os"
)

// window reads a file by parts, and keeps the last: the objects that a walk
// needs one after the other mostly lie close together in a pack.
type window struct {
	file *os.File
	at   int64 // where reading goes on
	from int64 // where the part begins
	part []byte
	room []byte
}

// windowSize is the size of a part, in bytes.
const windowSize = 32 << 10

// Seek goes to an offset. It does not look at the file.
func (w *window) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		w.at = offset
	case io.SeekCurrent:
		w.at += offset
	default:
		return 0, errors.ErrUnsupported
	}
	return w.at, nil
}

// Read reads on.
func (w *window) Read(p []byte) (int, error) {
	if w.at < w.from || w.at >= w.from+int64(len(w.part)) {
		if w.room == nil {
			w.room = make([]byte, windowSize)
		}
		n, err := w.file.ReadAt(w.room, w.at)
		w.from, w.part = w.at, w.room[:n]
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, w.part[w.at-w.from:])
	w.at += int64(n)
	return n, nil
}
