package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// EdgesOf lists the edges of a child, one for each parent; a root has one,
// from the empty tree.
func EdgesOf(child string, parents []string) []Edge {
	if len(parents) == 0 {
		return []Edge{{Child: child}}
	}
	out := make([]Edge, len(parents))
	for i, p := range parents {
		out[i] = Edge{Parent: p, Child: child}
	}
	return out
}

// walker follows logs from commit to commit, and from branch to branch.
type walker struct{ *run }

// walkIndex judges the edges of the index.
func walkIndex(r *run, ctx context.Context) error {
	return walker{r}.walk(ctx, []Commit{{ID: Index, Parents: r.scope.parents}})
}

// walkCommits judges every edge of the commits.
func walkCommits(r *run, ctx context.Context) error {
	err := walker{r}.walk(ctx, r.scope.commits)
	r.scope.walked = err == nil
	return err
}

// walk judges every edge of the nodes.
func (r walker) walk(ctx context.Context, nodes []Commit) error {
	nodes = inOrder(nodes)
	var edges []Edge
	for _, n := range nodes {
		edges = append(edges, EdgesOf(n.ID, n.Parents)...)
	}
	changes, err := r.src.history.Changes(ctx, edges)
	if err != nil {
		return err
	}
	if r.scope.whole {
		r.src.noteHistory(nodes, changes)
	}
	for i, n := range nodes {
		own := max(len(n.Parents), 1)
		if err := r.commit(ctx, n, changes[:own]); err != nil {
			return err
		}
		changes = changes[own:]
		if r.opts.Progress != nil {
			r.opts.Progress(i+1, len(nodes))
		}
	}
	return nil
}

// commit judges one commit's edges; changes has one element for each.
func (r walker) commit(ctx context.Context, n Commit, changes [][]Change) error {
	r.scope.notePolicy(n, changes)
	own := scope{workspaces: map[string]bool{}, workflows: map[string]bool{}}
	for _, edge := range changes {
		for _, c := range edge {
			own.note(r.src, c.Path)
			r.scope.note(r.src, c.Path)
		}
	}
	s, err := r.src.step(ctx, n, changes)
	if err != nil {
		return err
	}
	r.scope.tookAnother = r.scope.tookAnother || s.tookAnother
	fresh := map[string][]small.Entry{}
	for _, path := range pathsOf(changes, r.src.isLog) {
		if fresh[path], err = r.log(ctx, s, path); err != nil {
			return err
		}
	}
	if err := r.work(ctx, n, changes, sortedKeys(own.workspaces), fresh); err != nil {
		return err
	}
	if r.opts.Each && n.ID != Index {
		if err := r.snapshots(ctx, n.ID, sortedKeys(own.workspaces)); err != nil {
			return err
		}
		return workflowsAt(r.run, ctx, n.ID, own.workflows)
	}
	return nil
}

