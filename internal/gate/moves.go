package gate

import (
	"context"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// Moves says which logs went to another path between a commit and a later one.
func Moves(ctx context.Context, h History, from, to string, opts Options) (map[string]string, error) {
	if from == to {
		return nil, nil
	}
	m, err := newRun(h, opts, scope{}).src.movesBetween(ctx, from, to)
	out := map[string]string{}
	for path, f := range m {
		if isLedger(path) {
			out[path] = f.Path
		}
	}
	return out, err
}

// moves says which logs go on at another path: the parent's path and the child's
// file.
type moves map[string]File

// to lists the paths from which logs come to one.
func (m moves) to(path string) []string {
	var from []string
	for p, f := range m {
		if f.Path == path {
			from = append(from, p)
		}
	}
	slices.Sort(from)
	return from
}

// crossing is one edge on which logs may move.
type crossing struct {
	parent  string
	changes []Change
	// merge allows that entries of others stand between those of a log that
	// moved: whether that is made explicit is judged at its new path.
	merge bool
	// apart reports whether the two histories have nothing in common: then the
	// child may have another's log at a log's path. Nil if they have.
	apart func() (bool, error)
	// equal says what counts as equal when a log of one path is compared with a
	// log of another.
	equal func(from, to string, before, after *ledgerFile) (equivalence, error)
	// undone, if set, says which rewrites are taken back.
	undone undoneFunc
}

// departure is a log that the child does not have at its path: its last readable
// version, or several where it could not be read.
type departure struct {
	path string
	logs []*ledgerFile
}

// arrival is a log at a path where the parent has none.
type arrival struct {
	*ledgerFile
	entries func() map[small.Digest]bool
}

// excusable are the entries that waivers name. It is nil where a baseline may excuse
// any other.
func (src *source) excusable() map[small.Digest]bool {
	if len(src.policy.Baselines) > 0 {
		return nil
	}
	out := map[small.Digest]bool{}
	for _, w := range src.policy.Waivers {
		for _, d := range []*small.Digest{w.From, w.To} {
			if d != nil {
				out[*d] = true
			}
		}
	}
	return out
}

// foreign reports whether a log begins or ends with an entry that another lacks and
// that nothing excuses. Then it cannot go on there. Where many logs move at once,
// comparing each with each would take too long.
func (d departure) foreign(there *arrival, excusable map[small.Digest]bool) bool {
	return slices.ContainsFunc(d.logs, func(l *ledgerFile) bool {
		if l.log.Len() == 0 {
			return false
		}
		first, last := l.log.Entries[0].Digest, l.log.Entries[l.log.Len()-1].Digest
		has := there.entries()
		return !has[first] && !excusable[first] || !has[last] && !excusable[last]
	})
}

// moves finds the workspaces that moved: a log is gone from its path and goes on
// at a path that is new. There have to be as many such paths as logs that begin
// alike are gone: of two copies of one log, neither is the log.
func (src *source) moves(ctx context.Context, x crossing) (moves, error) {
	arrived, err := src.arrivals(ctx, x)
	if err != nil || len(arrived) == 0 {
		return nil, err
	}
	gone, err := src.departures(ctx, x)
	if err != nil {
		return nil, err
	}
	out := moves{}
	excusable := src.excusable()
	for len(gone) > 0 {
		alike := func(d departure) bool {
			return src.logs(d.path) == src.logs(gone[0].path) && slices.EqualFunc(d.logs, gone[0].logs, func(a, b *ledgerFile) bool {
				return a.log.Head() == b.log.Head()
			})
		}
		group := slices.DeleteFunc(slices.Clone(gone), func(d departure) bool { return !alike(d) })
		var to []*arrival
		for _, log := range arrived {
			if excusable != nil && x.undone == nil && group[0].foreign(log, excusable) {
				continue
			}
			on, err := src.goesOn(ctx, x, group[0], log.ledgerFile)
			if err != nil {
				return nil, err
			}
			if on {
				to = append(to, log)
			}
		}
		if len(to) == len(group) || len(to) > len(group) && group[0].empty() {
			for i, d := range group {
				out[d.path] = to[i].file
				arrived = slices.DeleteFunc(arrived, func(log *arrival) bool { return log == to[i] })
			}
		}
		gone = slices.DeleteFunc(gone, alike)
	}
	return out, nil
}

// empty reports whether there is nothing in a log that could be lost.
func (d departure) empty() bool {
	return !slices.ContainsFunc(d.logs, func(l *ledgerFile) bool { return l.log.Len() > 0 })
}

// arrivals are the logs that can be read, at paths where the parent has none.
func (src *source) arrivals(ctx context.Context, x crossing) ([]*arrival, error) {
	var out []*arrival
	for _, c := range x.changes {
		if !src.isLog(c.Path) || c.Old.Mode != "" {
			continue // a log that goes where nobody judges it is gone
		}
		log, err := src.logs(c.Path).read(ctx, c.New, nil)
		if err != nil {
			return nil, err
		}
		if log.readable() {
			out = append(out, &arrival{
				ledgerFile: &ledgerFile{file: c.New, log: log.log}, // the same content may lie at several paths
				entries:    sync.OnceValue(func() map[small.Digest]bool { return setOf(log.log.Ledger) }),
			})
		}
	}
	return out, nil
}

// departures are the logs that the child does not have, the longest first.
func (src *source) departures(ctx context.Context, x crossing) ([]departure, error) {
	var out []departure
	for _, c := range x.changes {
		if !src.isLog(c.Path) || c.Old.Mode == "" || c.New.Mode != "" && x.apart == nil {
			continue
		}
		logs, err := src.readBefore(ctx, x.parent, c)
		if err != nil {
			return nil, err
		}
		if len(logs) > 0 && c.New.Mode != "" {
			replaced, err := src.replacedApart(ctx, x, c, logs)
			if err != nil {
				return nil, err
			}
			if !replaced {
				continue
			}
		}
		if len(logs) > 0 {
			out = append(out, departure{c.Path, logs})
		}
	}
	longest := func(d departure) int {
		n := 0
		for _, l := range d.logs {
			n = max(n, l.log.Len())
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b departure) int { return longest(b) - longest(a) })
	return out, nil
}

// readBefore reads a parent's log, or its last readable versions.
func (src *source) readBefore(ctx context.Context, parent string, c Change) ([]*ledgerFile, error) {
	log, err := src.logs(c.Path).read(ctx, c.Old, nil)
	if err != nil {
		return nil, err
	}
	if log.readable() {
		return []*ledgerFile{log}, nil
	}
	return src.lastReadable(ctx, parent, c.Path)
}

// replacedApart reports whether the child has another log at a path, from a
// history that has nothing in common with the parent's.
func (src *source) replacedApart(ctx context.Context, x crossing, c Change, logs []*ledgerFile) (bool, error) {
	now, err := src.logs(c.Path).read(ctx, c.New, nil)
	if err != nil || !now.readable() {
		return false, err
	}
	held, err := src.holds(x, departure{c.Path, logs}, now, c.Path)
	if err != nil || held {
		return false, err
	}
	return x.apart()
}

// goesOn reports whether a log goes on in one of its kind that arrived.
func (src *source) goesOn(ctx context.Context, x crossing, d departure, there *ledgerFile) (bool, error) {
	if src.logs(there.file.Path) != src.logs(d.path) {
		return false, nil
	}
	return src.holds(x, d, there, there.file.Path)
}

// holds reports whether a log holds every entry of another, from the beginning
// on or, in a merge, in order.
func (src *source) holds(x crossing, d departure, now *ledgerFile, to string) (bool, error) {
	for _, before := range d.logs {
		equal, err := x.equal(d.path, to, before, now)
		if err != nil {
			return false, err
		}
		switch relateWithin(before.log.Ledger, now.log.Ledger, equal).relation {
		case rewritten:
			if x.undone == nil {
				return false, nil
			}
			if is, err := x.undone(before.log.Ledger, now.log.Ledger); err != nil || !is {
				return false, err
			}
		case interleaved:
			if !x.merge {
				return false, nil
			}
		}
	}
	return true, nil
}

// plainly compares by waivers alone.
func (src *source) plainly(from, to string, _, _ *ledgerFile) (equivalence, error) {
	return src.equal(from, to), nil
}
