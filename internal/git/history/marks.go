package githistory

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// Mark is a file of the index that the user told git not to compare with the work tree (git-update-index(1)): git does not show changes of the
// file on disk, and git add and git commit leave them out.
type Mark struct {
	Path                          string
	SkipWorktree, AssumeUnchanged bool
}

// ParseMark reads a line of git ls-files -v: a letter, a space and a path. A file without a mark has no names.
func ParseMark(line string) Mark {
	letter, path, _ := strings.Cut(line, " ")
	return Mark{Path: path, SkipWorktree: letter == "S" || letter == "s", AssumeUnchanged: letter != strings.ToUpper(letter)}
}

// Names returns git's names for the marks.
func (m Mark) Names() (names []string) {
	if m.SkipWorktree {
		names = append(names, "skip-worktree")
	}
	if m.AssumeUnchanged {
		names = append(names, "assume-unchanged")
	}
	return names
}

// Marks lists the marked files that a filter selects and that are on disk; a file that a sparse checkout leaves out is not on disk. Marks starts
// git only if the index has such files, or has a form that only git can read.
func (r *Repo) Marks(ctx context.Context, f history.Filter) ([]Mark, error) {
	filter := NewFilter(f)
	marks, err := MarksIn(filepath.Join(r.GitDir, "index"), r.format)
	marks = OnDisk(r.Top, filter, marks)
	onlyGit := errors.Is(err, ErrIndexForm)
	if r.Top == "" || !onlyGit && (err != nil || len(marks) == 0) {
		return nil, r.toFailure("cannot read the index", err)
	}
	var specs []string
	for _, m := range marks {
		specs = append(specs, ":(top,literal)"+m.Path)
	}
	if onlyGit || len(specs) > maxPathspecs { // core.ignoreStat marks every file
		specs = filter.pathspecs()
	}
	marks = nil
	if len(specs) == 0 {
		return nil, nil
	}
	out, err := r.git.Output(ctx, nil, append([]string{"ls-files", "-v", "-z", "--full-name", "--"}, specs...)...)
	if err != nil {
		return nil, r.toFailure("cannot read the index", err)
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if m := ParseMark(line); len(m.Names()) > 0 {
			marks = append(marks, m)
		}
	}
	return OnDisk(r.Top, filter, marks), nil
}

// OnDisk returns, each once, the marks of the files that a filter selects and that exist in the work tree at top. If it cannot find out whether a
// file exists, it returns that file too.
func OnDisk(top string, f *Filter, marks []Mark) []Mark {
	return slices.Compact(slices.DeleteFunc(marks, func(m Mark) bool {
		return !f.Matches(m.Path) || !MayExist(filepath.Join(top, filepath.FromSlash(m.Path)))
	}))
}

// Sizes and flags in an index (gitformat-index(5)).
const (
	indexHeader    = 12      // signature, version, number of entries
	indexStat      = 40      // an entry's data before its object id
	assumeValid    = 1 << 15 // a bit of an entry's flags
	extendedFlags  = 1 << 14 // a bit of an entry's flags: further flags follow
	skipWorktree   = 1 << 14 // a bit of the further flags
	indexAlignment = 8
)

// ErrIndexForm means that an index has a form that only git can read, or is damaged.
var ErrIndexForm = errors.New("the index has a form that only git reads")

// MarksIn reads the marks from an index file. A missing file counts as an empty index. The error may be ErrIndexForm.
func MarksIn(file string, format Format) ([]Mark, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	marks, known := parseMarks(data, format.idLength/2)
	if !known {
		return nil, ErrIndexForm
	}
	return marks, nil
}

// parseMarks reads the marks from the content of an index in which an object id has idBytes bytes. known is false if the index is damaged or has
// a form that only git can read.
func parseMarks(data []byte, idBytes int) (marks []Mark, known bool) {
	if len(data) < indexHeader+idBytes || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	rest, name := data[indexHeader:len(data)-idBytes], []byte(nil)
	for range count {
		size := indexStat + idBytes + 2
		if len(rest) < size+2 {
			return nil, false
		}
		flags, further := binary.BigEndian.Uint16(rest[size-2:]), uint16(0)
		if flags&extendedFlags != 0 {
			further = binary.BigEndian.Uint16(rest[size:])
			size += 2
		}
		kept := 0
		if version == 4 { // an entry says how many bytes of the previous name to cut off, and what to append
			cut, length := readOffset(rest[size:])
			if length == 0 || cut > len(name) {
				return nil, false
			}
			kept, size = len(name)-cut, size+length
		}
		end := bytes.IndexByte(rest[size:], 0)
		if end < 0 {
			return nil, false
		}
		name = append(name[:kept], rest[size:size+end]...)
		size += end + 1
		if version < 4 {
			size = (size + indexAlignment - 1) / indexAlignment * indexAlignment
		}
		if size > len(rest) {
			return nil, false
		}
		if skip, assume := further&skipWorktree != 0, flags&assumeValid != 0; skip || assume {
			marks = append(marks, Mark{string(name), skip, assume})
		}
		rest = rest[size:]
	}
	return marks, areExtensionsOptional(rest)
}

// readOffset reads a number of variable length (gitformat-pack(5), offset encoding). length is the number of its bytes, or 0 if it does not end
// within 4 bytes.
func readOffset(data []byte) (value, length int) {
	for i, c := range data[:min(len(data), 4)] {
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}

// areExtensionsOptional reports whether all extensions of an index are optional. A required one can mean that the file does not hold all entries:
// a split index keeps some in another file.
func areExtensionsOptional(data []byte) bool {
	for len(data) > 0 {
		if len(data) < 8 || data[0] < 'A' || data[0] > 'Z' {
			return false
		}
		size := int64(binary.BigEndian.Uint32(data[4:])) + 8
		if size > int64(len(data)) {
			return false
		}
		data = data[size:]
	}
	return true
}
