package read

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// NewEntries returns the indexes of the child's entries that no parent has, and which of them stand before an entry of a parent.
func NewEntries(child *ledger.Ledger, parents []ParentLog) (added, misplaced []int) {
	for _, p := range parents {
		for _, l := range p.Ledgers {
			if l.Log.Ledger == child {
				return nil, nil
			}
			if child.Extends(l.Log.Ledger) && len(parents) == 1 {
				for i := l.Log.Len(); i < child.Len(); i++ {
					added = append(added, i)
				}
				return added, nil
			}
		}
	}
	known, last := ParentDigests(parents, -1), -1
	for i, e := range child.Entries {
		if known[e.Digest] {
			last = i
		} else {
			added = append(added, i)
		}
	}
	for _, i := range added {
		if i < last {
			misplaced = append(misplaced, i)
		}
	}
	return added, misplaced
}

// ParentDigests returns the digests of all entries that the parents have, except for the parent with the index except; -1 means all parents.
func ParentDigests(parents []ParentLog, except int) map[small.Digest]bool {
	held := map[small.Digest]bool{}
	for i, p := range parents {
		if i == except {
			continue
		}
		for _, l := range p.Ledgers {
			for _, e := range l.Log.Entries {
				held[e.Digest] = true
			}
		}
	}
	return held
}

// Step is a commit, or the index, with the changes on each of its edges.
type Step struct {
	history.Commit
	Changes [][]history.Change
	// Moves holds the logs that moved, by edge. movedFrom holds the same moves the other way round: by edge and new path, the old paths.
	Moves     []moves
	movedFrom []map[string][]string
	// rotations holds the logs that were rotated, by edge and by the log's path.
	rotations []map[string]*rotation
	// UnrelatedLog is true if the step merges unrelated histories, and a log of one moved away from a path at which the child has a log of the other.
	UnrelatedLog bool
	// Branch is set if the step is what a branch recorded since a merge base: findings then name the branch and not a commit.
	Branch string
	// Fix, if set, returns the fix for findings about a log, in place of the usual one.
	Fix func(path string) string
	// Whole is true if the step is all that a branch changed, taken as one commit.
	Whole bool
}

// FirstEdge returns the step from the first parent only.
func (s *Step) FirstEdge() *Step {
	if len(s.Changes) < 2 {
		return s
	}
	first := *s
	first.Changes, first.Moves, first.movedFrom, first.rotations = s.Changes[:1], s.Moves[:1], s.movedFrom[:1], s.rotations[:1]
	return &first
}

// NewStep makes the step of a commit: it finds the logs that moved or were rotated on each edge.
func (src *Source) NewStep(ctx context.Context, n history.Commit, changes [][]history.Change) (*Step, error) {
	if err := src.findProfiles(ctx, n, changes); err != nil {
		return nil, err
	}
	s := &Step{Commit: n, Changes: changes, Moves: make([]moves, len(changes)), movedFrom: make([]map[string][]string, len(changes)), rotations: make([]map[string]*rotation, len(changes))}
	for i, parent := range n.Parents {
		x := moveSearch{parent: parent, child: n.ID, changes: changes[i], combines: len(n.Parents) > 1, parents: n.Parents}
		if x.combines {
			x.unrelated = func() (bool, error) { return src.unrelated(ctx, n.Parents, i) }
		}
		var err error
		if s.Moves[i], err = src.findMoves(ctx, x); err != nil {
			return nil, err
		}
		if s.rotations[i], err = src.findRotations(ctx, x, s.Moves[i]); err != nil {
			return nil, err
		}
		s.movedFrom[i] = s.Moves[i].byNewPath()
		for _, c := range changes[i] {
			if _, moved := s.Moves[i][c.Path]; moved && c.New.Mode != "" {
				s.UnrelatedLog = true
			}
		}
	}
	return s, nil
}

// StepBetween makes the step between two commits, such as a ref's old and new tip: from the only one in n.Parents, which need not be a parent of n
// in the history, to n. descends says whether n descends from it. Others' entries may stand between those of a log that moved. Only if n does not
// descend may a log also be rotated as in a merge; see ledger.FindRotation. For reverted see moveSearch.
func (src *Source) StepBetween(ctx context.Context, n history.Commit, changes [][]history.Change, descends bool, reverted RevertedFunc) (*Step, error) {
	if err := src.findProfiles(ctx, n, changes); err != nil {
		return nil, err
	}
	m, err := src.findMoves(ctx, moveSearch{parent: n.Parents[0], child: n.ID, changes: changes[0], combines: true, reverted: reverted, parents: n.Parents})
	if err != nil {
		return nil, err
	}
	rotated, err := src.findRotations(ctx, moveSearch{parent: n.Parents[0], child: n.ID, changes: changes[0], combines: !descends, parents: n.Parents}, m)
	return &Step{Commit: n, Changes: changes, Moves: []moves{m}, movedFrom: []map[string][]string{m.byNewPath()}, rotations: []map[string]*rotation{rotated}}, err
}

// Rotated reports whether a log went to an archive with all its entries on an edge.
func (s *Step) Rotated(edge int, path string) bool {
	return s.rotations[edge][path].whole()
}

// Relocated lists the old and the new paths of all logs that moved or were rotated.
func (s *Step) Relocated() (paths []string) {
	for i := range s.Moves {
		for from, to := range s.Moves[i] {
			paths = append(paths, from, to.Path)
		}
		for _, r := range s.rotations[i] {
			paths = append(paths, r.from, r.to)
		}
	}
	return paths
}

