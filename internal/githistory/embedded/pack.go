package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// object is what the store reads.
type object struct {
	kind plumbing.ObjectType
	size int64
	// data is nil if size is above the limit that was asked for. It may be
	// held elsewhere too and is not to be changed.
	data []byte
}

// pack is a pack and its index. Both files stay open, so that a repository that
// is being repacked can still be read.
type pack struct {
	name    string // the path without .pack
	index   *packIndex
	file    *os.File
	entries *packfile.Scanner
}

// maxChain bounds how many deltas may follow one another. git makes at most
// 4095; more can only be a circle.
const maxChain = 10000

// maxBase bounds the size of an object that another is a delta of, in bytes,
// and the size of a delta itself.
const maxBase = 1 << 30

var errChain = errors.New("the deltas of a pack go round in a circle")

func openPack(name string) (*pack, error) {
	index, err := openPackIndex(name + ".idx")
	if err != nil {
		return nil, err
	}
	file, err := os.Open(name + ".pack")
	if err != nil {
		return nil, errors.Join(err, index.close())
	}
	return &pack{name: name, index: index, file: file, entries: packfile.NewScanner(&window{file: file})}, nil
}

// entry is one entry of the pack: a whole object, or a delta and its base.
func (p *pack) entry(offset int64) (*packfile.ObjectHeader, error) {
	h, err := p.entries.SeekObjectHeader(offset)
	if err != nil {
		return nil, fmt.Errorf("%s.pack at %d: %w", p.name, offset, err)
	}
	return h, nil
}

// content inflates the entry whose header was read last.
func (p *pack) content(h *packfile.ObjectHeader) ([]byte, error) {
	if h.Length < 0 || h.Length > maxBase {
		return nil, fmt.Errorf("%s.pack at %d: an entry of %d bytes", p.name, h.Offset, h.Length)
	}
	var buf bytes.Buffer
	buf.Grow(int(min(h.Length, 1<<20)) + bytes.MinRead)
	n, _, err := p.entries.NextObject(&buf)
	if err == nil && n != h.Length {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%s.pack at %d: %w", p.name, h.Offset, err)
	}
	return buf.Bytes(), nil
}

// targetSize is the size of what the delta makes whose header was read last.
func (p *pack) targetSize(h *packfile.ObjectHeader) (size int64, err error) {
	r, err := p.entries.ReadObject()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	head := make([]byte, min(h.Length, 20))
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, fmt.Errorf("%s.pack at %d: %w", p.name, h.Offset, err)
	}
	return deltaSize(head)
}

func isDelta(kind plumbing.ObjectType) bool {
	return kind == plumbing.OFSDeltaObject || kind == plumbing.REFDeltaObject
}

func isWhole(kind plumbing.ObjectType) bool {
	switch kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		return true
	}
	return false
}

// deltaSize is the size of what a delta makes: the second of the two numbers
// with which it begins.
func deltaSize(delta []byte) (int64, error) {
	for number := range 2 {
		var size uint64
		for i := 0; ; i++ {
			if i >= len(delta) || i > 8 {
				return 0, packfile.ErrInvalidDelta
			}
			size |= uint64(delta[i]&0x7f) << (7 * i)
			if delta[i]&0x80 == 0 {
				delta = delta[i+1:]
				break
			}
		}
		if number == 1 {
			return int64(size), nil
		}
	}
	return 0, packfile.ErrInvalidDelta
}

func (p *pack) close() error {
	return errors.Join(p.index.close(), p.file.Close())
}
