package read

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// moves maps a parent's path to the child's file in which the log continues.
type moves map[string]history.File

// sources lists the old paths of logs, by the path that they moved to.
func (m moves) sources() map[string][]string {
	out := map[string][]string{}
	for _, from := range slices.Sorted(maps.Keys(m)) {
		out[m[from].Path] = append(out[m[from].Path], from)
	}
	return out
}

// moveSearch is one edge on which logs may move.
type moveSearch struct {
	parent, child string
	changes       []history.Change
	// merge allows others' entries between those of a log that moved; whether that is made explicit is judged at
	// the new path.
	merge bool
	// unrelated, if set, reports whether the two histories have nothing in common: if so, the child may have
	// another log at a log's path.
	unrelated func() (bool, error)
	// parents are the child's: what a baseline accepts depends on them. equal, if set, says what counts as equal instead.
	parents []string
	equal   func(from, to string, before, after *LedgerFile) (ledger.Equivalence, error)
	// reverted, if set, says which rewrites may have been taken back.
	reverted RevertedFunc
}

// removedLog is a log that the child does not have at its path: its last readable version, or several.
type removedLog struct {
	path string
	logs []*LedgerFile
}

// waivedEntries are the entries that waivers name; nil if a baseline, or the approval of a whole rewrite, may excuse any other.
func (src *Source) waivedEntries() map[small.Digest]bool {
	if len(src.Policy.Baselines) > 0 {
		return nil
	}
	out := map[small.Digest]bool{}
	for _, w := range src.Policy.Waivers {
		if w.OfLog {
			return nil
		}
		for _, d := range []*small.Digest{w.From, w.To} {
			if d != nil {
				out[*d] = true
			}
		}
	}
	return out
}

// index finds, among new logs, those that can continue one that is gone, without comparing each with each if many move at once.
type index struct {
	all []*LedgerFile
	// having are the logs that have an entry; waived are entries that a log may lack nevertheless. Both are nil if any log may continue any.
	having map[small.Digest][]*LedgerFile
	waived map[small.Digest]bool
}

func (src *Source) indexOf(x moveSearch, added []*LedgerFile) *index {
	n := &index{all: added, waived: src.waivedEntries()}
	if n.waived == nil || x.reverted != nil {
		return n
	}
	n.having = map[small.Digest][]*LedgerFile{}
	for _, l := range added {
		for _, e := range l.Log.Entries {
			if with := n.having[e.Digest]; len(with) == 0 || with[len(with)-1] != l {
				n.having[e.Digest] = append(with, l)
			}
		}
	}
	return n
}

// candidates are logs that can continue one that is gone: they have its first or its last entry, unless a waiver names that.
func (n *index) candidates(d removedLog) []*LedgerFile {
	out := n.all
	for _, l := range d.logs {
		if n.having == nil || l.Log.Len() == 0 {
			continue
		}
		for _, e := range []ledger.Entry{l.Log.Entries[l.Log.Len()-1], l.Log.Entries[0]} {
			if with := n.having[e.Digest]; !n.waived[e.Digest] && len(with) < len(out) {
				out = with
			}
		}
	}
	return out
}

// moves finds the logs that moved on an edge: gone from one path, continued at a new one.
func (src *Source) moves(ctx context.Context, x moveSearch) (moves, error) {
	if x.equal == nil {
		x.equal = func(from, to string, before, after *LedgerFile) (ledger.Equivalence, error) {
			return src.EquivalenceOn(ctx, x.parents, from, to, before, after)
		}
	}
	added, err := src.addedLogs(ctx, x)
	if err != nil || len(added) == 0 {
		return nil, err
	}
	removed, err := src.removedLogs(ctx, x)
	if err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(slices.Clone(removed), func(d removedLog) bool { return !src.OfFile(d.path) })
	removed = slices.DeleteFunc(removed, func(d removedLog) bool { return src.OfFile(d.path) })
	out, err := src.match(x, removed, added)
	if err != nil || len(files) == 0 {
		return out, err
	}
	return out, src.matchFolders(ctx, x, files, added, out)
}

