package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// kept judges on each edge of a node whether a record still holds its job or its
// campaign to what it held it to: the lane and the ban on campaigns that came
// from upstream, and the children that had ended. A record that is not there, or
// cannot be read, in a parent is compared with the last version that can be, so
// that nothing is lost on the way round.
func (j *judgement) kept(ctx context.Context, n node, path string, child *ledgerFile, parents []parentLog, changes [][]Change) error {
	if child != nil && !child.readable() {
		return nil // that is a finding of its own
	}
	for i, p := range parents {
		for _, before := range p.ledgers {
			if before == child {
				continue
			}
			v, err := j.keptSince(ctx, path, before, child, changes[i])
			if err != nil {
				return err
			}
			if v != nil {
				v.parents = n.parents
				j.add(runWorkflowRules(v, &reporter{commit: n.id, parent: p.id}))
			}
		}
	}
	return nil
}

// keptOver compares the records that a change has kept with what they held to
// where it parted from base: on a way round by other names no edge may show what
// was lost. A record that goes on under another name has left its own to another.
func (j *judgement) keptOver(ctx context.Context, base, head string) error {
	w := &j.opts.Policy.Workflows
	if len(w.Jobs)+len(w.Campaigns) == 0 {
		return nil
	}
	bases, err := j.history.MergeBases(ctx, base, head)
	if err != nil {
		return err
	}
	for _, from := range bases {
		changes, err := j.history.Changes(ctx, []Edge{{Parent: from, Child: head}})
		if err != nil {
			return err
		}
		for _, c := range changes[0] {
			if err := j.keptAt(ctx, c, node{id: head, parents: []string{from}}, changes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *judgement) keptAt(ctx context.Context, c Change, n node, changes [][]Change) error {
	if c.Old.Mode == "" || c.New.Mode == "" || !j.isRecord(c.Path) {
		return nil
	}
	before, err := j.switches.read(ctx, c.Old, nil)
	if err != nil || !before.readable() {
		return err
	}
	gone := slices.Clone(changes[0])
	for i := range gone {
		if gone[i].Path == c.Path {
			gone[i].New = File{}
		}
	}
	if to, err := j.movedTo(ctx, n.parents[0], c.Path, gone); err != nil || to.Path != "" {
		return err
	}
	told := len(j.report.Findings)
	if err := j.keptIn(ctx, n, c.Path, changes); err != nil {
		return err
	}
	for i := range j.report.Findings[told:] {
		f := &j.report.Findings[told+i]
		f.Fix = putBackFrom(n.parents[0], f.Path)
	}
	return nil
}

// putBackFrom says to bring back what a record held to in another commit.
func putBackFrom(commit, path string) string {
	return "put back what is there in " + short(commit) + " (git show " + shellQuote(short(commit)+":"+path) + " shows it)"
}

// keptSince compares one earlier version of a record with what it is now. It
// returns nil where nothing was lost.
func (j *judgement) keptSince(ctx context.Context, path string, before, child *ledgerFile, changes []Change) (*workflowView, error) {
	was, err := j.record(ctx, fileAt(path, before.file))
	if err != nil || was == nil {
		return nil, err
	}
	var now File
	if child != nil {
		now = fileAt(path, child.file)
	} else {
		to, err := j.movedTo(ctx, "", path, changes)
		if err != nil {
			return nil, err
		}
		if to.Path == "" && len(was.Ended()) == 0 {
			to = j.onlySuccessor(path, was, changes)
		}
		if to.Path == "" {
			return j.recordGone(ctx, path, was, changes)
		}
		now = to
	}
	is, err := j.record(ctx, now)
	if err != nil || is == nil {
		return nil, err
	}
	v := &workflowView{path: now.Path, was: path, undone: is.Undone(was)}
	for _, l := range is.Loosened(was) {
		if !j.loosenedBefore(now.Path, l.LaneFrom, l.LaneTo) {
			v.loosened = append(v.loosened, l)
		}
	}
	if len(v.undone)+len(v.loosened) == 0 {
		return nil, nil
	}
	return v, nil
}

// onlySuccessor is the record in which another goes on that has nothing to know it
// by: the only one that appears where it is the only one that goes. The zero File
// if there is none.
func (j *judgement) onlySuccessor(path string, was *lane.Record, changes []Change) File {
	var to File
	for _, c := range changes {
		switch {
		case !j.opts.Policy.JudgesJob(c.Path):
		case c.Old.Mode == "" && to.Path == "":
			to = c.New
		case c.Old.Mode == "", c.New.Mode == "" && c.Path != path:
			return File{}
		}
	}
	if was.ID != "" || to.Path == "" || !j.opts.Policy.JudgesJob(path) {
		return File{}
	}
	return to
}

// recordGone is what is told of a record that is gone: that children of it had
// ended, unless a record that appears on the same edge has them all.
func (j *judgement) recordGone(ctx context.Context, path string, was *lane.Record, changes []Change) (*workflowView, error) {
	v := &workflowView{path: path, gone: was.Ended()}
	if len(v.gone) == 0 {
		return nil, nil
	}
	for _, c := range changes {
		if c.Old.Mode != "" || !j.isRecord(c.Path) {
			continue
		}
		there, err := j.record(ctx, c.New)
		if err != nil {
			return nil, err
		}
		if there != nil && len(there.Undone(was)) == 0 {
			return nil, nil
		}
	}
	return v, nil
}

// sameRecord reports whether a record that has no switches goes on in another
// file: one with the same content, with the same id, or with all of its children
// that had ended. Otherwise nothing tells one record from the next.
func (j *judgement) sameRecord(ctx context.Context, gone, there File) (bool, error) {
	if gone.Object == there.Object {
		return true, nil
	}
	was, err := j.record(ctx, gone)
	if err != nil || was == nil {
		return false, err
	}
	is, err := j.record(ctx, there)
	if err != nil || is == nil {
		return false, err
	}
	return was.ID != "" && was.ID == is.ID || len(was.Ended()) > 0 && len(is.Undone(was)) == 0, nil
}

// fileAt is a file as it lies at a path: what was read is known by its content,
// and the same content may lie at several.
func fileAt(path string, f File) File {
	f.Path = path
	return f
}

// loosenedBefore reports whether findings have told already that a record's lane
// went from one to another, or to one with no more rigour: on the commits between
// the two ends of an edge.
func (j *judgement) loosenedBefore(path string, from, to lane.Lane) bool {
	for _, l := range []lane.Lane{lane.Standard, lane.Fast, ""} {
		if !l.Less(from) {
			continue
		}
		if _, told := j.reported.of(laneEdit(path, from, l)); !told || l == to {
			continue // the same edit is left out as any other is
		}
		if l.Less(to) || j.loosenedBefore(path, l, to) || j.toldEdit(path, l, to) {
			return true
		}
	}
	return false
}

// toldEdit reports whether findings have told of just this.
func (j *judgement) toldEdit(path string, from, to lane.Lane) bool {
	_, told := j.reported.of(laneEdit(path, from, to))
	return told
}

// laneEdit is the edit that lowers the lane of a record.
func laneEdit(path string, from, to lane.Lane) editKey {
	return editKey{path: path, from: wordsDigest("params.lane", string(from)), to: wordsDigest("params.lane", string(to))}
}

// wordsDigest is the digest of some texts, where an edit is of no entry.
func wordsDigest(words ...string) string {
	list := &small.Value{Kind: small.List}
	for _, w := range words {
		list.Items = append(list.Items, &small.Value{Kind: small.String, Text: w})
	}
	return small.EntryDigest(list).String()
}

// record reads a file as a record; nil where it is none.
func (j *judgement) record(ctx context.Context, f File) (*lane.Record, error) {
	if f.Mode == "" || f.Unmerged {
		return nil, nil
	}
	data, problem, err := readFile(ctx, j.history, f, j.opts.limits())
	if err != nil || problem != nil {
		return nil, err
	}
	r, _ := lane.ParseRecord(f.Path, data, j.opts.limits())
	return r, nil
}

// undoing says how to take back what a change did to a record: in the index by
// editing, in history by making the commit or the merge anew. keep is what to do
// then.
func (r *reporter) undoing(path string, parents []string, keep string) string {
	switch {
	case r.commit == Index:
		return keep + " (git diff --cached -- " + shellQuote(path) + " shows the change)"
	case len(parents) > 1:
		return r.mergeAgain(&edgeView{parents: parents}) + keep + ", and git commit"
	}
	return "take commit " + short(r.commit) + " back (git rebase -i " + short(r.parent) + "): " + keep
}

// ofRecords reports whether a finding speaks of an edit of a record.
func ofRecords(f *Finding) bool {
	return f.EditFrom != "" && slices.Contains([]string{ruleRewrittenID, ruleHistoryID, ruleCampaignID}, f.Rule)
}
