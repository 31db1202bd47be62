package gate

import "context"

// step is a commit, or the index, and what its edges changed.
type step struct {
	Commit
	changes [][]Change
	moves   []moves
	// tookAnother is true of a merge of unrelated histories that has another log at a
	// log's path.
	tookAnother bool
	// branch and remedies are those of what is found, where no commit did it.
	branch   string
	remedies Remedies
}

// step finds the logs that moved on a commit's edges.
func (src *source) step(ctx context.Context, n Commit, changes [][]Change) (*step, error) {
	s := &step{Commit: n, changes: changes, moves: make([]moves, len(changes))}
	for i, parent := range n.Parents {
		x := crossing{parent: parent, changes: changes[i], merge: len(n.Parents) > 1}
		x.equal = func(from, to string, before, after *ledgerFile) (equivalence, error) {
			return src.equality(ctx, n.Parents, from, to, before, after)
		}
		if x.merge {
			x.apart = func() (bool, error) { return src.apart(ctx, n.Parents, i) }
		}
		var err error
		if s.moves[i], err = src.moves(ctx, x); err != nil {
			return nil, err
		}
		for _, c := range changes[i] {
			if _, moved := s.moves[i][c.Path]; moved && c.New.Mode != "" {
				s.tookAnother = true
			}
		}
	}
	return s, nil
}

// apart reports whether one parent of a merge has no history in common with any
// other.
func (src *source) apart(ctx context.Context, parents []string, one int) (bool, error) {
	for i, other := range parents {
		if i == one {
			continue
		}
		bases, err := src.history.MergeBases(ctx, other, parents[one])
		if err != nil || len(bases) > 0 {
			return false, err
		}
	}
	return true, nil
}

// parentLog is what one log of a child is compared with on one edge.
type parentLog struct {
	id string
	// ledgers are the parent's, or its last readable ancestors' where it has
	// none that can be read, and those that moved here; paths are where they
	// stood.
	ledgers []*ledgerFile
	paths   []string
	// gone is true if the parent itself has no log at the path.
	gone bool
}

func (p *parentLog) add(path string, logs ...*ledgerFile) {
	for _, l := range logs {
		p.ledgers, p.paths = append(p.ledgers, l), append(p.paths, path)
	}
}

// sides reads a log in a commit and in each parent.
func (src *source) sides(ctx context.Context, s *step, path string) (*ledgerFile, []parentLog, error) {
	var now File
	var before []*Change
	for _, edge := range s.changes {
		c, changed := changeAt(edge, path)
		if !changed {
			before = append(before, nil)
			continue
		}
		before = append(before, &c)
		now = c.New
	}
	parents := make([]parentLog, len(before))
	logs := src.logs(path)
	child, err := src.childFirst(ctx, logs, now, before)
	if err != nil {
		return nil, nil, err
	}
	var earlier *ledgerFile
	for i, c := range before {
		p := &parents[i]
		if len(s.Parents) > 0 {
			p.id = s.Parents[i]
		}
		if c == nil {
			continue // the same as in the child
		}
		if err := src.sidesOf(ctx, s, i, *c, child, p); err != nil {
			return nil, nil, err
		}
		if len(p.ledgers) > 0 {
			earlier = p.ledgers[0]
		}
	}
	if child == nil {
		if child, err = logs.read(ctx, now, earlier); err != nil {
			return nil, nil, err
		}
	}
	for i, c := range before {
		if c == nil && child.readable() {
			parents[i].add(path, child)
		}
	}
	return child, parents, nil
}

// sidesOf reads what one parent has of a log.
func (src *source) sidesOf(ctx context.Context, s *step, edge int, c Change, child *ledgerFile, p *parentLog) error {
	for _, from := range s.moves[edge].to(c.Path) {
		left, _ := changeAt(s.changes[edge], from)
		logs, err := src.readBefore(ctx, p.id, left)
		if err != nil {
			return err
		}
		p.add(from, logs...)
	}
	if _, moved := s.moves[edge][c.Path]; moved && c.New.Mode != "" {
		return nil // the log here is another's
	}
	own, err := src.logs(c.Path).readBefore(ctx, c.Old, child)
	if err != nil {
		return err
	}
	if own.readable() {
		p.add(c.Path, own)
		return nil
	}
	last, err := src.lastReadable(ctx, p.id, c.Path)
	p.add(c.Path, last...)
	p.gone = c.Old.Mode == ""
	return err
}

// childFirst reads the child's log before its parents' where none of those is
// in memory: what is judged last is usually the longest version, which the
// snapshot needs as a whole, and of which an earlier one is a part. It returns
// nil if the parents come first.
func (src *source) childFirst(ctx context.Context, logs *ledgers, now File, before []*Change) (*ledgerFile, error) {
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