// logAfterRotation returns what the child's log at a path has to continue after the edge's rotations. That is the parent's log, without the
// entries that went to an archive and, if the log is an archive itself, with the entries that came to it. own is the parent's log; nil if it has
// none.
func (s *Step) logAfterRotation(edge int, path string, own *LedgerFile) *LedgerFile {
	rest := own
	if r := s.rotations[edge][path]; r != nil {
		indexes := []int{}
		for _, e := range r.Rest {
			indexes = append(indexes, e.Index)
		}
		rest = &LedgerFile{File: own.File, Log: &ledger.Log{Ledger: ledger.OfEntries(r.Rest)}, remaining: indexes}
		if !r.whole() { // the child has to continue the rest; entries that another log brought to this path do not count
			return rest
		}
		own = nil
	}
	for _, r := range s.rotations[edge] {
		if r.to != path {
			continue
		}
		if own == nil {
			return &LedgerFile{Log: &ledger.Log{Ledger: ledger.OfEntries(r.Gone)}, File: history.File{Path: path}, rotatedIn: r}
		}
		return &LedgerFile{File: own.File, Log: &ledger.Log{Ledger: ledger.OfEntries(append(own.Log.Entries[:own.Log.Len():own.Log.Len()], r.Gone...))}, rotatedIn: r}
	}
	return rest
}

// ApplyRotation applies logAfterRotation to logs, which LogsBefore returned. If these are several, they are versions from before the parent, and stay as
// they are.
func (s *Step) ApplyRotation(edge int, path string, logs []*LedgerFile) []*LedgerFile {
	if len(logs) != 1 {
		return logs
	}
	return []*LedgerFile{s.logAfterRotation(edge, path, logs[0])}
}

// MovedTo reports whether a log moved to a path on an edge.
func (s *Step) MovedTo(edge int, path string) bool { return len(s.movedFrom[edge][path]) > 0 }

// unrelated reports whether the parent of a merge with the given index shares no history with any other parent.
func (src *Source) unrelated(ctx context.Context, parents []string, index int) (bool, error) {
	for i, other := range parents {
		if i == index {
			continue
		}
		bases, err := src.History.MergeBases(ctx, other, parents[index])
		if err != nil || len(bases) > 0 {
			return false, err
		}
	}
	return true, nil
}

// ParentLog holds the versions with which a log of the child is compared on one edge.
type ParentLog struct {
	// ID is the parent commit, empty for a root.
	ID string
	// Ledgers are the parent's log, or the last readable versions before it, and the logs that moved here. Paths says where each was.
	Ledgers []*LedgerFile
	Paths   []string
	// NoLog is true if the parent has no file at the child's path, so that Ledgers has the versions of earlier commits for it. NoLog is false if Ledgers
	// has nothing there but the entries that a rotation brought.
	NoLog bool
}

// Add adds the logs that were at a path.
func (p *ParentLog) Add(path string, logs ...*LedgerFile) {
	for _, l := range logs {
		p.Ledgers, p.Paths = append(p.Ledgers, l), append(p.Paths, path)
	}
}

// ReadVersions reads a log in a commit and in each parent.
func (src *Source) ReadVersions(ctx context.Context, s *Step, path string) (*LedgerFile, []ParentLog, error) {
	var now history.File
	var before []*history.Change
	for _, edge := range s.Changes {
		c, changed := history.ChangeAt(edge, path)
		if !changed {
			before = append(before, nil)
			continue
		}
		before = append(before, &c)
		now = c.New
	}
	logs := src.ReaderOf(path)
	logs.noteNewest(now) // ChangesOf did so if several commits are judged; a single commit is judged without it
	parents := make([]ParentLog, len(before))
	var earlier *LedgerFile
	for i, c := range before {
		p := &parents[i]
		if len(s.Parents) > 0 {
			p.ID = s.Parents[i]
		}
		if c == nil {
			continue // this parent has the child's version, which is read below
		}
		if err := src.readParentLog(ctx, s, i, *c, p); err != nil {
			return nil, nil, err
		}
		if len(p.Ledgers) > 0 {
			earlier = p.Ledgers[0]
		}
	}
	child, err := logs.Read(ctx, now, earlier)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range before {
		if c == nil && child.Readable() {
			parents[i].Add(path, child)
		}
	}
	return child, parents, nil
}

// readParentLog reads the versions with which a log is compared on one edge, and adds them to p.
func (src *Source) readParentLog(ctx context.Context, s *Step, edge int, c history.Change, p *ParentLog) error {
	if !src.isLogOnEdge(c.Path, edge) {
		return nil
	}
	for _, from := range s.movedFrom[edge][c.Path] {
		left, _ := history.ChangeAt(s.Changes[edge], from)
		logs, err := src.LogsBefore(ctx, p.ID, left)
		if err != nil {
			return err
		}
		p.Add(from, logs...)
	}
	if _, moved := s.Moves[edge][c.Path]; moved && c.New.Mode != "" {
		return nil // the parent's log left, and the child has another one here
	}
	own, err := src.ReaderOf(c.Path).Read(ctx, c.Old, nil)
	if err != nil {
		return err
	}
	if own.Readable() {
		p.Add(c.Path, s.logAfterRotation(edge, c.Path, own))
		return nil
	}
	last, err := src.LastReadable(ctx, p.ID, c.Path)
	p.Add(c.Path, last...)
	p.NoLog = c.Old.Mode == ""
	if came := s.logAfterRotation(edge, c.Path, nil); came != nil && c.Old.Mode == "" {
		p.Add(c.Path, came)
		p.NoLog = len(last) > 0
	}
	return err
}
