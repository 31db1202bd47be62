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
	dirs, flows := map[string]bool{}, map[string]bool{}
	var logs []string
	for _, edge := range changes {
		for _, c := range edge {
			if j.isFlow(c.Path) {
				flows[c.Path], j.flows[c.Path] = true, true
			}
			if !j.judges(c.Path) {
				continue
			}
			dir, _ := small.WorkspaceOf(c.Path)
			dirs[dir], j.touched[dir] = true, true
			if isLedger(c.Path) && !slices.Contains(logs, c.Path) {
				logs = append(logs, c.Path)
			}
		}
	}
	slices.Sort(logs)
	fresh := map[string][]small.Entry{}
	for _, path := range logs {
		own, err := j.log(ctx, n, path, changes)
		if err != nil {
			return err
		}
		fresh[path] = own
	}
	if err := j.work(ctx, n, changes, sortedKeys(dirs), fresh); err != nil {
		return err
	}
	if err := j.records(ctx, n, changes, sortedKeys(flows)); err != nil {
		return err
	}
	if j.opts.Each && n.id != Index {
		if err := j.snapshot(ctx, j.history, n.id, sortedKeys(dirs)); err != nil {
			return err
		}
		return j.workflows(ctx, j.history, n.id, flows)
	}
	return nil
}

func sortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// parentLog is what one log of a child is compared with on one edge.
type parentLog struct {
	id string
	// ledgers are the parent's, or its last readable ancestors' where it has
	// none that can be read.
	ledgers []*ledgerFile
}

// log judges one log on all edges of a node. It returns the entries that no
// parent has.
func (j *judgement) log(ctx context.Context, n node, path string, changes [][]Change) ([]small.Entry, error) {
	child, parents, err := j.sides(ctx, n, path, changes)
	if err != nil {
		return nil, err
	}
	return j.logBetween(ctx, n, path, child, parents, changes)
}

// logBetween judges what log has read.
func (j *judgement) logBetween(ctx context.Context, n node, path string, child *ledgerFile, parents []parentLog, changes [][]Change) ([]small.Entry, error) {
	if !child.readable() {
		return nil, j.unreadable(ctx, n, path, child, parents, changes)
	}
	fresh, intruders := newEntries(child.log.Ledger, parents)
	fresh, intruders, err := j.afterBaseline(ctx, path, child, fresh, intruders)
	if err != nil {
		return nil, err
	}
	var views []*edgeView
	for i, p := range parents {
		for _, before := range p.ledgers {
			e, err := j.compare(ctx, path, before, child, parents, i, len(parents) == 1)
			if err != nil {
				return nil, err
			}
			if e != nil {
				e.of(n, i)
				views = append(views, e)
			}
		}
	}
	if len(views) > 0 {
		views[0].fresh, views[0].intruders = fresh, withoutVersions(intruders, views)
	}
	for _, e := range views {
		j.judgeEdge(e, n.id, e.parent)
	}
	if len(views) == 0 && len(fresh) > 0 {
		e := &edgeView{path: path, p: &small.Ledger{}, c: child.log.Ledger, relation: extended, marker: -1, fresh: fresh}
		parent := ""
		if len(n.parents) > 0 {
			parent = n.parents[0]
		}
		j.judgeEdge(e, n.id, parent)
	}
	return at(child.log.Ledger, fresh), nil
}

// sides reads a log in a node and in each parent.
func (j *judgement) sides(ctx context.Context, n node, path string, changes [][]Change) (*ledgerFile, []parentLog, error) {
	var now File
	var before []*Change
	for _, edge := range changes {
		i := slices.IndexFunc(edge, func(c Change) bool { return c.Path == path })
		if i < 0 {
			before = append(before, nil)
			continue
		}
		before = append(before, &edge[i])
		now = edge[i].New
	}
	parents := make([]parentLog, len(before))
	logs := j.logs(path)
	child, err := j.childFirst(ctx, logs, now, before)
	if err != nil {
		return nil, nil, err
	}
	var earlier *ledgerFile
	for i, c := range before {
		if len(n.parents) > 0 {
			parents[i].id = n.parents[i]
		}
		if c == nil {
			continue // the same as in the child
		}
		own, err := logs.readBefore(ctx, c.Old, child)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case own.readable():
			parents[i].ledgers, earlier = []*ledgerFile{own}, own
		case parents[i].id != "":
			if parents[i].ledgers, err = j.lastReadable(ctx, parents[i].id, path); err != nil {
				return nil, nil, err
			}
		}
	}
	if child == nil {
		if child, err = logs.read(ctx, now, earlier); err != nil {
			return nil, nil, err
		}
	}
	for i, c := range before {
		if c == nil && child.readable() {
			parents[i].ledgers = []*ledgerFile{child}
		}
	}
	return child, parents, nil
}

