package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/small"
)

// keptBytes bounds the logs that stay in memory, as if each had storage of its
// own; those that extend one another share it. The last one read always stays.
const keptBytes = 320 << 20

// entryBytes is about what one entry takes besides its texts.
const entryBytes = 240

// ledgers reads progress files as ledgers, each distinct object once.
type ledgers struct {
	tree   Tree
	limits small.Limits
	kept   map[string]*ledgerFile
	order  []string
	bytes  int
	whole  wholeFile
	// switches is true where the files are records of jobs, and the ledger is
	// their switch history.
	switches bool
}

// wholeFile is the file that was last parsed as a whole: the tip's snapshot
// needs the same document again, and an earlier version of the log may be a
// part of it.
type wholeFile struct {
	log  *ledgerFile
	data []byte
	doc  *small.Document
}

// ledgerFile is one progress file of one tree.
type ledgerFile struct {
	file File
	// log is nil if the file cannot be read as a ledger; problems say why.
	log      *small.Log
	problems []small.Problem
}

func (f *ledgerFile) readable() bool { return f != nil && f.log != nil }

// size is about how many bytes a log takes in memory.
func (f *ledgerFile) size() int {
	size := entryBytes
	for _, p := range f.problems {
		size += entryBytes + len(p.Message) + len(p.Hint)
	}
	if f.readable() {
		for i := range f.log.Entries {
			size += entryBytes + f.log.Entries[i].TextBytes()
		}
	}
	return size
}

func newLedgers(tree Tree, limits small.Limits) *ledgers {
	return &ledgers{tree: tree, limits: limits, kept: map[string]*ledgerFile{}}
}

// read returns the ledger of a file. earlier, if not nil, is a version that
// the file probably extends. It returns nil for the zero File.
func (l *ledgers) read(ctx context.Context, f File, earlier *ledgerFile) (*ledgerFile, error) {
	if f.Mode == "" && !f.Unmerged {
		return nil, nil
	}
	key := f.Mode + f.Object
	if known := l.kept[key]; known != nil && !f.Unmerged {
		return known, nil
	}
	out := &ledgerFile{file: f}
	data, problem, err := readFile(ctx, l.tree, f, l.limits)
	switch {
	case err != nil:
		return nil, err
	case problem != nil:
		out.problems = []small.Problem{*problem}
	case l.switches:
		out.log, out.problems = readSwitches(f.Path, data, l.limits)
	case earlier.readable():
		out.log, out.problems = earlier.log.Extend(data, l.limits)
	default:
		l.parse(out, data)
	}
	l.keep(key, out)
	return out, nil
}

// readBefore returns the ledger of a file of which later is probably a longer
// version.
func (l *ledgers) readBefore(ctx context.Context, f File, later *ledgerFile) (*ledgerFile, error) {
	if l.switches || !later.readable() || l.whole.log != later || l.known(f) || !f.Regular() || f.Unmerged {
		return l.read(ctx, f, nil)
	}
	data, problem, err := readFile(ctx, l.tree, f, l.limits)
	if err != nil || problem != nil {
		return l.read(ctx, f, nil)
	}
	out := &ledgerFile{file: f, log: later.log.Before(l.whole.data, data)}
	if out.log == nil {
		out.log, out.problems = small.ReadLog(data, l.limits)
	}
	l.keep(f.Mode+f.Object, out)
	return out, nil
}

// parse reads a file as a whole and remembers its document.
func (l *ledgers) parse(out *ledgerFile, data []byte) {
	doc, problems := small.Parse(data, l.limits)
	if doc == nil {
		out.problems = problems
		return
	}
	if out.log, out.problems = small.LogOf(doc, data); out.log != nil {
		l.whole = wholeFile{log: out, data: data, doc: doc}
	}
}

// known reports whether a file's ledger is in memory.
func (l *ledgers) known(f File) bool { return l.kept[f.Mode+f.Object] != nil }

// document returns the document of a file if it is the one that was last
// parsed as a whole.
func (l *ledgers) document(f File) (*small.Document, *small.Log) {
	if l == nil || l.whole.log == nil || l.whole.log.file.Object != f.Object || l.whole.log.file.Mode != f.Mode || f.Unmerged {
		return nil, nil
	}
	return l.whole.doc, l.whole.log.log
}

func (l *ledgers) keep(key string, f *ledgerFile) {
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

// records gives a file's entries in full, for an explanation.
func (l *ledgers) records(ctx context.Context, f File) recordsFunc {
	return func() ([]*small.Value, error) {
		data, problem, err := readFile(ctx, l.tree, f, l.limits)
		if err != nil {
			return nil, err
		}
		if problem != nil {
			return nil, &Failure{Message: f.Path + ": " + problem.Message, Remedy: problem.Hint}
		}
		if l.switches {
			return switchValues(f.Path, data, l.limits)
		}
		doc, problems := small.Parse(data, l.limits)
		if doc == nil {
			return nil, &Failure{Message: f.Path + ": " + problems[0].Message, Remedy: problems[0].Hint}
		}
		return doc.Root.Get("entries").Items, nil
	}
}
