package embedded

import (
	"errors"
	"io"
)

// place is where an entry of a pack begins.
type place struct {
	pack   *pack
	offset int64
}

// cache keeps objects by a key, up to a number of bytes. What came first goes
// first.
type cache[K comparable] struct {
	room  int64
	held  map[K]object
	queue []K
}

func newCache[K comparable](room int64) cache[K] {
	return cache[K]{room: room, held: map[K]object{}}
}

func (c *cache[K]) get(at K) (object, bool) {
	o, ok := c.held[at]
	return o, ok
}

func (c *cache[K]) put(at K, o object) {
	if _, known := c.held[at]; known || o.data == nil {
		return
	}
	c.held[at] = o
	c.queue = append(c.queue, at)
	c.room -= o.size
	for c.room < 0 && len(c.queue) > 1 {
		old := c.queue[0]
		c.queue = c.queue[1:]
		c.room += c.held[old].size
		delete(c.held, old)
	}
}

// readExactly reads size bytes, and fails if there are more or fewer.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	var more [1]byte
	switch n, err := r.Read(more[:]); {
	case n > 0:
		return nil, errors.New("the object is longer than its header says")
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	return data, nil
}
