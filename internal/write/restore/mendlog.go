package restore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// readLogText returns the text of a commit's log; nil if the commit has no regular file for it, or an empty one.
func (m *mending) readLogText(ctx context.Context, id string) ([]byte, error) {
	log, err := m.readLog(ctx, id)
	if err != nil {
		return nil, err
	}
	return log.text, nil
}

// mendLog returns the log that a commit gets once its parents have new logs. If the log does not change, it returns was, the log that the commit has. If
// entries come back, the commit's plan gets their tasks: see tasksAdopted.
func (m *mending) mendLog(ctx context.Context, id string, parents []string, source string, was *commitLog) (*commitLog, error) {
	text, gone, err := m.combineLog(ctx, id, parents, source)
	if err == nil && len(gone) > 0 && !m.tasksAdopted && m.descendants(m.toMend)[id] {
		m.tasksAdopted = true
		err = m.adoptTasksInCommit(ctx, id, gone)
	}
	if err != nil || text == nil || was.text != nil && bytes.Equal(text, was.text) {
		return was, err
	}
	return &commitLog{text: text}, nil
}

// combineLog returns the new text of a commit's log, nil if the log does not change, and the restored entries of which the log had no version.
func (m *mending) combineLog(ctx context.Context, id string, parents []string, source string) ([]byte, []ledger.Entry, error) {
	if source != "" {
		parents = []string{source}
	}
	sides, logs, file, err := m.readSides(ctx, id, parents)
	if err != nil {
		return nil, nil, err
	}
	removed, err := m.removedByRewrite(ctx, id, logs)
	wasRemoved := func(e ledger.Entry) bool { return removed[e.Digest] > 0 }
	switch {
	case err != nil || m.isSound(id, logs, file) && !m.dropsNew(id) && !slices.ContainsFunc(m.readEntries(file).Entries, wasRemoved):
		return nil, nil, err
	case file == nil && id != m.toMend && m.mayEnd():
		return nil, nil, &failure.Error{
			Message: fmt.Sprintf("%s deletes %s; its waiver holds only while the log is not changed, so no earlier commit can be mended", history.Short(id), m.Log()),
			Remedy:  "mend " + history.Short(id) + " first: " + m.mendCommand(id),
		}
	}
	var back combine.PutBack
	for _, sides.Unmarked = range []bool{true, false} { // first without a new reconcile entry: the merge's old one may still explain the order
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
			whole, own := m.readEntries(text), m.readEntries(file)
			m.droppedCount = len(ledger.Only(own, whole, ledger.Equivalence{}))
			back = combine.PutBack{Text: text, Gone: ledger.Only(whole, own, ledger.Equivalence{})}
		} else if back, err = m.putBackAfterParents(ctx, id, sides, text, file, removed); err != nil {
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

// mayEnd reports whether a waiver allows that the log is deleted.
func (m *mending) mayEnd() bool {
	return slices.ContainsFunc(m.Policy.Waivers, func(w policy.Waiver) bool {
		return w.Edit.Has(ledger.LogEnded) && w.Path == m.Log() && !w.Expired(m.Now)
	})
}

func (m *mending) dropsNew(id string) bool { return m.discard && id == m.toMend }

// refuseUncommittedLog returns an error if the file at path, where HEAD has the log, differs from HEAD's in the work tree or the index: it would not be
// clear what to drop.
func (m *mending) refuseUncommittedLog(ctx context.Context, path string) error {
	dirty, err := m.git.Dirty(ctx, path)
	if err == nil && dirty {
		err = &failure.Error{Message: path + " has changes that are not committed", Remedy: "commit them first"}
	}
	return err
}

// putBackAfterParents returns a commit's new log: text, which is its parents' combined log, and then the new entries of file, the commit's old log. A
// new entry that a remote-tracking branch has keeps its time, and goes to the place for that time, if there is one and the policy allows insertions
// outside merges. Otherwise it would be there twice once that branch is merged. removed counts, by digest, the entries that do not count as new.
func (m *mending) putBackAfterParents(ctx context.Context, id string, sides combine.Case, text, file []byte, removed map[small.Digest]int) (back combine.PutBack, err error) {
	putBack := func() (err error) {
		left := maps.Clone(removed)
		isRemoved := func(e ledger.Entry) bool {
			left[e.Digest]--
			return left[e.Digest] >= 0
		}
		if back, err = m.kind().PutBack(text, file, func(_, _ *ledger.Ledger) bool { return false }, isRemoved, m.Now, m.Limits); err != nil {
			err = &failure.Error{Message: fmt.Sprintf("%s of a parent of %s cannot be read: %v", m.Log(), history.Short(id), err), Err: err}
		}
		return err
	}
	if err = putBack(); err != nil {
		return back, err
	}
	moved := m.withAllowedTimes(back.RetimedNew)
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
		err = putBack()
		return back, err
	}
	if earlier, findErr := m.findEarlierLoss(ctx, id); findErr != nil || earlier != "" {
		return back, m.errCannotRewrite(ctx, id, err)
	}
	return back, nil // the entry has no place at its time: for example, a baseline fixes that part of the log
}

// removedByRewrite counts the entries that a commit's rewritten parents had in their old logs, and that the logs of the new parents lack.
func (m *mending) removedByRewrite(ctx context.Context, id string, now []*ledger.Ledger) (map[small.Digest]int, error) {
	var before []*ledger.Ledger
	for _, p := range m.parents[id] {
		if made := m.newIDs[p]; made == "" || made == p {
			continue
		}
		was, err := m.readLogText(ctx, p)
		if err != nil {
			return nil, err
		}
		before = append(before, m.readEntries(was))
	}
	out, nowCounts := mostOf(before), mostOf(now)
	for digest := range out {
		out[digest] -= nowCounts[digest]
	}
	return out, nil
}

// mostOf counts each entry in each log, and returns the largest count of each entry.
func mostOf(logs []*ledger.Ledger) map[small.Digest]int {
	most := map[small.Digest]int{}
	for _, log := range logs {
		count := map[small.Digest]int{}
		for _, e := range log.Entries {
			count[e.Digest]++
			most[e.Digest] = max(most[e.Digest], count[e.Digest])
		}
	}
	return most
}

// readSides reads the logs of a commit's parents, to combine them as of the commit's time, and the commit's own log.
func (m *mending) readSides(ctx context.Context, id string, parents []string) (sides combine.Case, logs []*ledger.Ledger, file []byte, err error) {
	if file, err = m.readLogText(ctx, id); err == nil && file == nil && m.At == "" {
		profile, err := findFile(ctx, m.repo, id, small.InDir(m.Dir, records.ProfileFile))
		if err != nil || profile.Mode != "" {
			return sides, nil, nil, err // a workspace of 2.0.0 has no log of its own: the old one is in an import's folder
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

// isSound reports whether a commit may keep its log: it is sound after the parents' logs (see isSoundAfter) and, in a merge, begins with the target's
// log or equals the other side's; or the commit rotated the log.
func (m *mending) isSound(id string, parents []*ledger.Ledger, file []byte) bool {
	if m.archives[id] != "" {
		return true
	}
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

// findTarget finds out which of a merge's two parents is on the target branch, if the order of the log's entries counts.
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

// newCase reads the logs of a commit's new parents and of their merge bases, to combine them as of the commit's time.
func (m *mending) newCase(ctx context.Context, id string, parents []string) (c combine.Case, err error) {
	c = combine.Case{Path: m.Log(), Limits: m.Limits, Comparer: read.NewLogComparer(m.Policy, m.Log(), m.Now), TheirsFirst: m.targets[id] == 1}
	commit, err := m.objects.Commit(ctx, id)
	if err != nil {
		return c, err
	}
	c.Now = commit.Time()
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
