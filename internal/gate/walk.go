package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// node is a commit, or the index, with its parents.
type node struct {
	id      string
	parents []string
}

// edges lists a node's edges.
func (n node) edges() []Edge { return EdgesOf(n.id, n.parents) }

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

// walk judges every edge of the nodes.
func (j *judgement) walk(ctx context.Context, nodes []node) error {
	nodes = inOrder(nodes)
	var edges []Edge
	for _, n := range nodes {
		edges = append(edges, n.edges()...)
	}
	changes, err := j.history.Changes(ctx, edges)
	if err != nil {
		return err
	}
	if j.whole {
		j.noteHistory(nodes, changes)
	}
	for i, n := range nodes {
		own := max(len(n.parents), 1)
		if err := j.node(ctx, n, changes[:own]); err != nil {
			return err
		}
		changes = changes[own:]
		if j.opts.Progress != nil {
			j.opts.Progress(i+1, len(nodes))
		}
	}
	return nil
}

// node judges one node's edges; changes has one element for each.
func (j *judgement) node(ctx context.Context, n node, changes [][]Change) error {
	j.notePolicy(n, changes)
	dirs, workflows := map[string]bool{}, map[string]bool{}
	for _, edge := range changes {
		for _, c := range edge {
			if j.isWorkflowOrRecord(c.Path) {
				workflows[c.Path], j.changedWorkflows[c.Path] = true, true
			}
			if !j.judges(c.Path) {
				continue
			}
			dir, _ := small.WorkspaceOf(c.Path)
			dirs[dir], j.touched[dir] = true, true
		}
	}
	logs := pathsOf(changes, j.isLog)
	s, err := j.step(ctx, n, changes)
	if err != nil {
		return err
	}
	fresh := map[string][]small.Entry{}
	for _, path := range logs {
		own, err := j.log(ctx, s, path)
		if err != nil {
			return err
		}
		fresh[path] = own
	}
	if err := j.work(ctx, n, changes, sortedKeys(dirs), fresh); err != nil {
		return err
	}
	if j.opts.Each && n.id != Index {
		if err := j.snapshot(ctx, j.history, n.id, sortedKeys(dirs)); err != nil {
			return err
		}
		return j.workflows(ctx, j.history, n.id, workflows)
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

// log judges one log on all edges of a node. It returns the entries that no
// parent has.
func (j *judgement) log(ctx context.Context, s *step, path string) ([]small.Entry, error) {
	if past, err := j.isPast(ctx, s.id, path); err != nil || past {
		return nil, err
	}
	child, parents, err := j.sides(ctx, s, path)
	if err != nil {
		return nil, err
	}
	if !child.readable() {
		j.unreadable(s, path, child, parents)
		return nil, nil
	}
	fresh, intruders := newEntries(child.log.Ledger, parents)
	var views []*edgeView
	for i, p := range parents {
		for k, before := range p.ledgers {
			e, err := j.compare(ctx, s.node, path, p.paths[k], before, child, parents, i)
			if err != nil {
				return nil, err
			}
			if e != nil {
				e.setParent(s.node, i)
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
		j.judgeEdge(e, s.id, e.parent)
	}
	if len(views) == 0 && len(fresh) > 0 {
		e := &edgeView{path: path, p: &small.Ledger{}, c: child.log.Ledger, relation: extended, marker: -1, fresh: fresh}
		parent := ""
		if len(s.parents) > 0 {
			parent = s.parents[0]
		}
		j.judgeEdge(e, s.id, parent)
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
func withoutVersions(intruders []int, views []*edgeView) []int {
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

// compare relates one parent's log, which stood at was, to the child's. It
// returns nil where nothing has changed.
func (j *judgement) compare(ctx context.Context, n node, path, was string, before, child *ledgerFile, parents []parentLog, side int) (*edgeView, error) {
	p, c := before.log.Ledger, child.log.Ledger
	if p == c && was == path {
		return nil, nil
	}
	equal, err := j.equality(ctx, n.parents, was, path, before, child)
	if err != nil {
		return nil, err
	}
	elsewhere := heldBy(parents, side)
	return compare(p, c, comparison{
		path: path, was: was, equal: equal,
		before: j.logs(path).records(ctx, before), after: j.logs(path).records(ctx, child),
		mayPair: func(lost, added int) bool {
			// What another parent brought is that side's entry, not a new
			// version of this side's, unless it plainly is.
			if !elsewhere[c.Entries[added].Digest] {
				return true
			}
			old, now := p.Entries[lost], c.Entries[added]
			_, seen := j.reported.of(editKey{path: path, from: old.Digest.String(), to: now.Digest.String()})
			return seen || old.Timestamp != "" && old.Timestamp == now.Timestamp
		},
	})
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

// judgeEdge runs every rule about edges, and lists what waivers excuse.
func (j *judgement) judgeEdge(e *edgeView, child, parent string) {
	e.now, e.strict, e.switches = j.opts.Now, j.opts.strict(), j.isRecord(e.path)
	runEdgeRules(e, &reporter{commit: child, parent: parent, to: j.add})
	if len(e.excused) == 0 {
		return
	}
	excused := *e
	excused.edits, excused.inserted, excused.fresh, excused.intruders = e.excused, nil, nil, nil
	r := &reporter{commit: child, parent: parent}
	runEdgeRules(&excused, r)
	for _, f := range r.out {
		if j.waiver(f) != nil {
			j.add([]Finding{f})
		}
	}
}

func runEdgeRules(e *edgeView, r *reporter) {
	for i := range rules {
		if rules[i].Edge != nil && rules[i].Switches == e.switches {
			r.rule = &rules[i]
			rules[i].Edge(e, r)
		}
	}
}

// unreadable deals with a child that has no ledger to compare: a file that
// cannot be read is a finding here, and a log that is gone is one unless it
// has moved.
func (j *judgement) unreadable(s *step, path string, child *ledgerFile, parents []parentLog) {
	if child != nil {
		r := &reporter{commit: s.id, parent: parents[0].id}
		for _, p := range child.problems {
			r.rule = j.ruleOfUnreadable(path, p.Kind)
			f := problemFinding(path, p)
			f.edits, f.fixedLevel = unreadableAs(path, child.file.Object, p), true
			r.add(f)
		}
		j.add(r.out)
		return
	}
	for i, p := range parents {
		if _, moved := s.moves[i][path]; moved {
			continue // it is judged where it is now
		}
		for _, before := range p.ledgers {
			e := &edgeView{path: path, p: before.log.Ledger, marker: -1}
			e.setParent(s.node, i)
			j.judgeEdge(e, s.id, p.id)
		}
	}
}
