package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/small"
)

// keptLogs bounds how many logs stay in memory. Logs that extend one another
// share storage, so that a long history of appends costs little more than its
// last log.
const keptLogs = 64

// ledgers reads progress files as ledgers, each distinct object once.
type ledgers struct {
	tree   Tree
	limits small.Limits
	kept   map[string]*ledgerFile
	order  []string
}

// ledgerFile is one progress file of one tree.
type ledgerFile struct {
	file File
	// log is nil if the file cannot be read as a ledger; problems say why.
	log      *small.Log
	problems []small.Problem
}

func (f *ledgerFile) readable() bool { return f != nil && f.log != nil }

func newLedgers(tree Tree, limits small.Limits) *ledgers {
	return &ledgers{tree: tree, limits: limits, kept: map[string]*ledgerFile{}}
}

// read returns the ledger of a file. earlier, if not nil, is a version that
// the file probably extends. It returns nil for the zero File.
func (l *ledgers) read(ctx context.Context, f File, earlier *ledgerFile) (*ledgerFile, error) {
	if f.Mode == "" {
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
	default:
		var base *small.Log
		if earlier.readable() {
			base = earlier.log
		}
		out.log, out.problems = base.Extend(data, l.limits)
	}
	l.keep(key, out)
	return out, nil
}

func (l *ledgers) keep(key string, f *ledgerFile) {
	if len(l.order) >= keptLogs {
		delete(l.kept, l.order[0])
		l.order = l.order[1:]
	}
	l.kept[key] = f
	l.order = append(l.order, key)
}

// records gives a file's entries in full, for an explanation.
func (l *ledgers) records(ctx context.Context, f *ledgerFile) recordsFunc {
	return func() ([]*small.Value, error) {
		data, problem, err := readFile(ctx, l.tree, f.file, l.limits)
		if err != nil {
			return nil, err
		}
		if problem != nil {
			return nil, &Failure{Message: f.file.Path + ": " + problem.Message, Remedy: problem.Hint}
		}
		doc, problems := small.Parse(data, l.limits)
		if doc == nil {
			return nil, &Failure{Message: f.file.Path + ": " + problems[0].Message, Remedy: problems[0].Hint}
		}
		return doc.Root.Get("entries").Items, nil
	}
}
