package embedded

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// smallDelta is the size up to which a delta is inflated at once, in bytes. Of
// a larger one the beginning is read first, which says how much it makes.
const smallDelta = 64 << 10

// chain is an object in the making: deltas, each of what the next one makes,
// down to a base that is whole.
type chain struct {
	deltas [][]byte
	places []place
	// size is that of the object, once it is known; -1 before.
	size int64
	base object
}

// resolve reads the object at a place of a pack, which may be a delta of
// another, which may be a delta of a third. depth counts how often a base was
// sought in another pack.
func (s *store) resolve(p *pack, offset, limit int64, depth int) (object, error) {
	c := chain{size: -1}
	for at := offset; c.base.kind == plumbing.InvalidObject; {
		if o, ok := s.bases.get(place{p, at}); ok {
			c.base = o
			break
		}
		h, err := p.entry(at)
		if err != nil {
			return object{}, err
		}
		switch {
		case isWhole(h.Type):
			err = s.whole(&c, p, h, limit)
		case !isDelta(h.Type):
			err = fmt.Errorf("%s.pack at %d: an entry of unknown type %d", p.name, at, h.Type)
		case len(c.places) >= maxChain:
			err = errChain
		default:
			at, err = s.delta(&c, p, h, limit, depth)
		}
		if err != nil {
			return object{}, err
		}
	}
	if c.size < 0 {
		c.size = c.base.size
	}
	if c.size > limit {
		return object{kind: c.base.kind, size: c.size}, nil
	}
	return s.patched(c)
}

// whole ends a chain with an object that is in the pack as it is.
func (s *store) whole(c *chain, p *pack, h *packfile.ObjectHeader, limit int64) (err error) {
	c.base = object{kind: h.Type, size: h.Length}
	if c.size > limit || c.size < 0 && h.Length > limit {
		return nil // nobody wants the content
	}
	c.base.data, err = p.content(h)
	if err == nil {
		s.bases.put(place{p, h.Offset}, c.base)
	}
	return err
}

// delta adds a delta to a chain and returns where its base is.
func (s *store) delta(c *chain, p *pack, h *packfile.ObjectHeader, limit int64, depth int) (at int64, err error) {
	if c.size < 0 && h.Length > smallDelta {
		if c.size, err = p.targetSize(h); err != nil {
			return 0, err
		}
		if h, err = p.entry(h.Offset); err != nil {
			return 0, err
		}
	}
	var delta []byte
	if c.size <= limit {
		if delta, err = p.content(h); err != nil {
			return 0, err
		}
	}
	if c.size < 0 {
		if c.size, err = deltaSize(delta); err != nil {
			return 0, err
		}
	}
	c.deltas, c.places = append(c.deltas, delta), append(c.places, place{p, h.Offset})
	if h.Type == plumbing.OFSDeltaObject {
		if h.OffsetReference <= 0 {
			return 0, packfile.ErrMalformedPackFile
		}
		return h.OffsetReference, nil
	}
	at, found, err := p.index.find(h.Reference)
	if err != nil || found {
		return at, err
	}
	if depth >= maxAlternates {
		return 0, errChain
	}
	c.base, err = s.find(h.Reference, maxBase, depth+1)
	if err == nil && c.base.data == nil {
		err = fmt.Errorf("the base %s of a delta has %d bytes", h.Reference, c.base.size)
	}
	return 0, err
}

// patched applies the deltas to the base, the last one first.
func (s *store) patched(c chain) (object, error) {
	o := c.base
	for i, delta := range slices.Backward(c.deltas) {
		if size, err := deltaSize(delta); err != nil || size > maxBase {
			return object{}, errors.Join(packfile.ErrInvalidDelta, err)
		}
		data, err := packfile.PatchDelta(o.data, delta)
		if err != nil {
			return object{}, fmt.Errorf("%s.pack at %d: %w", c.places[i].pack.name, c.places[i].offset, err)
		}
		if data == nil {
			data = []byte{}
		}
		o.data, o.size = data, int64(len(data))
		s.bases.put(c.places[i], o)
	}
	return o, nil
}