// pathsOf lists the wanted paths that change on any edge, in order.
func pathsOf(changes [][]Change, wanted func(path string) bool) []string {
	var paths []string
	for _, edge := range changes {
		for _, c := range edge {
			if wanted(c.Path) {
				paths = append(paths, c.Path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func sortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// log judges one log on all edges of a commit. It returns the entries that no
// parent has.
func (r walker) log(ctx context.Context, s *step, path string) ([]small.Entry, error) {
	if r.scope.whole { // only there is what came before a baseline judged
		if past, err := r.src.isPast(ctx, s.ID, path); err != nil || past {
			return nil, err
		}
	}
	child, parents, err := r.src.sides(ctx, s, path)
	if err != nil {
		return nil, err
	}
	if !child.readable() {
		r.unreadable(s, path, child, parents)
		return nil, nil
	}
	fresh, intruders := newEntries(child.log.Ledger, parents)
	var views []*LogEdge
	for i, p := range parents {
		for k, before := range p.ledgers {
			e, err := r.compareLogs(ctx, s.Commit, path, p.paths[k], before, child, parents, i)
			if err != nil {
				return nil, err
			}
			if e != nil {
				e.setParent(s.Commit, i)
				e.gone = p.gone && p.paths[k] == path
				views = append(views, e)
				accepted := func(place int) bool { return e.past[child.log.Entries[place].Digest] }
				fresh, intruders = slices.DeleteFunc(fresh, accepted), slices.DeleteFunc(intruders, accepted)
			}
		}
	}
	if len(views) > 0 {
		views[0].fresh, views[0].intruders = fresh, withoutVersions(intruders, views)
	}
	for _, e := range views {
		r.judgeEdge(e, s.ID)
	}
	if len(views) == 0 && len(fresh) > 0 {
		e := &LogEdge{path: path, comparison: &comparison{old: &small.Ledger{}, now: child.log.Ledger, relation: extended, marker: -1}, fresh: fresh}
		if len(s.Parents) > 0 {
			e.Parent = s.Parents[0]
		}
		r.judgeEdge(e, s.ID)
	}
	return at(child.log.Ledger, fresh), nil
}

// newEntries lists the child's entries that no parent has, and those of them
// that stand before an entry which a parent has.
func newEntries(child *small.Ledger, parents []parentLog) (fresh, intruders []int) {
	known := map[small.Digest]bool{}
	for _, p := range parents {
		for _, l := range p.ledgers {
			if l.log.Ledger == child {
				return nil, nil
			}
			if child.Extends(l.log.Ledger) && len(parents) == 1 {
				for i := l.log.Len(); i < child.Len(); i++ {
					fresh = append(fresh, i)
				}
				return fresh, nil
			}
			for _, e := range l.log.Entries {
				known[e.Digest] = true
			}
		}
	}
	last := -1
	for i, e := range child.Entries {
		if known[e.Digest] {
			last = i
		} else {
			fresh = append(fresh, i)
		}
	}
	for _, i := range fresh {
		if i < last {
			intruders = append(intruders, i)
		}
	}
	return fresh, intruders
}

// withoutVersions leaves out of a merge's intruders the new versions of
// entries that a parent has: those are reported as modifications, or waived.
func withoutVersions(intruders []int, views []*LogEdge) []int {
	versions := map[int]bool{}
	for _, e := range views {
		for _, x := range slices.Concat(e.edits, e.excused) {
			if x.before >= 0 && x.after >= 0 {
				versions[x.after] = true
			}
		}
	}
	return slices.DeleteFunc(intruders, func(at int) bool { return versions[at] })
}

// compareLogs relates one parent's log, which stood at was, to the child's. It
// returns nil where nothing has changed.
func (r walker) compareLogs(ctx context.Context, n Commit, path, was string, before, child *ledgerFile, parents []parentLog, side int) (*LogEdge, error) {
	p, c := before.log.Ledger, child.log.Ledger
	if p == c && was == path {
		return nil, nil
	}
	equal, err := r.src.equality(ctx, n.Parents, was, path, before, child)
	if err != nil {
		return nil, err
	}
	elsewhere := heldBy(parents, side)
	compared, err := compare(p, c, comparing{
		equal:  equal,
		before: r.src.logs(path).records(ctx, before.file), after: r.src.logs(path).records(ctx, child.file),
		mayPair: func(lost, added int) bool {
			// What another parent brought is that side's entry, not a new
			// version of this side's, unless it plainly is.
			if !elsewhere[c.Entries[added].Digest] {
				return true
			}
			old, now := p.Entries[lost], c.Entries[added]
			_, seen := r.out.reported.of(editKey{path: path, from: old.Digest.String(), to: now.Digest.String()})
			return seen || old.Timestamp != "" && old.Timestamp == now.Timestamp
		},
	})
	if err != nil {
		return nil, err
	}
	return &LogEdge{path: path, was: was, comparison: compared}, nil
}

// heldBy are the entries that parents have, all but one.
func heldBy(parents []parentLog, but int) map[small.Digest]bool {
	held := map[small.Digest]bool{}
	for i, p := range parents {
		if i == but {
			continue
		}
		for _, l := range p.ledgers {
			for _, e := range l.log.Entries {
				held[e.Digest] = true
			}
		}
	}
	return held
}

// judgeEdge judges one way of a log, and lists what waivers excuse.
func (r walker) judgeEdge(e *LogEdge, child string) {
	e.clock, e.strict, e.switches = r.src.now, r.out.strict, r.src.isRecord(e.path)
	e.Commit = child
	if e.remedies == nil {
		e.remedies = onEdge{e}
	}
	r.out.judge(e.subject())
	if len(e.excused) == 0 {
		return
	}
	excused, compared := *e, *e.comparison
	compared.edits, compared.inserted = e.excused, nil
	excused.comparison, excused.fresh, excused.intruders = &compared, nil, nil
	excused.Excused = true
	r.out.judge(excused.subject())
}

// unreadable deals with a child that has no ledger to compare: a file that
// cannot be read is a finding here, and a log that is gone is one unless it
// has moved.
func (r walker) unreadable(s *step, path string, child *ledgerFile, parents []parentLog) {
	if child != nil {
		r.out.judge(&UnreadableLog{
			Place: Place{Commit: s.ID, Parent: parents[0].id, Branch: s.branch, Mandatory: true},
			path:  path, object: child.file.Object, problems: child.problems,
			isJob: r.src.policy.JudgesJob(path), isCampaign: r.src.isRecord(path) && !r.src.policy.JudgesJob(path),
		})
		return
	}
	for i, p := range parents {
		if _, moved := s.moves[i][path]; moved {
			continue // it is judged where it is now
		}
		for _, before := range p.ledgers {
			e := &LogEdge{path: path, comparison: &comparison{old: before.log.Ledger, marker: -1}, remedies: s.remedies}
			e.setParent(s.Commit, i)
			e.Branch = s.branch
			r.judgeEdge(e, s.ID)
		}
	}
}
