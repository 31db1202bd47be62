package read

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// defaultMaxBytes is how many bytes of logs stay in memory if the caller sets no other bound. What two logs share in memory counts twice. The log
// that was read last always stays. The whole process takes about three times as much, less than 256 MB.
const defaultMaxBytes = 64 << 20

// entryBytes is about how much memory an entry takes besides its texts.
const entryBytes = 320

// logReader reads logs of one format. It reads each distinct object once, as long as the ledger stays in memory.
type logReader struct {
	tree     history.Tree
	limits   small.Limits
	kept     map[string]*LedgerFile
	order    []string
	bytes    int
	maxBytes int
	last     lastFile
	parsed   parsedFile
	// newest holds the newest version of each log that will be judged, by path; newestBytes is the size of their texts in memory.
	newest      map[string]*newestFile
	newestBytes int
	format
}

// newestFile is the newest version of a log that will be judged. An earlier version is usually the beginning of this one. If the beginning's
// computed id is the earlier version's, git need not read that version. log and data are nil until the file is read.
type newestFile struct {
	file history.File
	log  *LedgerFile
	data []byte
}

// lastFile is the file that was read last. Its text is kept because the next version usually continues it.
type lastFile struct {
	log  *LedgerFile
	data []byte
}

// parsedFile is the file that was last parsed as a document. It is kept because the check of the tip's workspace needs that document.
type parsedFile struct {
	log *LedgerFile
	doc *small.Document
}

// LedgerFile is the file of a log in one tree, and the ledger that was read from it.
type LedgerFile struct {
	File history.File
	// Log is nil if the file cannot be read as a ledger; Problems say why.
	Log      *ledger.Log
	Problems []small.Problem
	// beginningOf is set if this version is the first size bytes of the log's newest version.
	beginningOf *newestFile
	size        int
	// remaining is set if some of the file's entries went to an archive: the indexes, in the file, of the entries that remain.
	remaining []int
	// rotatedIn is set if this is an archive to which another log went: the ledger has that log's entries besides the file's own.
	rotatedIn *rotation
}

// Readable reports whether there is a log that can be read.
func (f *LedgerFile) Readable() bool { return f != nil && f.Log != nil }

// ledger returns the log's ledger, nil if there is no readable log.
func (f *LedgerFile) ledger() *ledger.Ledger {
	if !f.Readable() {
		return nil
	}
	return f.Log.Ledger
}

// LenBeforeRotation returns how many entries an archive had before another log went to it; isArchive is false if none did.
func (f *LedgerFile) LenBeforeRotation() (had int, isArchive bool) {
	if f.rotatedIn == nil {
		return 0, false
	}
	return f.Log.Len() - len(f.rotatedIn.Gone), true
}

// RotatedFrom returns the path of the log whose entries went to this archive; empty if this is none.
func (f *LedgerFile) RotatedFrom() string {
	if f.rotatedIn == nil {
		return ""
	}
	return f.rotatedIn.from
}

// rotated reports whether the ledger is that of logAfterRotation, and not what the file's text says.
func (f *LedgerFile) rotated() bool { return f.remaining != nil || f.rotatedIn != nil }

// memoryBytes estimates how much memory a log takes.
func (f *LedgerFile) memoryBytes() int {
	size := entryBytes
	for _, p := range f.Problems {
		size += entryBytes + len(p.Message) + len(p.Hint)
	}
	if f.Readable() {
		for i := range f.Log.Entries {
			size += entryBytes + f.Log.Entries[i].TextBytes()
		}
	}
	return size
}

func newLogReader(tree history.Tree, limits small.Limits, maxBytes int, as format) *logReader {
	l := &logReader{tree: tree, limits: limits, format: as, kept: map[string]*LedgerFile{}, newest: map[string]*newestFile{}, maxBytes: cmp.Or(maxBytes, defaultMaxBytes)}
	if as.fileIsEntry { // an immutable file is seldom read twice
		l.maxBytes /= 8
	}
	return l
}

