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

// readLogText returns the text of a commit's log; nil if the log is missing, empty or not a regular file.
func (m *mending) readLogText(ctx context.Context, id string) ([]byte, error) {
	log, err := m.readLog(ctx, id)
	if err != nil {
		return nil, err
	}
	return log.text, nil
}

// mendLog returns a commit's new log. If the log does not change, the result is the pointer oldLog. parents are the commit's new parents. If lost
// entries come back, mendLog may add the tasks that they name to the commit's plan: see tasksAdopted.
func (m *mending) mendLog(ctx context.Context, id string, parents []string, source string, oldLog *commitLog) (*commitLog, error) {
	text, restored, err := m.combineLog(ctx, id, parents, source)
	if err == nil && len(restored) > 0 && !m.tasksAdopted && m.descendants(m.toMend)[id] {
		m.tasksAdopted = true
		err = m.adoptTasksInCommit(ctx, id, restored)
	}
	if err != nil || text == nil || oldLog.text != nil && bytes.Equal(text, oldLog.text) {
		return oldLog, err
	}
	return &commitLog{text: text}, nil
}

// combineLog returns the new text of a commit's log; nil if the log does not change. It also returns the restored entries, without those of which the
// old log had a changed version.
func (m *mending) combineLog(ctx context.Context, id string, parents []string, source string) (text []byte, restored []ledger.Entry, err error) {
	if source != "" {
		parents = []string{source}
	}
	sides, parentLogs, oldText, err := m.readSides(ctx, id, parents)
	if err != nil {
		return nil, nil, err
	}
	removed, err := m.removedByRewrite(ctx, id, parentLogs)
	wasRemoved := func(e ledger.Entry) bool { return removed[e.Digest] > 0 }
	switch {
	case err != nil || m.isSound(id, parentLogs, oldText) && (!m.dropsNew(id) || oldText == nil) && !slices.ContainsFunc(m.readEntries(oldText).Entries, wasRemoved):
		return nil, nil, err
	case oldText == nil && id != m.toMend && m.isDeletionWaived():
		return nil, nil, &failure.Error{
			Message: fmt.Sprintf("%s has no %s, as a waiver allows. The waiver names the log's content before the deletion; mending an earlier commit would change that content", history.Short(id), m.Log()),
			Remedy:  "put the log back in " + history.Short(id) + " first: " + m.mendCommand(id),
		}
	}
	var back combine.PutBack
	// Try without a new reconcile entry first. If the commit is a merge, the reconcile entry that it already has may still account for the order.
	for _, sides.Unmarked = range []bool{true, false} {
		text = []byte(combine.Empty)
		if m.kind().Configured() {
			text = []byte{}
		}
		if len(parentLogs) > 0 {
			resolved, err := sides.Resolve()
			if err != nil {
				return nil, nil, m.errCannotRewrite(ctx, id, err)
			}
			text = resolved.Text
		}
		if m.dropsNew(id) {
			combined, old := m.readEntries(text), m.readEntries(oldText)
			m.droppedCount = len(ledger.Only(old, combined, ledger.Equivalence{}))
			back = combine.PutBack{Text: text, Gone: ledger.Only(combined, old, ledger.Equivalence{})}
		} else if back, err = m.putBackAfterParents(ctx, id, sides, text, oldText, removed); err != nil {
			return nil, nil, err
		}
		if log, _ := m.parse(back.Text); log != nil && m.isSoundAfter(parentLogs, log.Ledger) {
			break
		}
	}
	if id == m.toMend {
		m.alike = back.Alike
	}
	return back.Text, back.Gone, nil
}

// isDeletionWaived reports whether a waiver allows the deletion of the log.
func (m *mending) isDeletionWaived() bool {
	return slices.ContainsFunc(m.Policy.Waivers, func(w policy.Waiver) bool {
		return w.Edit.Has(ledger.LogEnded) && w.Path == m.Log() && !w.Expired(m.Now)
	})
}

// dropsNew reports whether a commit is the one whose new entries are dropped.
func (m *mending) dropsNew(id string) bool { return m.discard && id == m.toMend }

