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

// keptBytes bounds the logs in memory if the caller sets no other bound, counted without the storage that they share. The last one read
// always stays. A process takes about three times as much in all, and less than 256 MB.
const keptBytes = 64 << 20

// entryBytes is about what one entry takes besides its texts.
const entryBytes = 320

// ledgers reads the files of logs of one format as ledgers, each distinct object once.
type ledgers struct {
	tree   history.Tree
	limits small.Limits
	kept   map[string]*LedgerFile
	order  []string
	bytes  int
	// most bounds bytes.
	most  int
	last  lastFile
	whole wholeFile
	// newest are the last versions of the logs that are judged, by path, and newestBytes the size of their texts in memory.
	newest      map[string]*newestFile
	newestBytes int
	format
}

// newestFile is the last version of a log among those that are judged: most earlier ones are its beginning, which their ids prove, so that
// git need not read them. log and data are nil until it is read.
type newestFile struct {
	file history.File
	log  *LedgerFile
	data []byte
}

// lastFile is the file that was read last: usually the next one continues it, or an earlier version of it is a part of it.
type lastFile struct {
	log  *LedgerFile
	data []byte
}

// wholeFile is the file that was last parsed whole: the tip's snapshot needs the same document.
type wholeFile struct {
	log *LedgerFile
	doc *small.Document
}

// LedgerFile is one log's file of one tree.
type LedgerFile struct {
	File history.File
	// Log is nil if the file cannot be read as a ledger; Problems say why.
	Log      *ledger.Log
	Problems []small.Problem
	// of is the newest version, if this is its beginning, of size bytes.
	of   *newestFile
	size int
	// left are the indexes, in the file, of the ledger's entries, if others went to an archive.
	left []int
	// came is what came from another log to this archive, and is in the ledger besides the file's entries.
	came *rotation
}

// Readable reports whether there is a log that can be read.
func (f *LedgerFile) Readable() bool { return f != nil && f.Log != nil }

// Archive reports whether it is an archive with a log that came to it, and how many entries it had before.
func (f *LedgerFile) Archive() (had int, is bool) {
	if f.came == nil {
		return 0, false
	}
	return f.Log.Len() - len(f.came.gone), true
}

