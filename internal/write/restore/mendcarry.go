package restore

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// commitLog is the log of a commit.
type commitLog struct {
	file history.File
	// text is nil if the commit has none that can be read as a file, or if it was dropped to save memory.
	text []byte
	// log is the text read as a log, once it has been read; nil if it is none.
	log      *ledger.Log
	isParsed bool
	// restored are the entries that the commit's old log lacks, and values are their contents.
	restored       []ledger.Entry
	restoredValues []*small.Value
}

// dropText saves memory: the text is in a blob.
func (l *commitLog) dropText() { *l = commitLog{file: l.file} }

// readFiles finds out what some commits, parents first, have at the paths that matter.
func (m *mending) readFiles(ctx context.Context, list []string) error {
	paths := []string{m.Log(), small.InDir(m.Dir, records.ProfileFile), small.Plan.Path(m.Dir)}
	for path := range m.substitutions {
		paths = append(paths, path)
	}
	var edges []history.Edge
	for _, id := range list {
		if len(m.parents[id]) > 0 {
			edges = append(edges, history.Edge{Parent: m.parents[id][0], Child: id})
		}
	}
	changed, err := m.repo.Diff(ctx, edges, history.At(paths...))
	if err != nil {
		return err
	}
	changes := map[string][]history.Change{}
	for i, e := range edges {
		changes[e.Child] = changed[i]
	}
	m.files = map[string]map[string]history.File{}
	for _, id := range list {
		before := m.files[firstOrNone(m.parents[id])]
		if before == nil {
			files, err := m.repo.List(ctx, id, history.At(paths...))
			if err != nil {
				return err
			}
			m.files[id] = map[string]history.File{}
			for _, path := range paths {
				m.files[id][path] = history.File{}
			}
			for _, f := range files {
				m.files[id][f.Path] = f
			}
			continue
		}
		m.files[id] = before
		if len(changes[id]) > 0 {
			m.files[id] = maps.Clone(before)
			for _, c := range changes[id] {
				m.files[id][c.Path] = c.New
			}
		}
	}
	return nil
}

