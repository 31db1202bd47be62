package restore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// readLogText is the log of a commit; nil if it has none that can be read as a file.
func (m *mending) readLogText(ctx context.Context, id string) ([]byte, error) {
	log, err := m.readLog(ctx, id)
	if err != nil {
		return nil, err
	}
	return log.text, nil
}

// mendLog is what the log of a commit becomes after those of its parents; was if it stays.
func (m *mending) mendLog(ctx context.Context, id string, parents []string, source string, was *commitLog) (*commitLog, error) {
	text, gone, err := m.combineLog(ctx, id, parents, source)
	if err == nil && text != nil && !m.tasksAdopted {
		m.tasksAdopted = true
		err = m.adoptTasksInCommit(ctx, id, gone)
	}
	if err != nil || text == nil || was.text != nil && bytes.Equal(text, was.text) {
		return was, err
	}
	out := &commitLog{text: text}
	m.recordRestored(out, was.text)
	return out, nil
}

// combineLog is what the combineLog of a commit becomes, nil if it stays, and entries that are back and of which it had no version.
func (m *mending) combineLog(ctx context.Context, id string, parents []string, source string) ([]byte, []ledger.Entry, error) {
	if source != "" {
		parents = []string{source}
	}
	sides, logs, file, err := m.readSides(ctx, id, parents)
	switch {
	case err != nil || m.isSound(id, logs, file) && !m.dropsNew(id):
		return nil, nil, err
	case file == nil && id != m.toMend && m.isKnownLog(m.parents[id][0]):
		return nil, nil, &failure.Error{
			Message: fmt.Sprintf("%s takes %s away: what came before cannot be mended", history.Short(id), m.Log()), Remedy: "mend that commit first: " + m.mendCommand(history.Short(id)),
		}
	}
	var back combine.PutBack
	for _, sides.Unmarked = range []bool{true, false} { // the merge's own entry explains it again, or else a new one
		text := []byte(combine.Empty)
		if m.kind().Configured() {
			text = []byte{}
		}
		if len(logs) > 0 {
			resolved, err := sides.Resolve()
			if err != nil {
				return nil, nil, m.errCannotRewrite(ctx, id, err)
			}
			text = resolved.Text
		}
		if m.dropsNew(id) {
			m.droppedCount = len(ledger.Only(m.readEntries(file), m.readEntries(text), ledger.Equivalence{}))
			return text, nil, nil
		}
		if back, err = m.putBackAfterParents(ctx, id, sides, text, file); err != nil {
			return nil, nil, err
		}
		if log, _ := m.parse(back.Text); log != nil && m.isSoundAfter(logs, log.Ledger) {
			break
		}
	}
	if id == m.toMend {
		m.alike = back.Alike
	}
	return back.Text, back.Gone, nil
}

// dropsNew reports whether a commit's log gets nothing new.
func (m *mending) dropsNew(id string) bool { return m.discard && id == m.toMend }

// refuseUncommittedLog is an error if the work tree or the index has another log than HEAD: nobody could tell what is to be dropped.
func (m *mending) refuseUncommittedLog(ctx context.Context) error {
	dirty, err := m.git.Dirty(ctx, m.Log())
	if err == nil && dirty {
		err = &failure.Error{Message: m.Log() + " has changes that are not committed", Remedy: "commit them first"}
	}
	return err
}

// putBackAfterParents is what the log of a commit becomes after that of its parents. What a remote-tracking branch has keeps its time, and stands where it
// belongs by that: else it would be there twice once that branch is merged.
func (m *mending) putBackAfterParents(ctx context.Context, id string, sides combine.Case, text, file []byte) (back combine.PutBack, err error) {
	handled, err := m.entriesOfRewrittenParents(ctx, id)
	if err != nil {
		return back, err
	}
	again := func() (err error) {
		never := func(_, _ *ledger.Ledger) bool { return false }
		if m.kind().Configured() {
			back, err = m.putBackOf(text, file, never)
		} else {
			back, err = combine.PutBackWithout(handled, text, file, never, m.Now, m.Limits)
		}
		if err != nil {
			err = &failure.Error{Message: fmt.Sprintf("%s of a parent of %s cannot be read: %v", m.Log(), history.Short(id), err), Err: err}
		}
		return err
	}
	if err = again(); err != nil {
		return back, err
	}
	moved := m.withAllowedTimes(back.Moved)
	if len(moved) == 0 || reconcile.OnlyMergesInsert(m.Policy) {
		return back, nil
	}
	published, err := reconcile.Published(ctx, m.repo, id, m.Log(), moved, reconcile.Options{Policy: m.Policy, MaxFileSize: m.Limits.MaxFileSize, Now: m.Now})
	if err != nil || len(published) == 0 {
		return back, err
	}
	sides.Ours, sides.Theirs, sides.Unmarked = combine.Version{Name: "what is there", Data: text}, nil, false
	resolved, err := sides.Insert(combine.Version{Name: history.Short(id), Data: file}, published)
	if err == nil {
		text = resolved.Text
		return back, again()
	}
	if earlier, asked := m.findEarlierLoss(ctx, id); asked != nil || earlier != "" {
		return back, m.errCannotRewrite(ctx, id, err)
	}
	return back, nil // there is no place for it: a baseline fixes that part of the log, say
}