// Read returns the ledger of a file, or nil for the zero File. near, if not nil, is a version that probably has the same beginning, so that
// only the rest of the file need be parsed.
func (l *logReader) Read(ctx context.Context, f history.File, near *LedgerFile) (*LedgerFile, error) {
	if f.Mode == "" && !f.Unmerged {
		return nil, nil
	}
	key := l.key(f)
	if known := l.kept[key]; known != nil && !f.Unmerged {
		if n := l.newest[f.Path]; n != nil && n.log == known {
			l.finishNewest(n)
		}
		return known, nil
	}
	if known, err := l.fromNewest(ctx, f); known != nil || err != nil {
		return known, err
	}
	out := &LedgerFile{File: f}
	data, problem, err := l.text(ctx, f)
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		out.Problems = []small.Problem{*problem}
	case near.Readable() && !near.rotated() && l.extendable:
		text, err := l.textOf(ctx, near)
		if err != nil {
			return nil, err
		}
		out.Log, out.Problems = near.Log.Extend(text, data, l.limits)
		if out.Readable() && !out.Log.Extends(near.Log.Ledger) {
			l.keep(key, out)
			if near.beginningOf == nil || near.beginningOf.data == nil {
				l.setLast(lastFile{log: near, data: text}) // the next version may have forked from near, too
			} else {
				l.recycle(data)
			}
			return out, nil
		}
	default:
		l.parse(out, data)
	}
	l.keep(key, out)
	l.setLast(lastFile{log: out, data: data})
	return out, nil
}

// key returns what identifies a file's entries: its mode and id and, if the file is the entry, its name.
func (l *logReader) key(f history.File) string {
	if l.fileIsEntry {
		return f.Mode + f.Object + path.Base(f.Path)
	}
	return f.Mode + f.Object
}

// text reads a file's text. It returns nil if the entries do not depend on the text.
func (l *logReader) text(ctx context.Context, f history.File) ([]byte, *small.Problem, error) {
	switch {
	case l.fileIsEntry && f.Mode == history.ModeSubmodule:
		return nil, NotAFile(f), nil
	case l.fileIsEntry && !f.Unmerged && (!l.needsText || f.Mode == history.ModeLink):
		return nil, nil, nil
	}
	return ReadFile(ctx, l.tree, f, l.limits)
}

// recycler is a tree that can read the next object into memory that is no longer needed: each version of a log may take megabytes.
type recycler interface{ Recycle(data []byte) }

// recycle lets the tree use a text's memory again. Nothing else refers to it, because parsing copies.
func (l *logReader) recycle(text []byte) {
	if tree, ok := l.tree.(recycler); ok && l.extendable && len(text) > 0 {
		tree.Recycle(text)
	}
}

// setLast notes the file that was read last, and lets the tree use the memory of the one before.
func (l *logReader) setLast(f lastFile) {
	before := l.last.data
	l.last = f
	if len(before) > 0 && (len(f.data) == 0 || &before[0] != &f.data[0]) {
		l.recycle(before)
	}
}

// textOf returns the text of a log. It reads the file again unless the text is still in memory.
func (l *logReader) textOf(ctx context.Context, f *LedgerFile) ([]byte, error) {
	if l.last.log == f {
		return l.last.data, nil
	}
	if f.beginningOf != nil && f.beginningOf.data != nil {
		return f.beginningOf.data[:f.size], nil
	}
	data, _, err := ReadFile(ctx, l.tree, f.File, l.limits)
	return data, err
}

// noteNewest notes which version of a log will be the last one to be read. If this version was read just now, its text stays in memory.
func (l *logReader) noteNewest(f history.File) {
	if !l.extendable || !f.Regular() || f.Unmerged || l.newest[f.Path] != nil {
		return
	}
	n := &newestFile{file: f}
	if known := l.kept[l.key(f)]; known != nil {
		if known != l.last.log || !known.Readable() {
			return
		}
		n.log, n.data, l.last = known, l.last.data, lastFile{}
		l.newestBytes += len(n.data)
	}
	l.newest[f.Path] = n
}