// refuseUncommittedLog returns an error if the log has changes in the index or the work tree that are not committed: then it is not clear which
// entries to drop. path is the log's path in HEAD.
func (m *mending) refuseUncommittedLog(ctx context.Context, path string) error {
	dirty, err := m.git.Dirty(ctx, path)
	if err == nil && dirty {
		err = &failure.Error{Message: path + " has changes that are not committed", Remedy: "commit them first"}
	}
	return err
}

// refuseUnreadableSource returns an error if the log cannot be read in the source or, if entries are dropped, in a parent of the commit to mend: without
// such a log, nothing would be put back, or every entry dropped.
func (m *mending) refuseUnreadableSource(ctx context.Context) error {
	var from []string
	if m.options.Source != "" {
		from = []string{m.options.Source}
	} else if m.discard {
		from = m.parents[m.toMend]
	}
	for _, id := range from {
		text, err := m.readLogText(ctx, id)
		if err != nil {
			return err
		}
		if log, problems := m.parse(text); text != nil && log == nil {
			return &failure.Error{
				Message: fmt.Sprintf("%s cannot be read in %s: line %d: %s", m.Log(), history.Short(id), max(problems[0].Pos.Line, 1), problems[0].Message),
				Remedy:  "name a commit in which the log can be read, with --source",
			}
		}
	}
	return nil
}

// putBackAfterParents returns a commit's new log: the parents' combined log, text, followed by the new entries of the commit's old log, oldText. A
// new entry may get a later time. If a branch has the entry with its old time, a merge of that branch would add the entry a second time. So an entry
// that a remote-tracking branch has keeps its time: it is inserted where that time belongs, if the log has such a place and the policy allows
// insertions outside merges. removed is the result of removedByRewrite: these entries do not count as new.
func (m *mending) putBackAfterParents(ctx context.Context, id string, sides combine.Case, text, oldText []byte, removed map[small.Digest]int) (back combine.PutBack, err error) {
	putBack := func() (err error) {
		left := maps.Clone(removed)
		isRemoved := func(e ledger.Entry) bool {
			left[e.Digest]--
			return left[e.Digest] >= 0
		}
		if back, err = m.kind().PutBack(text, oldText, func(_, _ *ledger.Ledger) bool { return false }, isRemoved, m.Now, m.Limits); err != nil {
			err = &failure.Error{Message: fmt.Sprintf("%s cannot be rewritten: the log that it continues (%s) cannot be read: %v", history.Short(id), m.Log(), err), Err: err}
		}
		return err
	}
	if err = putBack(); err != nil {
		return back, err
	}
	retimed := m.withAllowedTimes(back.RetimedNew)
	if len(retimed) == 0 || reconcile.OnlyMergesInsert(m.Policy) {
		return back, nil
	}
	published, err := reconcile.Published(ctx, m.repo, id, m.Log(), retimed, reconcile.Options{Policy: m.Policy, MaxFileSize: m.Limits.MaxFileSize, Now: m.Now})
	if err != nil || len(published) == 0 {
		return back, err
	}
	sides.Ours, sides.Theirs, sides.Unmarked = combine.Version{Name: "what is there", Data: text}, nil, false
	resolved, err := sides.Insert(combine.Version{Name: history.Short(id), Data: oldText}, published)
	if err == nil {
		text = resolved.Text
		err = putBack()
		return back, err
	}
	if earlier, findErr := m.findEarlierUnsound(ctx, id); findErr != nil || earlier != "" {
		return back, m.errCannotRewrite(ctx, id, err)
	}
	return back, nil // the log has no place for the entry at its time: for example, a baseline fixes that part of the log
}

