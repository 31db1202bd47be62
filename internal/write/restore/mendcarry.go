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

// commitLog is the log of a commit, old or new.
type commitLog struct {
	file history.File
	// text is nil if the commit has no regular file for the log, if that is empty, or if the text was dropped to save memory.
	text []byte
	// log is the parsed text once isParsed is true; nil if the text is not a log.
	log      *ledger.Log
	isParsed bool
	// restored are the entries that the commit's old log lacks, and restoredValues are their contents, with credentials masked.
	restored       []ledger.Entry
	restoredValues []*small.Value
}

// dropText saves memory. The text can be read from its blob again.
func (l *commitLog) dropText() { *l = commitLog{file: l.file} }

// readFiles fills m.files for listed commits, parents first.
func (m *mending) readFiles(ctx context.Context, list []string) error {
	paths := []string{m.Log(), small.InDir(m.Dir, records.ProfileFile), small.Plan.Path(m.Dir)}
	for path := range m.substitutions {
		paths = append(paths, path)
	}
	paths = append(paths, slices.Collect(maps.Values(m.archives))...)
	for _, path := range m.movedTo {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
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
			if m.files[id], err = m.listFiles(ctx, id, paths); err != nil {
				return err
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

// listFiles returns the files that a commit has at the paths, by their paths. Where it has none, the mode is empty.
func (m *mending) listFiles(ctx context.Context, id string, paths []string) (map[string]history.File, error) {
	files, err := m.repo.List(ctx, id, history.At(paths...))
	out := map[string]history.File{}
	for _, path := range paths {
		out[path] = history.File{}
	}
	for _, f := range files {
		out[f.Path] = f
	}
	return out, err
}

func firstOrNone(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// findFile returns the file that a commit has at a path; its mode is empty if there is none.
func (m *mending) findFile(ctx context.Context, id, path string) (history.File, error) {
	if f, known := m.files[id][path]; known {
		return f, nil
	}
	return m.restoring.findFile(ctx, id, path)
}

// readLog returns the log of an old or new commit.
func (m *mending) readLog(ctx context.Context, id string) (*commitLog, error) {
	log := m.logs[id]
	if log != nil && (log.text != nil || !log.file.Regular()) {
		return log, nil
	}
	out := &commitLog{}
	var err error
	if log != nil { // its text was dropped
		out.file = log.file
	} else if out.file, err = m.findFile(ctx, id, m.logAt(id)); err != nil {
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

// isKnownLog reports whether m.logs has a commit's log, and that is a regular file.
func (m *mending) isKnownLog(id string) bool { return m.logs[id] != nil && m.logs[id].file.Regular() }

// parseOnce returns the parsed text of l; nil if the text is not a log.
func (m *mending) parseOnce(l *commitLog) *ledger.Log {
	if !l.isParsed {
		l.log, _ = m.parse(l.text)
		l.isParsed = true
	}
	return l.log
}

// storeLog writes the blob of a commit's log. The file keeps its mode, or takes that of the first parent's log.
func (m *mending) storeLog(ctx context.Context, id string, text []byte) (f history.File, err error) {
	if f, err = m.findFile(ctx, id, m.logAt(id)); err == nil && !f.Regular() {
		parent := cmp.Or(firstOrNone(m.parents[id]), id)
		f, err = m.findFile(ctx, parent, m.logAt(parent))
	}
	if err != nil {
		return f, err
	}
	if !f.Regular() {
		f.Mode = history.ModePlain
	}
	f.Path = m.logAt(id)
	f.Object, err = m.objects.Store(ctx, text)
	return f, err
}

// carryAppended appends to the parent's new log what a commit appended to the parent's old log, and parses only that. It returns nil if the
// logs must be combined instead, because an appended entry needs another time, for example.
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
	oldParent, own, newParent := logs[0], logs[1], logs[2]
	added, appends := bytes.CutPrefix(own.text, oldParent.text)
	newBase, oldBase := m.parseOnce(newParent), m.parseOnce(oldParent)
	if !appends || newBase == nil || oldBase == nil {
		return nil, nil
	}
	kind := m.kind()
	if !own.isParsed {
		own.log, _ = kind.Extend(oldBase, oldParent.text, own.text, m.Limits)
		own.isParsed = true
	}
	out := &commitLog{text: newParent.text, log: newBase, isParsed: true, restored: newParent.restored, restoredValues: newParent.restoredValues}
	if len(added) > 0 {
		out.text = slices.Concat(newParent.text, added)
		out.log, _ = kind.Extend(newBase, newParent.text, out.text, m.Limits)
	}
	if own.log == nil || out.log == nil || !appendsSame(oldBase, own.log, newBase, out.log) || !m.isSoundStep(newBase.Ledger, out.log.Ledger) {
		return nil, nil
	}
	if m.mayRepeatRestored(added, own.log.Entries[oldBase.Len():], newParent) {
		return nil, nil
	}
	if bytes.Equal(out.text, own.text) {
		return own, nil
	}
	return out, nil
}

// appendsSame reports whether oldLog appends the same entries to oldBase as newLog appends to newBase. It is false if a log has open entries.
func appendsSame(oldBase, oldLog, newBase, newLog *ledger.Log) bool {
	if oldBase.Open+oldLog.Open+newBase.Open+newLog.Open > 0 || !oldLog.Extends(oldBase.Ledger) || !newLog.Extends(newBase.Ledger) {
		return false
	}
	equal := func(a, b ledger.Entry) bool { return a.Digest == b.Digest }
	return slices.EqualFunc(oldLog.Entries[oldBase.Len():], newLog.Entries[newBase.Len():], equal)
}

// mayRepeatRestored reports whether any of the entries, whose text is added, may be a version of a restored entry of the log.
func (m *mending) mayRepeatRestored(added []byte, entries []ledger.Entry, log *commitLog) bool {
	if len(log.restored) == 0 || len(entries) == 0 {
		return false
	}
	for _, e := range entries {
		if slices.ContainsFunc(log.restored, func(restored ledger.Entry) bool { return restored.Digest == e.Digest }) {
			return true
		}
	}
	if m.kind().Configured() {
		return false
	}
	values := combine.ReadValues(append([]byte(combine.Header), added...), m.Limits)
	if len(values) != len(entries) {
		return true
	}
	for _, v := range values {
		if slices.ContainsFunc(log.restoredValues, func(restored *small.Value) bool { return ledger.SurelySameEntry(restored, v) }) {
			return true
		}
	}
	return false
}

// recordRestored sets which entries of a new log the old one lacks.
func (m *mending) recordRestored(log *commitLog, old []byte) {
	parsed := m.parseOnce(log)
	if parsed == nil {
		return
	}
	log.restored = ledger.Only(parsed.Ledger, m.readEntries(old), ledger.Equivalence{})
	if m.kind().Configured() || len(log.restored) == 0 {
		return
	}
	values := combine.ReadValues(log.text, m.Limits)
	for _, e := range log.restored {
		log.restoredValues = append(log.restoredValues, ledger.Masked(values[e.Index]))
	}
}
