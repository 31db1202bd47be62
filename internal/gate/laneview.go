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

// workCommit is a commit and the files of the work that it touches.
type workCommit struct {
	id    string
	files []string
}

// laneEntry is an entry that a change adds to a log.
type laneEntry struct {
	small.Entry
	// file is the log's version that it was read from.
	file File
	// specless says why an entry for a spec names none; empty for any other. spec is
	// the file that it names.
	specless, spec string
}

// lacks says why an entry gives no evidence; empty if it does.
func (e laneEntry) lacks() string {
	switch {
	case !e.Evidenced || !e.Told:
		return "has no evidence that says anything"
	case e.Status != "" && e.Status != "completed":
		return fmt.Sprintf("has the status %q", e.Status)
	}
	return e.specless
}

// examineLane finds what rules ask about a change.
func (r lanes) examineLane(ctx context.Context, s *LaneChange) error {
	if !s.claim.Made() {
		return nil
	}
	var err error
	if s.report, err = r.classify(ctx, s); err != nil {
		return err
	}
	if s.log, err = r.logFor(ctx, s); err != nil {
		return err
	}
	fits := r.src.policy.Lanes.Rigour(string(s.report.Fits))
	s.workspaceless = s.log == "" && len(fits.Before)+len(fits.After) > 0
	documents, err := r.documentsAlone(ctx, s)
	if err != nil || documents || !s.ends {
		return err
	}
	s.before = s.rigour.Before
	if !r.src.policy.Lanes.QAAfterMerge {
		s.after = s.rigour.After
	}
	if len(s.before)+len(s.after) == 0 {
		return nil
	}
	if s.work, err = r.laneWork(ctx, s.commits); err != nil {
		return err
	}
	if err := r.findBrought(ctx, s); err != nil {
		return err
	}
	return r.checkSpecs(ctx, s)
}

// logFor is the log in which something is to be recorded: the first that the change
// adds to, or the first that there is.
func (r lanes) logFor(ctx context.Context, s *LaneChange) (string, error) {
	if len(s.entries) > 0 {
		return s.entries[0].file.Path, nil
	}
	files, err := r.src.history.Files(ctx, s.head)
	for _, f := range files {
		if isLedger(f.Path) && r.src.judges(f.Path) {
			return f.Path, err
		}
	}
	return "", err
}

// laneWork finds the commits that do a change's work.
func (r lanes) laneWork(ctx context.Context, commits []Commit) ([]workCommit, error) {
	var out []workCommit
	for _, c := range commits {
		if len(c.Parents) > 1 {
			continue
		}
		changes, err := r.src.history.Difference(ctx, EdgesOf(c.ID, c.Parents)[0])
		if err != nil {
			return nil, err
		}
		w := workCommit{id: c.ID}
		for _, change := range changes {
			if r.isWork(change) {
				w.files = append(w.files, change.Path)
			}
		}
		if len(w.files) > 0 {
			out = append(out, w)
		}
	}
	return out, nil
}

// findBrought finds the commits that add each entry.
func (r lanes) findBrought(ctx context.Context, s *LaneChange) error {
	if s.brought != nil {
		return nil
	}
	var edges []Edge
	for _, c := range s.commits {
		edges = append(edges, EdgesOf(c.ID, c.Parents)...)
	}
	changes, err := r.src.history.Changes(ctx, edges)
	if err != nil {
		return err
	}
	s.brought = map[small.Digest][]string{}
	for _, c := range s.commits {
		own := max(len(c.Parents), 1)
		entries, err := r.addedEntries(ctx, Commit{ID: c.ID, Parents: c.Parents}, changes[:own])
		if err != nil {
			return err
		}
		for _, e := range entries {
			s.brought[e.Digest] = append(s.brought[e.Digest], c.ID)
		}
		changes = changes[own:]
	}
	return nil
}

// addedEntries are the entries that a commit, or a change, has and no parent has.
func (r lanes) addedEntries(ctx context.Context, n Commit, changes [][]Change) ([]laneEntry, error) {
	logs := pathsOf(changes, func(path string) bool { return isLedger(path) && r.src.judges(path) })
	if len(logs) == 0 {
		return nil, nil
	}
	s, err := r.src.step(ctx, n, changes)
	if err != nil {
		return nil, err
	}
	var out []laneEntry
	for _, path := range logs {
		child, parents, err := r.src.sides(ctx, s, path)
		if err != nil {
			return nil, err
		}
		if !child.readable() {
			continue // that is a finding of its own
		}
		fresh, _ := newEntries(child.log.Ledger, parents)
		for _, e := range at(child.log.Ledger, fresh) {
			out = append(out, laneEntry{Entry: e, file: child.file})
		}
	}
	return out, nil
}

// findSwitches finds the names of lanes that entries switch to, by the commits that
// add them; of several in one commit the last.
func (r lanes) findSwitches(ctx context.Context, s *LaneChange) (map[string]string, error) {
	said := map[string]string{}
	for _, e := range s.entries {
		if e.TaskID != lane.SwitchTask || e.lacks() != "" {
			continue
		}
		evidence, err := r.evidenceOf(ctx, e)
		if err != nil {
			return nil, err
		}
		name := lane.SwitchedTo(evidence)
		if name == "" {
			continue
		}
		if l, ok := lane.Parse(name); ok {
			s.switchedTo = append(s.switchedTo, l)
		}
		if err := r.findBrought(ctx, s); err != nil {
			return nil, err
		}
		for _, c := range s.brought[e.Digest] {
			said[c] = name
		}
	}
	return said, nil
}

// evidenceOf reads an entry's evidence, which a ledger does not keep.
func (r lanes) evidenceOf(ctx context.Context, e laneEntry) (*small.Value, error) {
	items, err := r.src.ledgers.records(ctx, e.file)()
	if err != nil {
		return nil, err
	}
	return items[e.Index].Get("evidence"), nil
}

// checkSpecs notes of entries for a spec what keeps them from naming one: a file of
// the head, from the repository's root or from the workspace's directory.
func (r lanes) checkSpecs(ctx context.Context, s *LaneChange) error {
	for i := range s.entries {
		e := &s.entries[i]
		if e.TaskID != lane.SpecTask {
			continue
		}
		evidence, err := r.evidenceOf(ctx, *e)
		if err != nil {
			return err
		}
		name := lane.SpecFile(evidence)
		if name == "" {
			e.specless = "names no spec-md file"
			continue
		}
		dir, _ := small.WorkspaceOf(e.file.Path)
		files, err := r.src.history.Glob(ctx, s.head, policy.LiteralPattern(path.Clean(name)), policy.LiteralPattern(path.Join(dir, name)))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(files, File.Regular) {
			e.specless, e.spec = fmt.Sprintf("names the spec-md file %q, which is not there", name), name
		}
	}
	return nil
}