// childFirst reads the child's log before its parents' where none of those is
// in memory: what is judged last is usually the longest version, which the
// snapshot needs as a whole, and of which an earlier one is a part. It returns
// nil if the parents come first.
func (j *judgement) childFirst(ctx context.Context, logs *ledgers, now File, before []*Change) (*ledgerFile, error) {
	if logs.known(now) {
		return nil, nil
	}
	for _, c := range before {
		if c == nil || c.Old.Mode == "" || logs.known(c.Old) {
			return nil, nil
		}
	}
	return logs.read(ctx, now, nil)
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
// entries that a parent has: those are told as modifications, or waived.
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

// compare relates one parent's log to the child's. It returns nil for an edge
// that is not judged: the log is unchanged, or the baseline begins here. oneWay
// is that of a [comparison].
func (j *judgement) compare(ctx context.Context, path string, before, child *ledgerFile, parents []parentLog, side int, oneWay bool) (*edgeView, error) {
	p, c := before.log.Ledger, child.log.Ledger
	if p == c {
		return nil, nil
	}
	if before, err := j.beforeBaseline(ctx, path, before); err != nil || before {
		return nil, err
	}
	elsewhere := map[small.Digest]bool{}
	for i, other := range parents {
		if i == side {
			continue
		}
		for _, l := range other.ledgers {
			for _, e := range l.log.Entries {
				elsewhere[e.Digest] = true
			}
		}
	}
	return compare(p, c, comparison{
		path: path, equal: j.equal(path), oneWay: oneWay,
		before: j.logs(path).records(ctx, before), after: j.logs(path).records(ctx, child),
		mayPair: func(lost, added int) bool {
			// What another parent brought is that side's entry, not a new
			// version of this side's, unless it plainly is.
			if !elsewhere[c.Entries[added].Digest] {
				return true
			}
			old, now := p.Entries[lost], c.Entries[added]
			_, seen := j.reported[editKey{path: path, from: old.Digest.String(), to: now.Digest.String()}]
			return seen || old.Timestamp != "" && old.Timestamp == now.Timestamp
		},
	})
}

// judgeEdge runs every rule about edges, and lists what waivers excuse.
func (j *judgement) judgeEdge(e *edgeView, child, parent string) {
	e.now, e.strict, e.switches = j.opts.Now, j.opts.strict(), j.isRecord(e.path)
	j.add(runEdgeRules(e, child, parent))
	if len(e.excused) == 0 {
		return
	}
	excused := *e
	excused.edits, excused.inserted, excused.fresh, excused.intruders = e.excused, nil, nil, nil
	for _, f := range runEdgeRules(&excused, child, parent) {
		// Two versions can be equal by way of a third: then no waiver names
		// just this pair, and its links are listed where they were made.
		if j.waiver(f) != nil {
			j.add([]Finding{f})
		}
	}
}

func runEdgeRules(e *edgeView, child, parent string) []Finding {
	r := &reporter{commit: child, parent: parent}
	if e.switches {
		return runWorkflowRules(&workflowView{path: e.path, edge: e}, r)
	}
	for i := range rules {
		if rules[i].Edge != nil {
			r.rule = &rules[i]
			rules[i].Edge(e, r)
		}
	}
	return r.out
}

// unreadable deals with a child that has no ledger to compare: a file that
// cannot be read is a finding here, and a log that is gone is one unless it
// has moved.
func (j *judgement) unreadable(ctx context.Context, n node, path string, child *ledgerFile, parents []parentLog, changes [][]Change) error {
	var all []*ledgerFile
	for _, p := range parents {
		all = append(all, p.ledgers...)
	}
	if before, err := j.beforeBaseline(ctx, path, all...); err != nil || before {
		return err
	}
	if child != nil {
		r := &reporter{commit: n.id, parent: parents[0].id}
		for _, p := range child.problems {
			r.rule = j.ruleOfProblem(path, p.Kind)
			f := problemFinding(path, p)
			if j.isRecord(path) {
				f = recordProblem(path, p)
			}
			f.edits, f.fixedLevel = unreadableAs(path, child.file.Object, p), true
			r.add(f)
		}
		j.add(r.out)
		return nil
	}
	for i, p := range parents {
		for _, before := range p.ledgers {
			if changes[i] == nil {
				continue
			}
			e := &edgeView{path: path, p: before.log.Ledger, marker: -1}
			to, err := j.moved(ctx, path, before, changes[i])
			if err == nil && to != nil {
				e, err = j.move(ctx, path, before, to)
			}
			if err != nil {
				return err
			}
			e.of(n, i)
			j.judgeEdge(e, n.id, p.id)
		}
	}
	return nil
}