// MovedLogs finds which new log continues which one that is gone, whatever is between its entries.
func (src *Source) MovedLogs(gone, added []*LedgerFile) (map[string]history.File, error) {
	var removed []removedLog
	for _, l := range gone {
		removed = append(removed, removedLog{l.File.Path, []*LedgerFile{l}})
	}
	return src.match(moveSearch{merge: true, equal: src.byWaivers}, removed, added)
}

// match finds which new log continues which one that is gone, the longest first. There must be as many new ones as equal logs that
// are gone: of two copies of a log, neither is the log.
func (src *Source) match(x moveSearch, removed []removedLog, added []*LedgerFile) (moves, error) {
	slices.SortStableFunc(removed, func(a, b removedLog) int { return b.longest() - a.longest() })
	groups, order := map[string][]removedLog{}, []string(nil)
	for _, d := range removed {
		key := src.likeness(d)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], d)
	}
	out, taken, there := moves{}, map[*LedgerFile]bool{}, src.indexOf(x, added)
	for _, key := range order {
		group := groups[key]
		var to []*LedgerFile
		for _, log := range there.candidates(group[0]) {
			if taken[log] || src.Logs(log.File.Path) != src.Logs(group[0].path) {
				continue
			}
			on, err := src.contains(x, group[0], log, log.File.Path)
			if err != nil {
				return nil, err
			}
			if on {
				to = append(to, log)
			}
		}
		if len(to) == len(group) || len(to) > len(group) && group[0].longest() == 0 {
			for i, d := range group {
				out[d.path], taken[to[i]] = to[i].File, true
			}
		}
	}
	return out, nil
}

// matchFolders finds folders of files that moved as a whole, and adds the files to out: none of the folder's files is left there, and one
// other folder has more of them than any other. Files that did not come along are gone.
func (src *Source) matchFolders(ctx context.Context, x moveSearch, removed []removedLog, added []*LedgerFile, out moves) error {
	there := src.indexOf(x, added)
	folders, arrivals, alike := map[string][]removedLog{}, map[string]map[string]moves{}, map[string][]string{}
	for _, d := range removed {
		folders[path.Dir(d.path)] = append(folders[path.Dir(d.path)], d)
	}
	for folder, files := range folders {
		var key strings.Builder
		for _, d := range files {
			key.WriteString(src.likeness(d))
			if err := src.arrive(x, d, there, arrivals); err != nil {
				return err
			}
		}
		if len(arrivals[folder]) > 0 {
			alike[key.String()] = append(alike[key.String()], folder)
		}
	}
	if len(alike) == 0 {
		return nil
	}
	left, err := src.Tree.List(ctx, x.child, history.Matching(src.Policy.Watched()...))
	if err != nil {
		return err
	}
	for _, f := range left {
		if src.OfFile(f.Path) {
			delete(arrivals, path.Dir(f.Path))
		}
	}
	for _, group := range alike {
		group = slices.DeleteFunc(group, func(folder string) bool { return arrivals[folder] == nil })
		if len(group) == 0 {
			continue
		}
		slices.Sort(group)
		to := mostOf(arrivals[group[0]])
		if len(to) != len(group) { // of two copies of a folder, neither is the log
			continue
		}
		for i, folder := range group {
			maps.Copy(out, arrivals[folder][to[i]])
		}
	}
	return nil
}

// arrive notes the folders where a file that is gone is new, by the folder that it left.
func (src *Source) arrive(x moveSearch, d removedLog, there *index, arrivals map[string]map[string]moves) error {
	from, name := path.Split(d.path)
	from = path.Clean(from)
	for _, log := range there.candidates(d) {
		to := path.Dir(log.File.Path)
		if path.Base(log.File.Path) != name || src.Logs(log.File.Path) != src.Logs(d.path) {
			continue
		}
		on, err := src.contains(x, d, log, log.File.Path)
		if err != nil {
			return err
		}
		if !on {
			continue
		}
		if arrivals[from] == nil {
			arrivals[from] = map[string]moves{}
		}
		if arrivals[from][to] == nil {
			arrivals[from][to] = moves{}
		}
		arrivals[from][to][d.path] = log.File
	}
	return nil
}

// mostOf are the folders where most files arrived, in order.
func mostOf(arrivals map[string]moves) []string {
	most := 0
	for _, m := range arrivals {
		most = max(most, len(m))
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(arrivals)), func(to string) bool { return len(arrivals[to]) < most })
}

