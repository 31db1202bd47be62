package read

import (
	"context"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// keptBytes bounds the logs in memory, counted without the storage that they share. The last one read always
// stays.
const keptBytes = 320 << 20

// entryBytes is about what one entry takes besides its texts.
const entryBytes = 240

// ledgers reads progress files as ledgers, each distinct object once.
type ledgers struct {
	tree   history.Tree
	limits small.Limits
	kept   map[string]*LedgerFile
	order  []string
	bytes  int
	last   lastFile
	whole  wholeFile
	// switches is true if the files are records of jobs and the ledger is their switch history.
	switches bool
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

// LedgerFile is one progress file of one tree.
type LedgerFile struct {
	File history.File
	// Log is nil if the file cannot be read as a ledger; Problems say why.
	Log      *ledger.Log
	Problems []small.Problem
}

// Readable reports whether there is a log that can be read.
func (f *LedgerFile) Readable() bool { return f != nil && f.Log != nil }

func (f *LedgerFile) size() int {
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

func newLedgers(tree history.Tree, limits small.Limits) *ledgers {
	return &ledgers{tree: tree, limits: limits, kept: map[string]*LedgerFile{}}
}

// Read returns the ledger of a file; nil for the zero File. earlier, if not nil, is a version that the file
// probably extends.
func (l *ledgers) Read(ctx context.Context, f history.File, earlier *LedgerFile) (*LedgerFile, error) {
	if f.Mode == "" && !f.Unmerged {
		return nil, nil
	}
	key := f.Mode + f.Object
	if known := l.kept[key]; known != nil && !f.Unmerged {
		return known, nil
	}
	out := &LedgerFile{File: f}
	data, problem, err := ReadFile(ctx, l.tree, f, l.limits)
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		out.Problems = []small.Problem{*problem}
	case l.switches:
		out.Log, out.Problems = readSwitches(f.Path, data, l.limits)
	case earlier.Readable():
		before, err := l.textOf(ctx, earlier)
		if err != nil {
			return nil, err
		}
		out.Log, out.Problems = earlier.Log.Extend(before, data, l.limits)
	default:
		l.parse(out, data)
	}
	l.keep(key, out)
	l.last = lastFile{log: out, data: data}
	return out, nil
}

// textOf is the text of a log. It is read again unless it was the last one.
func (l *ledgers) textOf(ctx context.Context, f *LedgerFile) ([]byte, error) {
	if l.last.log == f {
		return l.last.data, nil
	}
	data, _, err := ReadFile(ctx, l.tree, f.File, l.limits)
	return data, err
}

// readBefore returns the ledger of a file of which later is probably an extension.
func (l *ledgers) readBefore(ctx context.Context, f history.File, later *LedgerFile) (*LedgerFile, error) {
	if l.switches || !later.Readable() || l.last.log != later || l.known(f) || !f.Regular() || f.Unmerged {
		return l.Read(ctx, f, nil)
	}
	start, err := l.startOf(ctx, l.last.data, f)
	if err != nil {
		return nil, err
	}
	out := &LedgerFile{File: f, Log: later.Log.Before(l.last.data, start)}
	if out.Log == nil {
		return l.Read(ctx, f, nil)
	}
	l.keep(f.Mode+f.Object, out)
	return out, nil
}

// startOf returns what a text begins with if that is the content of a file; else nil. The file's id tells, and
// nothing is read but its size.
func (l *ledgers) startOf(ctx context.Context, text []byte, f history.File) ([]byte, error) {
	blob, err := l.tree.Blob(ctx, f.Object, 0)
	if err != nil || blob.Size > int64(len(text)) || history.BlobID(text[:blob.Size], f.Object) != f.Object {
		return nil, err
	}
	return text[:blob.Size], nil
}

// parse reads a file whole and remembers its document.
func (l *ledgers) parse(out *LedgerFile, data []byte) {
	doc, problems := small.Parse(data, l.limits)
	if doc == nil {
		out.Problems = problems
		return
	}
	if out.Log, out.Problems = ledger.LogOf(doc, data); out.Log != nil {
		l.whole = wholeFile{log: out, doc: doc}
	}
}

func (l *ledgers) known(f history.File) bool { return l.kept[f.Mode+f.Object] != nil }

// document returns the document of a file if it was the last one parsed whole.
func (l *ledgers) document(f history.File) (*small.Document, *ledger.Log) {
	if l == nil || l.whole.log == nil || l.whole.log.File.Object != f.Object || l.whole.log.File.Mode != f.Mode || f.Unmerged {
		return nil, nil
	}
	return l.whole.doc, l.whole.log.Log
}

func (l *ledgers) keep(key string, f *LedgerFile) {
	if before := l.kept[key]; before != nil {
		l.bytes -= before.size()
	} else {
		l.order = append(l.order, key)
	}
	l.bytes += f.size()
	l.kept[key] = f
	for l.bytes > keptBytes && len(l.order) > 1 {
		l.bytes -= l.kept[l.order[0]].size()
		delete(l.kept, l.order[0])
		l.order = l.order[1:]
	}
}

// Records gives a file's entries in full.
func (l *ledgers) Records(ctx context.Context, f history.File) ledger.RecordsFunc {
	return func() ([]*small.Value, error) {
		data, problem, err := ReadFile(ctx, l.tree, f, l.limits)
		if err != nil {
			return nil, err
		}
		if problem != nil {
			return nil, &failure.Error{Message: f.Path + ": " + problem.Message, Remedy: problem.Hint}
		}
		if l.switches {
			return switchValues(f.Path, data, l.limits)
		}
		doc, problems := small.Parse(data, l.limits)
		if doc == nil {
			return nil, &failure.Error{Message: f.Path + ": " + problems[0].Message, Remedy: problems[0].Hint}
		}
		return doc.Root.Get("entries").Items, nil
	}
}
