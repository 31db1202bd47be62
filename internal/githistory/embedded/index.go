package embedded

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
)

// index is what is wanted of a file that lists what a commit would hold
// (gitformat-index(5), versions 2 and 3).
type index struct {
	entries []indexEntry
	// trees are the directories that are known to hold exactly what a tree does.
	trees map[string]plumbing.Hash
}

// indexEntry is one path. A path with a conflict has up to three, of stages 1
// to 3.
type indexEntry struct {
	path string
	treeEntry
	stage int
	// sparse entries are kept out of the work tree.
	sparse bool
}

var errIndex = errors.New("the index is damaged")

// readIndex reads the index that git names, or the work tree's own. Paths that
// are only intended to be added are not in it yet, as far as a commit is
// concerned. A missing file is an empty index.
func (r *Repo) readIndex(ctx context.Context, wanted func(name []byte) bool) (*index, error) {
	if err := alive(ctx, "reading the index"); err != nil {
		return nil, err
	}
	if r.Top == "" {
		return nil, githistory.NoIndex(r.GitDir)
	}
	name := filepath.Join(r.GitDir, "index")
	if named := r.env.Get("GIT_INDEX_FILE"); named != "" {
		name = githistory.Within(r.base, named)
	}
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return &index{}, nil
	}
	if err != nil {
		return nil, cannot("cannot read the index", err)
	}
	var x *index
	info, err := file.Stat()
	if err == nil {
		x, err = decodeIndex(file, info.Size(), wanted)
	}
	return x, cannot("cannot read the index", errors.Join(err, file.Close()))
}

const (
	indexHead     = 12
	entryHead     = 62 // of versions 2 and 3, with the flags
	entryModeAt   = 24
	entryIDAt     = 40
	entryFlagsAt  = 60
	flagExtended  = 0x4000
	flagIntended  = 0x2000 // of the extended flags, as is the next
	flagSparse    = 0x4000
	maskName      = 0x0fff
	extensionHead = 8
	// indexWindow is how many bytes are looked at at once, and maxEntry how many of them an entry may take.
	indexWindow, maxEntry = 64 << 10, 8 << 10
)

// decodeIndex reads an index of a size. The sum at its end is not compared:
// git does not do it either, so that this is what it commits, and git may be
// told to leave the sum out (index.skipHash).
func decodeIndex(file io.Reader, size int64, wanted func(name []byte) bool) (*index, error) {
	d := &indexDecoder{file: bufio.NewReaderSize(io.LimitReader(file, size-int64(idSize)), indexWindow), wanted: wanted}
	if err := d.look(); err != nil {
		return nil, err
	}
	if len(d.rest) < indexHead || string(d.rest[:4]) != "DIRC" {
		return nil, errIndex
	}
	d.version = binary.BigEndian.Uint32(d.rest[4:])
	if d.version != 2 && d.version != 3 {
		return nil, unserved("the index has version %d", d.version)
	}
	entries := binary.BigEndian.Uint32(d.rest[8:])
	d.rest = d.rest[indexHead:]
	for range entries {
		if err := d.entry(); err != nil {
			return nil, err
		}
	}
	if _, err := d.file.Discard(d.window - len(d.rest)); err != nil {
		return nil, err
	}
	return &d.index, d.extensions()
}

// indexDecoder reads entry by entry.
type indexDecoder struct {
	index
	file    *bufio.Reader
	version uint32
	window  int    // how many bytes of the file were looked at last
	rest    []byte // what is left of them
	path    []byte // of the last entry
	wanted  func(name []byte) bool
	// nameless says that an entry has no path.
	nameless bool
}

// look has rest hold an entry, if the file does.
func (d *indexDecoder) look() error {
	if len(d.rest) >= maxEntry {
		return nil
	}
	_, err := d.file.Discard(d.window - len(d.rest))
	if err != nil {
		return err
	}
	if d.rest, err = d.file.Peek(indexWindow); errors.Is(err, io.EOF) {
		err = nil
	}
	d.window = len(d.rest)
	return err
}

func (d *indexDecoder) entry() error {
	if err := d.look(); err != nil {
		return err
	}
	if len(d.rest) < entryHead {
		return errIndex
	}
	head := d.rest
	flags, extended := binary.BigEndian.Uint16(head[entryFlagsAt:]), uint16(0)
	size := entryHead
	if flags&flagExtended != 0 {
		if d.version < 3 || len(head) < size+2 {
			return errIndex
		}
		extended = binary.BigEndian.Uint16(head[size:])
		size += 2
	}
	d.rest = head[size:]
	if err := d.name(size); err != nil {
		return err
	}
	if len(d.path) == 0 {
		d.nameless = true // so a split index refers to the entries of another
		return nil
	}
	if d.path[len(d.path)-1] == '/' {
		return unserved("the index is sparse")
	}
	if extended&flagIntended != 0 || !d.wanted(d.path) {
		return nil
	}
	m := mode(binary.BigEndian.Uint32(head[entryModeAt:]))
	e := indexEntry{
		path:      string(d.path),
		treeEntry: treeEntry{mode: m, id: plumbing.Hash(head[entryIDAt : entryIDAt+idSize])},
		stage:     int(flags >> 12 & 3),
		sparse:    extended&flagSparse != 0,
	}
	if m != canonical(m) || e.isDir() {
		return fmt.Errorf("%w: %s has the mode %o", errIndex, wording.Printable(e.path), uint32(m))
	}
	d.entries = append(d.entries, e)
	return nil
}

// name reads the path of an entry whose head has size bytes.
func (d *indexDecoder) name(size int) error {
	end := bytes.IndexByte(d.rest, 0)
	next := (size+end+8)/8*8 - size // zeros up to a multiple of 8
	if end < 0 && d.window == indexWindow {
		return unserved("the index has a path of more than %d bytes", maxEntry-entryHead)
	}
	if end < 0 || next > len(d.rest) {
		return errIndex
	}
	d.path, d.rest = d.rest[:end], d.rest[next:]
	return nil
}

// extensions reads what follows the entries. One whose name begins with a small
// letter has to be understood.
func (d *indexDecoder) extensions() error {
	for {
		var head [extensionHead]byte
		if n, err := io.ReadFull(d.file, head[:]); n == 0 && errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(errIndex, err)
		}
		name, size := string(head[:4]), int64(binary.BigEndian.Uint32(head[4:]))
		var data bytes.Buffer
		into := io.Discard
		if name == "TREE" {
			into = &data
		}
		if _, err := io.CopyN(into, d.file, size); err != nil {
			return errors.Join(errIndex, err)
		}
		switch {
		case name == "TREE":
			d.trees = map[string]plumbing.Hash{}
			if _, ok := parseCachedTree(data.Bytes(), "", 0, d.trees); !ok {
				return errIndex
			}
		case name == "sdir":
			return unserved("the index is sparse")
		case name == "link":
			return unserved("the index is split")
		case name[0] >= 'A' && name[0] <= 'Z':
		default:
			return unserved("the index has the extension %q", name)
		}
	}
	if d.nameless {
		return errIndex
	}
	return nil
}
