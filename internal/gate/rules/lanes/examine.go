package lanes

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// logFor returns the log in which a fix records something: the first to which the change adds, or else the first of the tree.
func logFor(ctx context.Context, r *run.Run, s *laneChange) (string, error) {
	if len(s.Entries) > 0 {
		return s.Entries[0].File.Path, nil
	}
	files, err := r.Source.History.List(ctx, s.Head, history.Workspaces())
	for _, f := range files {
		if read.IsProgress(f.Path) && r.Source.Judges(f.Path) {
			return f.Path, err
		}
	}
	return "", err
}

// findAddedBy finds the commits that add each entry.
func findAddedBy(ctx context.Context, r *run.Run, s *laneChange) error {
	if s.AddedBy != nil {
		return nil
	}
	changes, err := r.Source.ChangesOf(ctx, s.Commits)
	if err != nil {
		return err
	}
	s.AddedBy = map[small.Digest][]string{}
	for i, c := range s.Commits {
		entries, err := addedEntries(ctx, r, c, changes[i])
		if err != nil {
			return err
		}
		for _, e := range entries {
			s.AddedBy[e.Digest] = append(s.AddedBy[e.Digest], c.ID)
		}
	}
	return nil
}

// addedEntries returns the entries that a commit, or a change, has and no parent has.
func addedEntries(ctx context.Context, r *run.Run, n history.Commit, changes [][]history.Change) ([]laneEntry, error) {
	logs := history.PathsOf(changes, func(path string) bool { return read.IsProgress(path) && r.Source.Judges(path) })
	if len(logs) == 0 {
		return nil, nil
	}
	s, err := r.Source.NewStep(ctx, n, changes)
	if err != nil {
		return nil, err
	}
	var out []laneEntry
	for _, path := range logs {
		child, parents, err := r.Source.ReadVersions(ctx, s, path)
		if err != nil {
			return nil, err
		}
		if !child.Readable() {
			continue // another rule reports a log that cannot be read
		}
		added, _ := read.NewEntries(child.Log.Ledger, parents)
		for _, e := range ledger.Pick(child.Log.Ledger, added) {
			out = append(out, laneEntry{Entry: e, File: child.File})
		}
	}
	return out, nil
}

// findSwitches returns the lane that each commit's last lane-switch entry names, by commit.
func findSwitches(ctx context.Context, r *run.Run, s *laneChange) (map[string]string, error) {
	said := map[string]string{}
	for _, e := range s.Entries {
		if e.TaskID != lane.LaneSwitchTask || e.evidenceProblem() != "" {
			continue
		}
		evidence, err := evidenceOf(ctx, r, e)
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
		if err := findAddedBy(ctx, r, s); err != nil {
			return nil, err
		}
		for _, c := range s.AddedBy[e.Digest] {
			said[c] = name
		}
	}
	return said, nil
}

// evidenceOf reads an entry's evidence, which a ledger does not keep.
func evidenceOf(ctx context.Context, r *run.Run, e laneEntry) (*small.Value, error) {
	items, err := r.Source.ProgressReader.Records(ctx, e.File)()
	if err != nil {
		return nil, err
	}
	return items[e.Index].Get("evidence"), nil
}

// changedFiles lists, in order of path, the counting files that a change changes. With one merge base they are the files that
// differ from it. With several and a target, they are the files that differ from one of the bases and from the target:
// what a merge took from the target is then not the change's own, but what it dropped is. With several and no target,
// as in the index of a merge, they are the files that differ from every parent.
func changedFiles(ctx context.Context, r *run.Run, s *laneChange) ([]history.Change, error) {
	if s.Files != nil {
		return s.Files, nil
	}
	edges := history.EdgesOf(s.Head, s.Bases)
	often := len(edges)
	if often > 1 && s.Target != "" {
		edges, often = append(edges, history.Edge{Parent: s.Target, Child: s.Head}), 2
	}
	changes, err := r.Source.History.Diff(ctx, edges, history.Filter{All: true})
	if err != nil {
		return nil, err
	}
	times := map[string]int{}
	for _, c := range slices.Concat(changes...) {
		times[c.Path]++
	}
	s.Files = slices.DeleteFunc(changes[len(changes)-1], func(c history.Change) bool { return times[c.Path] < often || !isCounted(r, c.Path) })
	return s.Files, nil
}

// jobClaims reads the jobs' records that a change touches. It returns the strictest lane that they were given, and whether
// the change adds a switch to one. The records before and after the change both count, so that no change loosens the lane
// that binds it. A record that a merge took from a parent does not count.
func jobClaims(ctx context.Context, r *run.Run, changes [][]history.Change) (given lane.Claim, switched bool, err error) {
	given.Source = lane.FromJob
	for _, path := range history.PathsOf(changes[:1], lane.PlacesIn(r.Source.Policy).HasJob) {
		var records []*lane.Record
		known := map[small.Digest]bool{}
		var now history.File
		own := true
		for _, edge := range changes {
			c, touched := history.ChangeAt(edge, path)
			own, now = own && touched, c.New
			before, err := recordOf(ctx, r.Source, c.Old)
			if err != nil {
				return given, false, err
			}
			if before == nil {
				continue
			}
			records = append(records, before)
			maps.Copy(known, ledger.DigestSet(before.Ledger()))
		}
		if !own {
			continue
		}
		after, err := recordOf(ctx, r.Source, now)
		if err != nil {
			return given, false, err
		}
		if after != nil { // another rule reports a record that cannot be read
			switched = switched || slices.ContainsFunc(after.Ledger().Entries, func(e ledger.Entry) bool { return !known[e.Digest] })
			records = append(records, after)
		}
		for _, record := range records {
			given.Lane = lane.Stricter(given.Lane, record.Lane)
		}
	}
	return given, switched, nil
}

// recordOf reads a file as a record; nil if it is not one.
func recordOf(ctx context.Context, src *read.Source, f history.File) (*lane.Record, error) {
	if f.Mode == "" || f.Unmerged {
		return nil, nil
	}
	data, problem, err := read.ReadFile(ctx, src.Tree, f, src.Limits)
	if err != nil || problem != nil {
		return nil, err
	}
	r, _ := lane.ParseRecord(f.Path, data, src.Limits)
	return r, nil
}