// finishNewest makes the newest version of a log the file that was read last, and no longer holds its text for earlier versions. It is called when that
// version is read itself: no earlier one follows.
func (l *logReader) finishNewest(n *newestFile) {
	l.forgetNewest(n)
	l.setLast(lastFile{log: n.log, data: n.data})
	n.data = nil
}

// fromNewest returns the ledger of a file without reading the file, if it is the newest version of its log or the beginning of that; else nil.
func (l *logReader) fromNewest(ctx context.Context, f history.File) (*LedgerFile, error) {
	n := l.newest[f.Path]
	if n == nil || !f.Regular() || f.Unmerged {
		return nil, nil
	}
	if l.key(f) == l.key(n.file) {
		if n.log == nil {
			l.forgetNewest(n)
			return nil, nil
		}
		l.keep(l.key(f), n.log)
		l.finishNewest(n)
		return n.log, nil
	}
	if err := l.readNewest(ctx, n); err != nil || n.log == nil {
		return nil, err
	}
	start, err := l.prefixEqualTo(ctx, n.data, f)
	if err != nil {
		return nil, err
	}
	out := &LedgerFile{File: f, Log: n.log.Log.ReadEarlier(n.data, start), beginningOf: n, size: len(start)}
	if out.Log == nil {
		return nil, nil
	}
	l.keep(l.key(f), out)
	return out, nil
}

// readNewest reads the newest version of a log. It forgets a version that is no log, or whose text does not fit into memory beside other logs'.
func (l *logReader) readNewest(ctx context.Context, n *newestFile) error {
	if n.log != nil {
		return nil
	}
	const share = 4 // the texts of several newest versions together take at most a quarter of the memory; a single one may take more
	if l.newestBytes > 0 {
		if blob, err := l.tree.Blob(ctx, n.file.Object, 0); err != nil || int64(l.newestBytes)+blob.Size > int64(l.maxBytes/share) {
			l.forgetNewest(n)
			return err
		}
	}
	data, problem, err := ReadFile(ctx, l.tree, n.file, l.limits)
	if err != nil {
		return err
	}
	log := &LedgerFile{File: n.file}
	if problem == nil {
		l.parse(log, data)
	}
	if !log.Readable() {
		l.forgetNewest(n)
		return nil
	}
	n.log, n.data = log, data
	l.newestBytes += len(data)
	return nil
}

func (l *logReader) forgetNewest(n *newestFile) {
	delete(l.newest, n.file.Path)
	l.newestBytes -= len(n.data)
}

// KeepBeginning makes and keeps the ledger of a file without reading the file, if a later version of the log begins with the file's content. text
// is the later version's text.
func (l *logReader) KeepBeginning(ctx context.Context, f history.File, later *LedgerFile, text []byte) error {
	if !l.extendable || !f.Regular() || f.Unmerged || l.isKept(f) {
		return nil
	}
	start, err := l.prefixEqualTo(ctx, text, f)
	if err != nil || start == nil {
		return err
	}
	if log := later.Log.ReadEarlier(text, start); log != nil {
		l.keep(l.key(f), &LedgerFile{File: f, Log: log})
	}
	return nil
}

// prefixEqualTo returns the beginning of a text that is equal to a file's content, or nil if the text does not begin with it. It compares ids, and
// reads only the file's size.
func (l *logReader) prefixEqualTo(ctx context.Context, text []byte, f history.File) ([]byte, error) {
	blob, err := l.tree.Blob(ctx, f.Object, 0)
	if err != nil || blob.Size > int64(len(text)) || history.BlobID(text[:blob.Size], f.Object) != f.Object {
		return nil, err
	}
	return text[:blob.Size], nil
}

// parse makes a log from its whole text, and remembers the document if it is the protocol's own log.
func (l *logReader) parse(out *LedgerFile, data []byte) {
	if !IsProgress(out.File.Path) {
		out.Log, out.Problems = l.read(out.File, data, l.limits)
		return
	}
	doc, problems := small.Parse(data, l.limits)
	if doc == nil {
		out.Problems = problems
		return
	}
	if out.Log, out.Problems = ledger.LogOf(doc, data); out.Log != nil {
		l.parsed = parsedFile{log: out, doc: doc}
	}
}

