package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// moves maps a parent's path to the child's file in which the log continues.
type moves map[string]history.File

// sourcesOf lists the paths from which logs moved to a path.
func (m moves) sourcesOf(path string) []string {
	var from []string
	for p, f := range m {
		if f.Path == path {
			from = append(from, p)
		}
	}
	slices.Sort(from)
	return from
}

// moveSearch is one edge on which logs may move.
type moveSearch struct {
	parent  string
	changes []history.Change
	// merge allows others' entries between those of a log that moved; whether that is made explicit is judged at
	// the new path.
	merge bool
	// unrelated, if set, reports whether the two histories have nothing in common: then the child may have another
	// log at a log's path.
	unrelated func() (bool, error)
	// equal says what counts as equal when a log at one path is compared with a log at another.
	equal func(from, to string, before, after *LedgerFile) (ledger.Equivalence, error)
	// reverted, if set, says which rewrites may have been taken back.
	reverted RevertedFunc
}

// removedLog is a log that the child does not have at its path: its last readable version, or several.
type removedLog struct {
	path string
	logs []*LedgerFile
}

// waivedEntries are the entries that waivers name; nil if a baseline may excuse any other.
func (src *Source) waivedEntries() map[small.Digest]bool {
	if len(src.Policy.Baselines) > 0 {
		return nil
	}
	out := map[small.Digest]bool{}
	for _, w := range src.Policy.Waivers {
		for _, d := range []*small.Digest{w.From, w.To} {
			if d != nil {
				out[*d] = true
			}
		}
	}
	return out
}

// cannotContinueIn reports whether a log begins or ends with an entry that the other, which has these, lacks and nothing excuses. It
// spares comparing each log with each where many move at once.
func (d removedLog) cannotContinueIn(has, waived map[small.Digest]bool) bool {
	return slices.ContainsFunc(d.logs, func(l *LedgerFile) bool {
		if l.Log.Len() == 0 {
			return false
		}
		first, last := l.Log.Entries[0].Digest, l.Log.Entries[l.Log.Len()-1].Digest
		return !has[first] && !waived[first] || !has[last] && !waived[last]
	})
}

// moves finds the logs that moved on an edge: gone from one path, continued at a new one.
func (src *Source) moves(ctx context.Context, x moveSearch) (moves, error) {
	added, err := src.addedLogs(ctx, x)
	if err != nil || len(added) == 0 {
		return nil, err
	}
	removed, err := src.removedLogs(ctx, x)
	if err != nil {
		return nil, err
	}
	return src.match(x, removed, added)
}

// MovedLogs finds the logs that moved from where they are gone to where logs are new, whatever stands between their entries there.
func (src *Source) MovedLogs(gone, added []*LedgerFile) (map[string]history.File, error) {
	var removed []removedLog
	for _, l := range gone {
		removed = append(removed, removedLog{l.File.Path, []*LedgerFile{l}})
	}
	return src.match(moveSearch{merge: true, equal: src.byWaivers}, removed, added)
}

// match finds which new log continues which one that is gone, the longest first. There must be as many new ones as logs that begin
// alike are gone: of two copies of a log, neither is the log.
func (src *Source) match(x moveSearch, removed []removedLog, added []*LedgerFile) (moves, error) {
	slices.SortStableFunc(removed, func(a, b removedLog) int { return b.longest() - a.longest() })
	out := moves{}
	waived, sets := src.waivedEntries(), map[*LedgerFile]map[small.Digest]bool{}
	entries := func(l *LedgerFile) map[small.Digest]bool {
		if sets[l] == nil {
			sets[l] = ledger.DigestSet(l.Log.Ledger)
		}
		return sets[l]
	}
	for len(removed) > 0 {
		alike := func(d removedLog) bool {
			return src.Logs(d.path) == src.Logs(removed[0].path) && slices.EqualFunc(d.logs, removed[0].logs, func(a, b *LedgerFile) bool {
				return a.Log.Head() == b.Log.Head()
			})
		}
		group := slices.DeleteFunc(slices.Clone(removed), func(d removedLog) bool { return !alike(d) })
		var to []*LedgerFile
		for _, log := range added {
			if waived != nil && x.reverted == nil && group[0].cannotContinueIn(entries(log), waived) {
				continue
			}
			on, err := src.continuesIn(x, group[0], log)
			if err != nil {
				return nil, err
			}
			if on {
				to = append(to, log)
			}
		}
		if len(to) == len(group) || len(to) > len(group) && group[0].longest() == 0 {
			for i, d := range group {
				out[d.path] = to[i].File
				added = slices.DeleteFunc(added, func(log *LedgerFile) bool { return log == to[i] })
			}
		}
		removed = slices.DeleteFunc(removed, alike)
	}
	return out, nil
}

