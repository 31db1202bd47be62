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

// mendedLog is the log of a commit.
type mendedLog struct {
	file history.File
	// text is nil if the commit has none that can be read as a file, or if it was dropped to save memory.
	text []byte
	// log is the text read as a log, once it has been read; nil if it is none.
	log  *ledger.Log
	read bool
	// back are the entries that the commit's old log lacks, and values are their contents.
	back   []ledger.Entry
	values []*small.Value
}

// dropText saves memory: the text is in a blob.
func (l *mendedLog) dropText() { *l = mendedLog{file: l.file} }

// findFiles finds out what some commits, parents first, have at the paths that matter.
func (m *mending) findFiles(ctx context.Context, list []string) error {
	paths := []string{m.Log(), small.InDir(m.Dir, records.ProfileFile), small.Plan.Path(m.Dir)}
	for path := range m.files {
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
	m.at = map[string]map[string]history.File{}
	for _, id := range list {
		before := m.at[firstOf(m.parents[id])]
		if before == nil {
			files, err := m.repo.List(ctx, id, history.At(paths...))
			if err != nil {
				return err
			}
			m.at[id] = map[string]history.File{}
			for _, path := range paths {
				m.at[id][path] = history.File{}
			}
			for _, f := range files {
				m.at[id][f.Path] = f
			}
			continue
		}
		m.at[id] = before
		if len(changes[id]) > 0 {
			m.at[id] = maps.Clone(before)
			for _, c := range changes[id] {
				m.at[id][c.Path] = c.New
			}
		}
	}
	return nil
}

func firstOf(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// file is what a commit has at a path; its mode is empty if that is nothing.
func (m *mending) file(ctx context.Context, id, path string) (history.File, error) {
	if f, known := m.at[id][path]; known {
		return f, nil
	}
	return m.restoring.file(ctx, id, path)
}

// logOf is the log of a commit, an old one or a new one.
func (m *mending) logOf(ctx context.Context, id string) (*mendedLog, error) {
	log := m.logs[id]
	if log != nil && (log.text != nil || !log.file.Regular()) {
		return log, nil
	}
	out := &mendedLog{}
	var err error
	if log != nil { // its text was dropped
		out.file = log.file
	} else if out.file, err = m.file(ctx, id, m.Log()); err != nil {
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

// hadLog reports whether a commit's log is known and can be read as a file.
func (m *mending) hadLog(id string) bool { return m.logs[id] != nil && m.logs[id].file.Regular() }

// parsed is a text read as a log; nil if it is none.
func (m *mending) parsed(l *mendedLog) *ledger.Log {
	if !l.read {
		l.log, _ = m.parse(l.text)
		l.read = true
	}
	return l.log
}

// storeLog makes the blob of a commit's log.
func (m *mending) storeLog(ctx context.Context, id string, text []byte) (f history.File, err error) {
	if f, err = m.file(ctx, id, m.Log()); err == nil && !f.Regular() {
		f, err = m.file(ctx, cmp.Or(firstOf(m.parents[id]), id), m.Log())
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

// carried is the log of a commit that only appends to its parent's log: the same is appended to what that has become. It is nil if the logs
// have to be combined, such as for another time. Only what is appended is read.
func (m *mending) carried(ctx context.Context, id string, parents []string) (*mendedLog, error) {
	if id == m.first || len(parents) != 1 {
		return nil, nil
	}
	var logs [3]*mendedLog
	for i, commit := range []string{m.parents[id][0], id, parents[0]} {
		log, err := m.logOf(ctx, commit)
		if err != nil || log.text == nil {
			return nil, err
		}
		logs[i] = log
	}
	was, is, base := logs[0], logs[1], logs[2]
	added, appends := bytes.CutPrefix(is.text, was.text)
	before, old := m.parsed(base), m.parsed(was)
	if !appends || before == nil || old == nil {
		return nil, nil
	}
	kind := m.kind()
	if !is.read {
		is.log, _ = kind.Extend(old, was.text, is.text, m.Limits)
		is.read = true
	}
	out := &mendedLog{text: base.text, log: before, read: true, back: base.back, values: base.values}
	if len(added) > 0 {
		out.text = slices.Concat(base.text, added)
		out.log, _ = kind.Extend(before, base.text, out.text, m.Limits)
	}
	if is.log == nil || out.log == nil || !m.appendsAlike(old, is.log, before, out.log) || !m.sound(before.Ledger, out.log.Ledger) {
		return nil, nil
	}
	if m.repeats(added, is.log.Entries[old.Len():], base) {
		return nil, nil
	}
	if bytes.Equal(out.text, is.text) {
		return is, nil
	}
	return out, nil
}

// appendsAlike reports whether a log adds the same finished entries to an old one as another log adds to another one.
func (m *mending) appendsAlike(old, is, before, after *ledger.Log) bool {
	if old.Open+is.Open+before.Open+after.Open > 0 || !is.Extends(old.Ledger) || !after.Extends(before.Ledger) {
		return false
	}
	return slices.EqualFunc(is.Entries[old.Len():], after.Entries[before.Len():], func(a, b ledger.Entry) bool { return a.Digest == b.Digest })
}

// repeats reports whether entries, whose text is added, may be versions of entries that are back in a log.
func (m *mending) repeats(added []byte, entries []ledger.Entry, log *mendedLog) bool {
	if len(log.back) == 0 || len(entries) == 0 {
		return false
	}
	for _, e := range entries {
		if slices.ContainsFunc(log.back, func(back ledger.Entry) bool { return back.Digest == e.Digest }) {
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
		if slices.ContainsFunc(log.values, func(back *small.Value) bool { return ledger.SurelySameEntry(back, v) }) {
			return true
		}
	}
	return false
}

// noteBack notes which entries of a new log the old one lacks.
func (m *mending) noteBack(log *mendedLog, old []byte) {
	read := m.parsed(log)
	if read == nil {
		return
	}
	log.back = ledger.Only(read.Ledger, m.entriesOf(old), ledger.Equivalence{})
	if m.kind().Configured() || len(log.back) == 0 {
		return
	}
	values := combine.ValuesOf(log.text, m.Limits)
	for _, e := range log.back {
		log.values = append(log.values, ledger.Masked(values[e.Index]))
	}
}