// entriesOfRewrittenParents are the entries of the old logs of a commit's parents that were rewritten: whatever became of them, they are not new in it.
func (m *mending) entriesOfRewrittenParents(ctx context.Context, id string) (map[small.Digest]bool, error) {
	out := map[small.Digest]bool{}
	for _, p := range m.parents[id] {
		if made := m.newIDs[p]; made == "" || made == p {
			continue
		}
		log, err := m.readLog(ctx, p)
		if err != nil {
			return nil, err
		}
		if read := m.parseOnce(log); read != nil {
			for _, e := range read.Entries {
				out[e.Digest] = true
			}
		}
	}
	return out, nil
}

// readSides reads the logs of a commit's parents, to be combined when it was made, and its own.
func (m *mending) readSides(ctx context.Context, id string, parents []string) (sides combine.Case, logs []*ledger.Ledger, file []byte, err error) {
	if file, err = m.readLogText(ctx, id); err == nil && file == nil && m.At == "" {
		profile, err := m.findFile(ctx, id, small.InDir(m.Dir, records.ProfileFile))
		if err != nil || profile.Mode != "" {
			return sides, nil, nil, err // an import has taken the log's place
		}
	}
	if err == nil {
		err = m.findTarget(ctx, id)
	}
	if err == nil {
		sides, err = m.newCase(ctx, id, parents)
	}
	return sides, m.readLogs(append([]combine.Version{sides.Ours}, sides.Theirs...)), file, err
}

// isSound reports whether a commit's log has lost nothing of its parents' logs and, if the commit put them together, has that of the target
// first.
func (m *mending) isSound(id string, parents []*ledger.Ledger, file []byte) bool {
	log, _ := m.parse(file)
	if log == nil {
		return len(parents) == 0
	}
	side, known := m.targets[id]
	if known && len(parents) == 2 && !combine.BeginsWith(parents[side], parents[1-side], log.Ledger) {
		return false
	}
	return m.isSoundAfter(parents, log.Ledger)
}

// findTarget notes which parent of a merge the target has, for a log whose entries have an order.
func (m *mending) findTarget(ctx context.Context, id string) error {
	old := m.parents[id]
	stanza := m.Policy.LogFor(m.Log())
	if stanza == nil || stanza.Unordered() || len(old) != 2 {
		return nil
	}
	side, err := reconcile.TargetSide(ctx, m.repo, m.git, old[0], old[1])
	if err == nil && side >= 0 {
		m.targets[id] = side
	}
	return err
}

// newCase are the logs of a commit's new parents, to be combined when the commit was made.
func (m *mending) newCase(ctx context.Context, id string, parents []string) (c combine.Case, err error) {
	c = combine.Case{Path: m.Log(), Limits: m.Limits, Comparer: read.NewLogComparer(m.Policy, m.Log(), m.Now), TheirsFirst: m.targets[id] == 1}
	made, err := m.objects.Commit(ctx, id)
	if err != nil {
		return c, err
	}
	c.Now = made.Time()
	old := m.parents[id]
	for i, p := range parents {
		v := combine.Version{Name: history.Short(p), ID: p}
		if v.Data, err = m.readLogText(ctx, p); err != nil {
			return c, err
		}
		if i == 0 {
			c.Ours = v
			continue
		}
		bases, err := m.repo.MergeBases(ctx, old[0], old[i])
		if err != nil {
			return c, err
		}
		for _, id := range bases {
			data, err := m.readLogText(ctx, cmp.Or(m.newIDs[id], id))
			if err != nil {
				return c, err
			}
			v.Bases = append(v.Bases, combine.Version{ID: id, Data: data})
		}
		c.Theirs = append(c.Theirs, v)
	}
	return c, nil
}