func firstOrNone(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// findFile is what a commit has at a path; its mode is empty if that is nothing.
func (m *mending) findFile(ctx context.Context, id, path string) (history.File, error) {
	if f, known := m.files[id][path]; known {
		return f, nil
	}
	return m.restoring.findFile(ctx, id, path)
}

// readLog is the log of a commit, an old one or a new one.
func (m *mending) readLog(ctx context.Context, id string) (*commitLog, error) {
	log := m.logs[id]
	if log != nil && (log.text != nil || !log.file.Regular()) {
		return log, nil
	}
	out := &commitLog{}
	var err error
	if log != nil { // its text was dropped
		out.file = log.file
	} else if out.file, err = m.findFile(ctx, id, m.Log()); err != nil {
		return nil, err
	}
	if out.file.Regular() {
		if out.text, err = m.objects.Blob(ctx, out.file.Object); err != nil {
			return nil, err
		}
		if len(out.text) == 0 {
			out.text = nil
		}
	}
	if log == nil {
		m.logs[id] = out
	}
	return out, nil
}

// isKnownLog reports whether a commit's log is known and can be read as a file.
func (m *mending) isKnownLog(id string) bool { return m.logs[id] != nil && m.logs[id].file.Regular() }

// parseOnce is a text read as a log; nil if it is none.
func (m *mending) parseOnce(l *commitLog) *ledger.Log {
	if !l.isParsed {
		l.log, _ = m.parse(l.text)
		l.isParsed = true
	}
	return l.log
}

// storeLog makes the blob of a commit's log.
func (m *mending) storeLog(ctx context.Context, id string, text []byte) (f history.File, err error) {
	if f, err = m.findFile(ctx, id, m.Log()); err == nil && !f.Regular() {
		f, err = m.findFile(ctx, cmp.Or(firstOrNone(m.parents[id]), id), m.Log())
	}
	if err != nil {
		return f, err
	}
	if !f.Regular() {
		f.Mode = history.ModePlain
	}
	f.Path = m.Log()
	f.Object, err = m.objects.Store(ctx, text)
	return f, err
}

// carryAppended is the log of a commit that only appends to its parent's log: the same is appended to what that has become. It is nil if the logs
// have to be combined, such as for another time. Only what is appended is read.
func (m *mending) carryAppended(ctx context.Context, id string, parents []string) (*commitLog, error) {
	if id == m.toMend || len(parents) != 1 {
		return nil, nil
	}
	var logs [3]*commitLog
	for i, commit := range []string{m.parents[id][0], id, parents[0]} {
		log, err := m.readLog(ctx, commit)
		if err != nil || log.text == nil {
			return nil, err
		}
		logs[i] = log
	}
	was, is, base := logs[0], logs[1], logs[2]
	added, appends := bytes.CutPrefix(is.text, was.text)
	before, old := m.parseOnce(base), m.parseOnce(was)
	if !appends || before == nil || old == nil {
		return nil, nil
	}
	kind := m.kind()
	if !is.isParsed {
		is.log, _ = kind.Extend(old, was.text, is.text, m.Limits)
		is.isParsed = true
	}
	out := &commitLog{text: base.text, log: before, isParsed: true, restored: base.restored, restoredValues: base.restoredValues}
	if len(added) > 0 {
		out.text = slices.Concat(base.text, added)
		out.log, _ = kind.Extend(before, base.text, out.text, m.Limits)
	}
	if is.log == nil || out.log == nil || !m.appendsSame(old, is.log, before, out.log) || !m.isSoundStep(before.Ledger, out.log.Ledger) {
		return nil, nil
	}
	if m.mayRepeatRestored(added, is.log.Entries[old.Len():], base) {
		return nil, nil
	}
	if bytes.Equal(out.text, is.text) {
		return is, nil
	}
	return out, nil
}

// appendsSame reports whether a log adds the same finished entries to an old one as another log adds to another one.
func (m *mending) appendsSame(old, is, before, after *ledger.Log) bool {
	if old.Open+is.Open+before.Open+after.Open > 0 || !is.Extends(old.Ledger) || !after.Extends(before.Ledger) {
		return false
	}
	return slices.EqualFunc(is.Entries[old.Len():], after.Entries[before.Len():], func(a, b ledger.Entry) bool { return a.Digest == b.Digest })
}

// mayRepeatRestored reports whether entries, whose text is added, may be versions of entries that are back in a log.
func (m *mending) mayRepeatRestored(added []byte, entries []ledger.Entry, log *commitLog) bool {
	if len(log.restored) == 0 || len(entries) == 0 {
		return false
	}
	for _, e := range entries {
		if slices.ContainsFunc(log.restored, func(back ledger.Entry) bool { return back.Digest == e.Digest }) {
			return true
		}
	}
	if m.kind().Configured() {
		return false
	}
	values := combine.ValuesOf(append([]byte(combine.Header), added...), m.Limits)
	if len(values) != len(entries) {
		return true
	}
	for _, v := range values {
		if slices.ContainsFunc(log.restoredValues, func(back *small.Value) bool { return ledger.SurelySameEntry(back, v) }) {
			return true
		}
	}
	return false
}

// recordRestored notes which entries of a new log the old one lacks.
func (m *mending) recordRestored(log *commitLog, old []byte) {
	read := m.parseOnce(log)
	if read == nil {
		return
	}
	log.restored = ledger.Only(read.Ledger, m.readEntries(old), ledger.Equivalence{})
	if m.kind().Configured() || len(log.restored) == 0 {
		return
	}
	values := combine.ValuesOf(log.text, m.Limits)
	for _, e := range log.restored {
		log.restoredValues = append(log.restoredValues, ledger.Masked(values[e.Index]))
	}
}
