package gate

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// laneView is what rules about lanes read.
type laneView struct {
	state *laneState
	// report is nil where no lane is claimed.
	report *LaneReport
	// log is the path of a log in which something can be recorded; empty where the
	// head has none.
	log string
	// before and after are the patterns of the entries that are asked of the change.
	before, after []string
	// work are the commits that do the change's work: those that touch a file that
	// counts and is no document, but for merges.
	work []workCommit
	// brought are the commits that added an entry.
	brought map[small.Digest][]string
	// specs say for entries what keeps them from naming a spec.
	specs map[small.Digest]string
	// untried, in an audit, are the patterns that nothing met here or later.
	untried []string
}

// workCommit is a commit and the files of the work that it touches.
type workCommit struct {
	id    string
	files []string
}

// laneEntry is an entry that a change adds to a log.
type laneEntry struct {
	small.Entry
	// path is the log's, and log the version that it was read from.
	path string
	log  *ledgerFile
}

// lacks says why an entry gives no evidence; empty if it does.
func (e laneEntry) lacks() string {
	switch {
	case !e.Evidenced || !e.Told:
		return "has no evidence that says anything"
	case e.Status != "" && e.Status != "completed":
		return fmt.Sprintf("has the status %q", e.Status)
	}
	return ""
}

// laneView gathers what the rules have to know of a change.
func (j *judgement) laneView(ctx context.Context, s *laneState) (*laneView, error) {
	v := &laneView{state: s}
	if !s.claim.Made() {
		return v, nil
	}
	var err error
	if v.report, err = j.classify(ctx, s.laneChange); err != nil {
		return nil, err
	}
	v.report.Claim = s.claim
	if v.log, err = j.logFor(ctx, s); err != nil {
		return nil, err
	}
	if s.ends {
		v.before = s.rigour.Before
		if !j.opts.Policy.Lanes.QAAfterMerge {
			v.after = s.rigour.After
		}
	}
	if len(v.before)+len(v.after) == 0 {
		return v, nil
	}
	documents, err := j.documentsAlone(ctx, s.laneChange)
	if err != nil || documents {
		v.before, v.after = nil, nil
		return v, err
	}
	if v.work, err = j.laneWork(ctx, s.commits); err != nil {
		return nil, err
	}
	if v.brought, err = j.brought(ctx, s.commits); err != nil {
		return nil, err
	}
	v.specs, err = j.specs(ctx, s)
	return v, err
}

// logFor is the log in which something is to be recorded: the first that the change
// adds to, or the first that there is.
func (j *judgement) logFor(ctx context.Context, s *laneState) (string, error) {
	if len(s.entries) > 0 {
		return s.entries[0].path, nil
	}
	files, err := j.history.Files(ctx, s.head)
	for _, f := range files {
		if isLedger(f.Path) && j.judges(f.Path) {
			return f.Path, err
		}
	}
	return "", err
}

// laneWork finds the commits that do a change's work.
func (j *judgement) laneWork(ctx context.Context, commits []Commit) ([]workCommit, error) {
	var out []workCommit
	for _, c := range commits {
		if len(c.Parents) > 1 {
			continue
		}
		changes, err := j.history.Difference(ctx, EdgesOf(c.ID, c.Parents)[0])
		if err != nil {
			return nil, err
		}
		w := workCommit{id: c.ID}
		for _, change := range changes {
			if j.isWork(change.Path) {
				w.files = append(w.files, change.Path)
			}
		}
		if len(w.files) > 0 {
			out = append(out, w)
		}
	}
	return out, nil
}

// brought finds the commits that add each entry.
func (j *judgement) brought(ctx context.Context, commits []Commit) (map[small.Digest][]string, error) {
	var edges []Edge
	for _, c := range commits {
		edges = append(edges, EdgesOf(c.ID, c.Parents)...)
	}
	changes, err := j.history.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	out := map[small.Digest][]string{}
	for _, c := range commits {
		own := max(len(c.Parents), 1)
		entries, err := j.addedEntries(ctx, node{id: c.ID, parents: c.Parents}, changes[:own])
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			out[e.Digest] = append(out[e.Digest], c.ID)
		}
		changes = changes[own:]
	}
	return out, nil
}

// addedEntries are the entries that a commit, or a change, has and no parent has.
func (j *judgement) addedEntries(ctx context.Context, n node, changes [][]Change) ([]laneEntry, error) {
	logs := pathsOf(changes, func(path string) bool { return isLedger(path) && j.judges(path) })
	if len(logs) == 0 {
		return nil, nil
	}
	s, err := j.step(ctx, n, changes)
	if err != nil {
		return nil, err
	}
	var out []laneEntry
	for _, path := range logs {
		child, parents, err := j.sides(ctx, s, path)
		if err != nil {
			return nil, err
		}
		if !child.readable() {
			continue // that is a finding of its own
		}
		fresh, _ := newEntries(child.log.Ledger, parents)
		for _, e := range at(child.log.Ledger, fresh) {
			out = append(out, laneEntry{Entry: e, path: path, log: child})
		}
	}
	return out, nil
}

// switchedTo are the lanes that entries for a switch claim, by the commits that add
// them.
func (j *judgement) switchedTo(ctx context.Context, s *laneState) (map[string]lane.Lane, error) {
	var brought map[small.Digest][]string
	said := map[string]lane.Lane{}
	for _, e := range s.entries {
		if e.TaskID != lane.SwitchTask || e.lacks() != "" {
			continue
		}
		evidence, err := j.evidenceOf(ctx, e)
		if err != nil {
			return nil, err
		}
		to := lane.SwitchedTo(evidence)
		if to != "" && brought == nil {
			if brought, err = j.brought(ctx, s.commits); err != nil {
				return nil, err
			}
		}
		for _, c := range brought[e.Digest] {
			said[c] = lane.Stricter(said[c], to)
		}
	}
	return said, nil
}

// evidenceOf reads an entry's evidence, which a ledger does not keep.
func (j *judgement) evidenceOf(ctx context.Context, e laneEntry) (*small.Value, error) {
	items, err := j.ledgers.records(ctx, e.log)()
	if err != nil {
		return nil, err
	}
	return items[e.Index].Get("evidence"), nil
}

// specs says of entries for a spec that a lane demands what keeps them from naming
// one: a file of the head, from the repository's root or from the workspace's
// directory.
func (j *judgement) specs(ctx context.Context, s *laneState) (map[small.Digest]string, error) {
	out := map[small.Digest]string{}
	for _, e := range s.entries {
		if e.TaskID != lane.SpecTask {
			continue
		}
		evidence, err := j.evidenceOf(ctx, e)
		if err != nil {
			return nil, err
		}
		name := lane.SpecFile(evidence)
		if name == "" {
			out[e.Digest] = "names no spec-md file"
			continue
		}
		dir, _ := small.WorkspaceOf(e.path)
		files, err := j.history.Glob(ctx, s.head, policy.LiteralPattern(path.Clean(name)), policy.LiteralPattern(path.Join(dir, name)))
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(files, File.Regular) {
			out[e.Digest] = fmt.Sprintf("names the spec-md file %q, which is not there", name)
		}
	}
	return out, nil
}