func (l *logReader) isKept(f history.File) bool { return l.kept[l.key(f)] != nil }

// lastDocument returns the document and the log of a file if it was the last one that was parsed as a document, else nil.
func (l *logReader) lastDocument(f history.File) (*small.Document, *ledger.Log) {
	if l == nil || l.parsed.log == nil || l.parsed.log.File.Object != f.Object || l.parsed.log.File.Mode != f.Mode || f.Unmerged {
		return nil, nil
	}
	return l.parsed.doc, l.parsed.log.Log
}

// keep keeps a log in memory. The logs that were kept first go if all take too much.
func (l *logReader) keep(key string, f *LedgerFile) {
	if before := l.kept[key]; before != nil {
		l.bytes -= before.memoryBytes()
	} else {
		l.order = append(l.order, key)
	}
	l.bytes += f.memoryBytes()
	l.kept[key] = f
	for l.bytes > l.maxBytes && len(l.order) > 1 {
		l.bytes -= l.kept[l.order[0]].memoryBytes()
		delete(l.kept, l.order[0])
		l.order = l.order[1:]
	}
}

// OpenEntries returns the entries of a log that are not finished. f may be nil.
func (l *logReader) OpenEntries(ctx context.Context, f *LedgerFile) (ledger.OpenEntries, error) {
	if !f.Readable() || f.Log.Open == 0 {
		return ledger.OpenEntries{}, nil
	}
	data, err := l.textOf(ctx, f)
	if err != nil {
		return ledger.OpenEntries{}, err
	}
	return l.openEntries(f.File, data, l.limits), nil
}

// RecordsAfterRotation returns a function that reads in full the entries that a log has after an edge's rotations: without the entries that went to
// an archive, and with the entries that came to the log from another one.
func (l *logReader) RecordsAfterRotation(ctx context.Context, f *LedgerFile) ledger.RecordsFunc {
	all := l.Records(ctx, f.File)
	if !f.rotated() {
		return all
	}
	if f.rotatedIn != nil {
		return func() (values []*small.Value, err error) {
			if f.File.Mode != "" {
				if values, err = all(); err != nil {
					return nil, err
				}
			}
			others, err := l.Records(ctx, f.rotatedIn.file)()
			if err != nil {
				return nil, err
			}
			values = slices.Clone(values)
			for _, e := range f.rotatedIn.Gone {
				values = append(values, others[e.Index])
			}
			return values, nil
		}
	}
	return func() ([]*small.Value, error) {
		values, err := all()
		if err != nil {
			return nil, err
		}
		out := make([]*small.Value, len(f.remaining))
		for i, at := range f.remaining {
			out[i] = values[at]
		}
		return out, nil
	}
}

// Records returns a function that reads all entries of a file in full.
func (l *logReader) Records(ctx context.Context, f history.File) ledger.RecordsFunc {
	if l.fileIsEntry { // here a link, or a file that is too large to be read, is an entry too
		return func() ([]*small.Value, error) {
			blob, err := l.tree.Blob(ctx, f.Object, l.limits.FileSize())
			return []*small.Value{ledger.FileValue(f.Mode, blob.Size, blob.Data)}, err
		}
	}
	return func() ([]*small.Value, error) {
		if doc, _ := l.lastDocument(f); doc != nil {
			return doc.Root.Get("entries").Items, nil
		}
		data, problem, err := ReadFile(ctx, l.tree, f, l.limits)
		if err != nil {
			return nil, err
		}
		if problem != nil {
			return nil, &failure.Error{Message: f.Path + ": " + problem.Message, Remedy: problem.Hint}
		}
		values, problems := l.values(f, data, l.limits)
		if len(problems) > 0 {
			return nil, &failure.Error{Message: f.Path + ": " + problems[0].Message, Remedy: problems[0].Hint}
		}
		return values, nil
	}
}