// longest is how many entries the log has to lose.
func (d removedLog) longest() int {
	n := 0
	for _, l := range d.logs {
		n = max(n, l.Log.Len())
	}
	return n
}

// addedLogs are the readable logs at paths where the parent has none.
func (src *Source) addedLogs(ctx context.Context, x moveSearch) ([]*LedgerFile, error) {
	var out []*LedgerFile
	for _, c := range x.changes {
		if !src.IsLog(c.Path) || c.Old.Mode != "" {
			continue // a log that goes where nobody judges it has ended
		}
		log, err := src.Logs(c.Path).Read(ctx, c.New, nil)
		if err != nil {
			return nil, err
		}
		if log.Readable() {
			out = append(out, &LedgerFile{File: c.New, Log: log.Log}) // the same content may lie at several paths
		}
	}
	return out, nil
}

// removedLogs are the logs that the child does not have.
func (src *Source) removedLogs(ctx context.Context, x moveSearch) ([]removedLog, error) {
	var out []removedLog
	for _, c := range x.changes {
		if !src.IsLog(c.Path) || c.Old.Mode == "" || c.New.Mode != "" && x.unrelated == nil {
			continue
		}
		logs, err := src.LogsBefore(ctx, x.parent, c)
		if err != nil {
			return nil, err
		}
		if len(logs) > 0 && c.New.Mode != "" {
			replaced, err := src.replacedByUnrelated(ctx, x, c, logs)
			if err != nil {
				return nil, err
			}
			if !replaced {
				continue
			}
		}
		if len(logs) > 0 {
			out = append(out, removedLog{c.Path, logs})
		}
	}
	return out, nil
}

// LogsBefore reads a parent's log, or its last readable versions.
func (src *Source) LogsBefore(ctx context.Context, parent string, c history.Change) ([]*LedgerFile, error) {
	log, err := src.Logs(c.Path).Read(ctx, c.Old, nil)
	if err != nil {
		return nil, err
	}
	if log.Readable() {
		return []*LedgerFile{log}, nil
	}
	return src.lastReadable(ctx, parent, c.Path)
}

// replacedByUnrelated reports whether the child has another log at a path, from an unrelated history.
func (src *Source) replacedByUnrelated(ctx context.Context, x moveSearch, c history.Change, logs []*LedgerFile) (bool, error) {
	now, err := src.Logs(c.Path).Read(ctx, c.New, nil)
	if err != nil || !now.Readable() {
		return false, err
	}
	held, err := src.contains(x, removedLog{c.Path, logs}, now, c.Path)
	if err != nil || held {
		return false, err
	}
	return x.unrelated()
}

func (src *Source) continuesIn(x moveSearch, d removedLog, there *LedgerFile) (bool, error) {
	if src.Logs(there.File.Path) != src.Logs(d.path) {
		return false, nil
	}
	return src.contains(x, d, there, there.File.Path)
}

// contains reports whether a log extends another or, in a merge, holds its entries in order.
func (src *Source) contains(x moveSearch, d removedLog, now *LedgerFile, to string) (bool, error) {
	for _, before := range d.logs {
		equal, err := x.equal(d.path, to, before, now)
		if err != nil {
			return false, err
		}
		switch ledger.Relate(before.Log.Ledger, now.Log.Ledger, equal).Relation {
		case ledger.Rewritten:
			if x.reverted == nil {
				return false, nil
			}
			if is, err := x.reverted(before.Log.Ledger, now.Log.Ledger); err != nil || !is {
				return false, err
			}
		case ledger.Interleaved:
			if !x.merge {
				return false, nil
			}
		}
	}
	return true, nil
}

func (src *Source) byWaivers(from, to string, _, _ *LedgerFile) (ledger.Equivalence, error) {
	return src.Waived(from, to), nil
}

// RevertedFunc reports whether two versions of a log differ only in that rewrites were taken back.
type RevertedFunc func(before, now *ledger.Ledger) (bool, error)

// Replacement is the step from one commit to another that is not its child. Others' entries may have come between
// those of a log that moved.
func (src *Source) Replacement(ctx context.Context, n history.Commit, changes [][]history.Change, reverted RevertedFunc) (*Step, error) {
	m, err := src.moves(ctx, moveSearch{
		parent: n.Parents[0], changes: changes[0], merge: true, reverted: reverted,
		equal: func(from, to string, before, after *LedgerFile) (ledger.Equivalence, error) {
			return src.EquivalenceOn(ctx, n.Parents, from, to, before, after)
		},
	})
	return &Step{Commit: n, Changes: changes, Moves: []moves{m}}, err
}