// removedByRewrite counts, by digest, the entries that the rewriting removed from the logs of a commit's parents. newLogs are the logs of the
// commit's new parents.
func (m *mending) removedByRewrite(ctx context.Context, id string, newLogs []*ledger.Ledger) (map[small.Digest]int, error) {
	var oldLogs []*ledger.Ledger
	for _, p := range m.parents[id] {
		if newID := m.newIDs[p]; newID == "" || newID == p {
			continue
		}
		text, err := m.readLogText(ctx, p)
		if err != nil {
			return nil, err
		}
		oldLogs = append(oldLogs, m.readEntries(text))
	}
	out, newCounts := countEntries(oldLogs), countEntries(newLogs)
	for digest := range out {
		out[digest] -= newCounts[digest]
	}
	return out, nil
}

// countEntries returns, by digest, how often an entry is in the log that has it most often.
func countEntries(logs []*ledger.Ledger) map[small.Digest]int {
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

// readSides reads the logs of a commit's parents, as a case to combine (sides) and parsed (parentLogs), and the text of the commit's old log. parents
// are the old or new parents, or the source. If the commit has a profile of 2.0.0 and no log, readSides returns nothing.
func (m *mending) readSides(ctx context.Context, id string, parents []string) (sides combine.Case, parentLogs []*ledger.Ledger, oldText []byte, err error) {
	if oldText, err = m.readLogText(ctx, id); err == nil && oldText == nil && m.isWorkspaceLog() {
		profile, err := findFile(ctx, m.repo, id, small.InDir(m.Dir, records.ProfileFile))
		if err != nil || profile.Mode != "" {
			return sides, nil, nil, err // a workspace of 2.0.0 has no progress.small.yml: the log of 1.0.0 is in an import's folder
		}
	}
	if err == nil {
		err = m.findTarget(ctx, id)
	}
	if err == nil {
		sides, err = m.newCase(ctx, id, parents)
	}
	return sides, m.readLogs(append([]combine.Version{sides.Ours}, sides.Theirs...)), oldText, err
}

// isSound reports whether a commit may keep its log; text is the text of the log. A commit that rotated the log may keep it. Otherwise the log must
// be sound after the parents' logs that can be read: see isSoundAfter. In a merge whose target side is known, the log must also begin with the
// target's log, or equal the other side's log.
func (m *mending) isSound(id string, parentLogs []*ledger.Ledger, text []byte) bool {
	if m.archives[id] != "" {
		return true
	}
	log, _ := m.parse(text)
	if log == nil {
		return len(parentLogs) == 0
	}
	target, known := m.targets[id]
	if known && len(parentLogs) == 2 && !combine.BeginsWith(parentLogs[target], parentLogs[1-target], log.Ledger) {
		return false
	}
	return m.isSoundAfter(parentLogs, log.Ledger)
}

// findTarget sets m.targets for a merge of two commits, if the order of the log's entries counts and one parent is known to be on the target branch.
func (m *mending) findTarget(ctx context.Context, id string) error {
	parents := m.parents[id]
	stanza := m.Policy.LogFor(m.Log())
	if stanza == nil || stanza.Unordered() || len(parents) != 2 {
		return nil
	}
	target, err := reconcile.TargetSide(ctx, m.repo, m.git, parents[0], parents[1])
	if err == nil && target >= 0 {
		m.targets[id] = target
	}
	return err
}

// newCase reads the logs of the given parents (see readSides) and of the merge bases. It returns them as a case to combine, with the commit's time as
// the present time.
func (m *mending) newCase(ctx context.Context, id string, parents []string) (c combine.Case, err error) {
	c = combine.Case{Path: m.Log(), Limits: m.Limits, Comparer: read.NewLogComparer(m.Policy, m.Log(), m.Now), TheirsFirst: m.targets[id] == 1}
	commit, err := m.objects.Commit(ctx, id)
	if err != nil {
		return c, err
	}
	c.Now = commit.Time()
	oldParents := m.parents[id]
	for i, p := range parents {
		v := combine.Version{Name: history.Short(p), ID: p}
		if v.Data, err = m.readLogText(ctx, p); err != nil {
			return c, err
		}
		if i == 0 {
			c.Ours = v
			continue
		}
		bases, err := m.repo.MergeBases(ctx, oldParents[0], oldParents[i])
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