func (f *LedgerFile) memory() int {
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

func newLedgers(tree history.Tree, limits small.Limits, most int, as format) *ledgers {
	l := &ledgers{tree: tree, limits: limits, format: as, kept: map[string]*LedgerFile{}, newest: map[string]*newestFile{}, most: cmp.Or(most, keptBytes)}
	if as.ofFile { // a file that must not change is seldom read twice
		l.most /= 8
	}
	return l
}

// Read returns the ledger of a file; nil for the zero File. near, if not nil, is a version that the file probably
// extends, or at least begins like.
func (l *ledgers) Read(ctx context.Context, f history.File, near *LedgerFile) (*LedgerFile, error) {
	if f.Mode == "" && !f.Unmerged {
		return nil, nil
	}
	key := l.key(f)
	if known := l.kept[key]; known != nil && !f.Unmerged {
		if n := l.newest[f.Path]; n != nil && n.log == known {
			l.reach(n)
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
	case near.Readable() && l.grows:
		text, err := l.textOf(ctx, near)
		if err != nil {
			return nil, err
		}
		out.Log, out.Problems = near.Log.Extend(text, data, l.limits)
		if out.Readable() && !out.Log.Extends(near.Log.Ledger) {
			l.keep(key, out)
			if near.of == nil || near.of.data == nil {
				l.remember(lastFile{log: near, data: text}) // others may have forked from it too
			} else {
				l.giveBack(data)
			}
			return out, nil
		}
	default:
		l.parse(out, data)
	}
	l.keep(key, out)
	l.remember(lastFile{log: out, data: data})
	return out, nil
}

// key is what a file's entries depend on.
func (l *ledgers) key(f history.File) string {
	if l.ofFile {
		return f.Mode + f.Object + path.Base(f.Path)
	}
	return f.Mode + f.Object
}

// text reads a file's text, if reading its entries needs that.
func (l *ledgers) text(ctx context.Context, f history.File) ([]byte, *small.Problem, error) {
	switch {
	case l.ofFile && f.Mode == history.ModeSubmodule:
		return nil, NotAFile(f), nil
	case l.ofFile && !f.Unmerged && (!l.needsText || f.Mode == history.ModeLink):
		return nil, nil, nil
	}
	return ReadFile(ctx, l.tree, f, l.limits)
}

// recycler is a tree that can read the next object into memory that is no longer needed. A version of a log may have megabytes.
type recycler interface{ Recycle(data []byte) }

// giveBack gives up a text. Nothing else refers to it: what is parsed is copied.
func (l *ledgers) giveBack(text []byte) {
	if tree, ok := l.tree.(recycler); ok && l.grows && len(text) > 0 {
		tree.Recycle(text)
	}
}

// remember makes a file the last one, and gives up the text of the one before.
func (l *ledgers) remember(f lastFile) {
	before := l.last.data
	l.last = f
	if len(before) > 0 && (len(f.data) == 0 || &before[0] != &f.data[0]) {
		l.giveBack(before)
	}
}

// textOf is the text of a log. It is read again unless it was the last one.
func (l *ledgers) textOf(ctx context.Context, f *LedgerFile) ([]byte, error) {
	if l.last.log == f {
		return l.last.data, nil
	}
	if f.of != nil && f.of.data != nil {
		return f.of.data[:f.size], nil
	}
	data, _, err := ReadFile(ctx, l.tree, f.File, l.limits)
	return data, err
}

// noteNewest says which version of a log is the last one that will be read. If that was just read, for another question, its text stays.
func (l *ledgers) noteNewest(f history.File) {
	if !l.grows || !f.Regular() || f.Unmerged || l.newest[f.Path] != nil {
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

// reach makes the newest version of a log the last file that was read: no earlier ones will follow.
func (l *ledgers) reach(n *newestFile) {
	l.forget(n)
	l.remember(lastFile{log: n.log, data: n.data})
	n.data = nil
}

// fromNewest returns the ledger of a file that is the newest version of its log, or the beginning of that; nil if it has to be read.
func (l *ledgers) fromNewest(ctx context.Context, f history.File) (*LedgerFile, error) {
	n := l.newest[f.Path]
	if n == nil || !f.Regular() || f.Unmerged {
		return nil, nil
	}
	if l.key(f) == l.key(n.file) {
		if n.log == nil {
			l.forget(n)
			return nil, nil
		}
		l.keep(l.key(f), n.log)
		l.reach(n)
		return n.log, nil
	}
	if err := l.readNewest(ctx, n); err != nil || n.log == nil {
		return nil, err
	}
	start, err := l.startOf(ctx, n.data, f)
	if err != nil {
		return nil, err
	}
	out := &LedgerFile{File: f, Log: n.log.Log.Before(n.data, start), of: n, size: len(start)}
	if out.Log == nil {
		return nil, nil
	}
	l.keep(l.key(f), out)
	return out, nil
}

// readNewest reads the newest version of a log. It forgets one that is no log, or that takes too much memory besides others.
func (l *ledgers) readNewest(ctx context.Context, n *newestFile) error {
	if n.log != nil {
		return nil
	}
	const share = 4
	if l.newestBytes > 0 {
		if blob, err := l.tree.Blob(ctx, n.file.Object, 0); err != nil || int64(l.newestBytes)+blob.Size > int64(l.most/share) {
			l.forget(n)
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
		l.forget(n)
		return nil
	}
	n.log, n.data = log, data
	l.newestBytes += len(data)
	return nil
}

func (l *ledgers) forget(n *newestFile) {
	delete(l.newest, n.file.Path)
	l.newestBytes -= len(n.data)
}

// NoteStart remembers the ledger of a file if later, whose text is given, begins with it: the file then need not be read.
func (l *ledgers) NoteStart(ctx context.Context, f history.File, later *LedgerFile, text []byte) error {
	if !l.grows || !f.Regular() || f.Unmerged || l.known(f) {
		return nil
	}
	start, err := l.startOf(ctx, text, f)
	if err != nil || start == nil {
		return err
	}
	if log := later.Log.Before(text, start); log != nil {
		l.keep(l.key(f), &LedgerFile{File: f, Log: log})
	}
	return nil
}

// startOf returns the beginning of a text if that is the content of a file, by its id; else nil. Only the file's size
// is read.
func (l *ledgers) startOf(ctx context.Context, text []byte, f history.File) ([]byte, error) {
	blob, err := l.tree.Blob(ctx, f.Object, 0)
	if err != nil || blob.Size > int64(len(text)) || history.BlobID(text[:blob.Size], f.Object) != f.Object {
		return nil, err
	}
	return text[:blob.Size], nil
}

// parse reads a file whole, and remembers the document of the protocol's own log.
func (l *ledgers) parse(out *LedgerFile, data []byte) {
	if !IsLedger(out.File.Path) {
		out.Log, out.Problems = l.read(out.File, data, l.limits)
		return
	}
	doc, problems := small.Parse(data, l.limits)
	if doc == nil {
		out.Problems = problems
		return
	}
	if out.Log, out.Problems = ledger.LogOf(doc, data); out.Log != nil {
		l.whole = wholeFile{log: out, doc: doc}
	}
}

func (l *ledgers) known(f history.File) bool { return l.kept[l.key(f)] != nil }

// document returns the document of a file if it was the last one parsed whole.
func (l *ledgers) document(f history.File) (*small.Document, *ledger.Log) {
	if l == nil || l.whole.log == nil || l.whole.log.File.Object != f.Object || l.whole.log.File.Mode != f.Mode || f.Unmerged {
		return nil, nil
	}
	return l.whole.doc, l.whole.log.Log
}

func (l *ledgers) keep(key string, f *LedgerFile) {
	if before := l.kept[key]; before != nil {
		l.bytes -= before.memory()
	} else {
		l.order = append(l.order, key)
	}
	l.bytes += f.memory()
	l.kept[key] = f
	for l.bytes > l.most && len(l.order) > 1 {
		l.bytes -= l.kept[l.order[0]].memory()
		delete(l.kept, l.order[0])
		l.order = l.order[1:]
	}
}

// Open gives the entries of a log that are not finished; none for nil.
func (l *ledgers) Open(ctx context.Context, f *LedgerFile) (ledger.Open, error) {
	if !f.Readable() || f.Log.Open == 0 {
		return ledger.Open{}, nil
	}
	data, err := l.textOf(ctx, f)
	if err != nil {
		return ledger.Open{}, err
	}
	return l.open(f.File, data, l.limits), nil
}

// RecordsOf gives a log's entries in full.
func (l *ledgers) RecordsOf(ctx context.Context, f *LedgerFile) ledger.RecordsFunc {
	all := l.Records(ctx, f.File)
	if f.left == nil && f.came == nil {
		return all
	}
	if f.came != nil {
		return func() (values []*small.Value, err error) {
			if f.File.Mode != "" {
				if values, err = all(); err != nil {
					return nil, err
				}
			}
			others, err := l.Records(ctx, f.came.file)()
			if err != nil {
				return nil, err
			}
			values = slices.Clone(values)
			for _, e := range f.came.gone {
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
		out := make([]*small.Value, len(f.left))
		for i, at := range f.left {
			out[i] = values[at]
		}
		return out, nil
	}
}

// Records gives a file's entries in full.
func (l *ledgers) Records(ctx context.Context, f history.File) ledger.RecordsFunc {
	if l.ofFile { // even a link, or a file that is too large to be read, has a value
		return func() ([]*small.Value, error) {
			blob, err := l.tree.Blob(ctx, f.Object, l.limits.FileSize())
			return []*small.Value{ledger.FileValue(f.Mode, blob.Size, blob.Data)}, err
		}
	}
	return func() ([]*small.Value, error) {
		if doc, _ := l.document(f); doc != nil {
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