// likeness is equal for logs of one format that have the same entries.
func (src *Source) likeness(d removedLog) string {
	key := fmt.Sprintf("%p", src.Logs(d.path))
	for _, l := range d.logs {
		key += " " + l.Log.Head().String()
	}
	return key
}

// longest is how many entries the log's longest version has.
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
			continue // a log that moves to where it is not judged has ended
		}
		log, err := src.Logs(c.Path).Read(ctx, c.New, nil)
		if err != nil {
			return nil, err
		}
		if log.Readable() {
			out = append(out, &LedgerFile{File: c.New, Log: log.Log}) // the same content may be at several paths
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

// contains reports whether a log extends another or, in a merge, holds its entries in order. If they have no order, it has to hold them.
func (src *Source) contains(x moveSearch, d removedLog, now *LedgerFile, to string) (bool, error) {
	for _, before := range d.logs {
		equal, err := x.equal(d.path, to, before, now)
		if err != nil {
			return false, err
		}
		if src.Policy.LogFor(to).Unordered() && len(ledger.Only(before.Log.Ledger, now.Log.Ledger, equal)) == 0 {
			continue
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
// those of a log that moved. If the second one does not descend from the first, they may also stand between those of a log in its archive.
func (src *Source) Replacement(ctx context.Context, n history.Commit, changes [][]history.Change, descends bool, reverted RevertedFunc) (*Step, error) {
	if err := src.enter(ctx, n, changes); err != nil {
		return nil, err
	}
	m, err := src.moves(ctx, moveSearch{parent: n.Parents[0], child: n.ID, changes: changes[0], merge: true, reverted: reverted, parents: n.Parents})
	if err != nil {
		return nil, err
	}
	rotated, err := src.rotations(ctx, moveSearch{changes: changes[0], merge: !descends}, m)
	return &Step{Commit: n, Changes: changes, Moves: []moves{m}, sources: []map[string][]string{m.sources()}, rotations: []map[string]*rotation{rotated}}, err
}

// Pairs are the logs in which two tips differ: the target's and the head's. A log that moved on one branch is
// paired with the other branch's, wherever that is.
func (src *Source) Pairs(ctx context.Context, target, head string, changes []history.Change) ([][2]history.File, error) {
	if err := src.enter(ctx, history.Commit{ID: head, Parents: []string{target}}, [][]history.Change{changes}); err != nil {
		return nil, err
	}
	var out [][2]history.File
	missing := false
	at := map[string]history.Change{}
	for _, c := range changes {
		if !src.IsLog(c.Path) {
			continue
		}
		at[c.Path] = c
		if c.Old.Mode == "" || c.New.Mode == "" {
			missing = true
			continue
		}
		out = append(out, [2]history.File{c.Old, c.New})
	}
	if !missing {
		return out, nil
	}
	bases, err := src.History.MergeBases(ctx, target, head)
	if err != nil {
		return nil, err
	}
	for _, base := range bases {
		var went [2]moves
		for i, tip := range []string{target, head} {
			if went[i], err = src.MovesBetween(ctx, base, tip); err != nil {
				return nil, err
			}
		}
		all := moves{}
		maps.Copy(all, went[0])
		maps.Copy(all, went[1])
		for _, path := range slices.Sorted(maps.Keys(all)) {
			ours, moved := went[0][path]
			theirs, movedToo := went[1][path]
			if !moved {
				ours = at[path].Old
			}
			if !movedToo {
				theirs = at[path].New
			}
			if pair := [2]history.File{ours, theirs}; ours.Mode != "" && theirs.Mode != "" && !slices.Contains(out, pair) {
				out = append(out, pair)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b [2]history.File) int { return strings.Compare(a[1].Path, b[1].Path) })
	return out, nil
}

// MovesBetween finds the logs that moved between a commit and a later one.
func (src *Source) MovesBetween(ctx context.Context, from, to string) (moves, error) {
	changes, err := src.Changes(ctx, []history.Edge{{Parent: from, Child: to}})
	if err != nil {
		return nil, err
	}
	return src.moves(ctx, moveSearch{parent: from, child: to, changes: changes[0], merge: true})
}
