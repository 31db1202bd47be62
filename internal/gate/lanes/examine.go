package lanes

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// examine finds what rules need to know about a change.
func (r laneFinder) examine(ctx context.Context, s *subject.LaneChange) error {
	if !s.Claim.Made() {
		return nil
	}
	var err error
	if s.Report, err = r.classify(ctx, s); err != nil {
		return err
	}
	if s.Log, err = r.logFor(ctx, s); err != nil {
		return err
	}
	fits := r.Source.Policy.Lanes.Rigour(string(s.Report.Fits))
	s.WithoutLog = s.Log == "" && len(fits.Before)+len(fits.After) > 0
	documents, err := r.documentsAlone(ctx, s)
	if err != nil || documents || !s.Complete {
		return err
	}
	s.Before = s.Rigour.Before
	if !r.Source.Policy.Lanes.QAAfterMerge {
		s.After = s.Rigour.After
	}
	if len(s.Before)+len(s.After) == 0 {
		return nil
	}
	if s.Work, err = r.laneWork(ctx, s.Commits); err != nil {
		return err
	}
	if err := r.findAddedBy(ctx, s); err != nil {
		return err
	}
	return r.checkSpecs(ctx, s)
}

// logFor is the log in which to record something: the first that the change adds to, or the first that there is.
func (r laneFinder) logFor(ctx context.Context, s *subject.LaneChange) (string, error) {
	if len(s.Entries) > 0 {
		return s.Entries[0].File.Path, nil
	}
	files, err := r.Source.History.List(ctx, s.Head, history.Workspaces())
	for _, f := range files {
		if read.IsLedger(f.Path) && r.Source.Judges(f.Path) {
			return f.Path, err
		}
	}
	return "", err
}

func (r laneFinder) laneWork(ctx context.Context, commits []history.Commit) ([]subject.WorkCommit, error) {
	var out []subject.WorkCommit
	for _, c := range commits {
		if len(c.Parents) > 1 {
			continue
		}
		changes, err := r.Source.History.Diff(ctx, history.EdgesOf(c.ID, c.Parents), history.Filter{All: true})
		if err != nil {
			return nil, err
		}
		w := subject.WorkCommit{ID: c.ID}
		for _, change := range changes[0] {
			if r.isWork(change) {
				w.Files = append(w.Files, change.Path)
			}
		}
		if len(w.Files) > 0 {
			out = append(out, w)
		}
	}
	return out, nil
}

// findAddedBy finds the commits that add each entry.
func (r laneFinder) findAddedBy(ctx context.Context, s *subject.LaneChange) error {
	if s.AddedBy != nil {
		return nil
	}
	changes, err := r.Source.ChangesOf(ctx, s.Commits)
	if err != nil {
		return err
	}
	s.AddedBy = map[small.Digest][]string{}
	for i, c := range s.Commits {
		entries, err := r.addedEntries(ctx, c, changes[i])
		if err != nil {
			return err
		}
		for _, e := range entries {
			s.AddedBy[e.Digest] = append(s.AddedBy[e.Digest], c.ID)
		}
	}
	return nil
}

// addedEntries are the entries that a commit, or a change, has and no parent has.
func (r laneFinder) addedEntries(ctx context.Context, n history.Commit, changes [][]history.Change) ([]subject.LaneEntry, error) {
	logs := history.PathsOf(changes, func(path string) bool { return read.IsLedger(path) && r.Source.Judges(path) })
	if len(logs) == 0 {
		return nil, nil
	}
	s, err := r.Source.Crossing(ctx, n, changes)
	if err != nil {
		return nil, err
	}
	var out []subject.LaneEntry
	for _, path := range logs {
		child, parents, err := r.Source.ReadVersions(ctx, s, path)
		if err != nil {
			return nil, err
		}
		if !child.Readable() {
			continue // that is a finding of its own
		}
		added, _ := read.NewEntries(child.Log.Ledger, parents)
		for _, e := range ledger.Pick(child.Log.Ledger, added) {
			out = append(out, subject.LaneEntry{Entry: e, File: child.File})
		}
	}
	return out, nil
}

// findSwitches finds the lanes that entries switch to, by the commits that add them; of several in one commit the
// last.
func (r laneFinder) findSwitches(ctx context.Context, s *subject.LaneChange) (map[string]string, error) {
	said := map[string]string{}
	for _, e := range s.Entries {
		if e.TaskID != lane.SwitchTask || e.EvidenceProblem() != "" {
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
			s.SwitchedTo = append(s.SwitchedTo, l)
		}
		if err := r.findAddedBy(ctx, s); err != nil {
			return nil, err
		}
		for _, c := range s.AddedBy[e.Digest] {
			said[c] = name
		}
	}
	return said, nil
}

// evidenceOf reads an entry's evidence, which a ledger does not keep.
func (r laneFinder) evidenceOf(ctx context.Context, e subject.LaneEntry) (*small.Value, error) {
	items, err := r.Source.Ledgers.Records(ctx, e.File)()
	if err != nil {
		return nil, err
	}
	return items[e.Index].Get("evidence"), nil
}

// checkSpecs notes why entries for a spec do not name a file of the head, from the repository's root or from the
// workspace's directory.
func (r laneFinder) checkSpecs(ctx context.Context, s *subject.LaneChange) error {
	for i := range s.Entries {
		e := &s.Entries[i]
		if e.TaskID != lane.SpecTask {
			continue
		}
		evidence, err := r.evidenceOf(ctx, *e)
		if err != nil {
			return err
		}
		name := lane.SpecFile(evidence)
		if name == "" {
			e.SpecProblem = "names no spec-md file"
			continue
		}
		dir, _ := small.WorkspaceOf(e.File.Path)
		files, err := r.Source.History.List(ctx, s.Head, history.At(path.Clean(name), path.Join(dir, name)))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(files, history.File.Regular) {
			e.SpecProblem, e.Spec = fmt.Sprintf("names the spec-md file %q, which is not there", name), name
		}
	}
	return nil
}
