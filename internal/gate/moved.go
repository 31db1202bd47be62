package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/small"
)

// moved returns the log that appears on the same edge under another path and
// begins with all entries of the one that is gone; nil if there is none. As in
// every comparison, two versions that a waiver makes equal are equal.
func (j *judgement) moved(ctx context.Context, path string, gone *ledgerFile, changes []Change) (*ledgerFile, error) {
	to, err := j.movedTo(ctx, path, gone, changes)
	if err != nil || to.Path == "" {
		return nil, err
	}
	return j.logs(path).read(ctx, to, gone)
}

// movedTo is moved, for the file; the zero File if there is none.
func (j *judgement) movedTo(ctx context.Context, path string, gone *ledgerFile, changes []Change) (File, error) {
	for _, c := range changes {
		if !j.sameKind(c.Path, path) || c.Old.Mode != "" || c.New.Mode == "" {
			continue // a log that goes where nobody judges it has not moved, it is gone
		}
		there, err := j.logs(path).read(ctx, c.New, gone)
		if err != nil {
			return File{}, err
		}
		if !there.readable() || !begins(gone.log.Ledger, there.log.Ledger, j.equal(path)) {
			continue
		}
		if j.isRecord(path) && gone.log.Len() == 0 {
			same, err := j.sameRecord(ctx, fileAt(path, gone.file), c.New)
			if err != nil {
				return File{}, err
			}
			if !same {
				continue // every list of switches begins with none
			}
		}
		return c.New, nil
	}
	return File{}, nil
}

// begins reports whether p is a prefix of c, waivers applied.
func begins(p, c *small.Ledger, equal equivalence) bool {
	r := relateWithin(p, c, equal).relation
	return r == identical || r == extended
}

// move is the edge of a log that moved: nothing happened on it, save what
// waivers excuse.
func (j *judgement) move(ctx context.Context, path string, before, to *ledgerFile) (*edgeView, error) {
	return compare(before.log.Ledger, to.log.Ledger, comparison{
		path: path, equal: j.equal(path),
		before: j.logs(path).records(ctx, before), after: j.logs(path).records(ctx, to),
	})
}

// movedAway reports whether a log that the parent has goes on under another
// path in the child. What comes to its old place later is a new log. The parent
// is the nearest one in which the log is as it was, and not always the child's
// own: what has appeared between the two has not appeared in the child.
func (j *judgement) movedAway(ctx context.Context, path string, before, now File, edge Edge, changes []Change) (bool, error) {
	if before.Mode == "" || now.Mode != "" {
		return false, nil
	}
	log, err := j.logs(path).read(ctx, before, nil)
	if err != nil || !log.readable() {
		return false, err
	}
	to, err := j.moved(ctx, path, log, changes)
	if err != nil || to == nil {
		return false, err
	}
	between, err := j.history.Commits(ctx, []string{edge.Child}, []string{edge.Parent}, "")
	if err != nil {
		return false, err
	}
	var own []Edge
	for _, c := range between {
		if c.ID == edge.Child {
			own = EdgesOf(c.ID, c.Parents)
		}
	}
	there, err := j.history.Changes(ctx, own)
	if err != nil {
		return false, err
	}
	for _, changes := range there {
		if to, err := j.moved(ctx, path, log, changes); err != nil || to != nil {
			return to != nil, err
		}
	}
	return false, nil
}
