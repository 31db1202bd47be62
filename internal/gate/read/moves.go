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

// byNewPath lists the old paths of logs, by the path to which they moved.
func (m moves) byNewPath() map[string][]string {
	out := map[string][]string{}
	for _, from := range slices.Sorted(maps.Keys(m)) {
		out[m[from].Path] = append(out[m[from].Path], from)
	}
	return out
}

// moveSearch is a question to findMoves and findRotations: on which edge, and what counts as continuing a log.
type moveSearch struct {
	parent, child string
	changes       []history.Change
	// combines is true if the child may combine what several sides recorded, as a merge does. A log that moved may then have others' entries
	// between its own; whether a reconcile entry confirms them is judged at the new path. For rotations see ledger.FindRotation.
	combines bool
	// unrelated, if set, reports whether the parent shares no history with the other parents. If so, a log may have left
	// although the child has another log at its path.
	unrelated func() (bool, error)
	// parents are all parents of the child: what a baseline accepts depends on them. equal, if set, replaces EquivalenceOn.
	parents []string
	equal   func(from, to string, before, after *LedgerFile) (ledger.Equivalence, error)
	// reverted, if set, decides whether a log that was rewritten counts as continuing the old one all the same.
	reverted RevertedFunc
	// acceptsSince is true in the second search of findMoves, for which equal also accepts what since commits accept.
	acceptsSince bool
}

// removedLog is a log of the parent that the child no longer has at its path. logs holds the parent's version or, if that cannot be read, the last
// readable versions before it.
type removedLog struct {
	path string
	logs []*LedgerFile
}

// waivedEntries returns the entries that waivers name. It returns nil if any entry may be missing, because of a baseline or an approved rewrite.
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

// entryIndex finds by their entries the new logs that may continue a removed one, so that not every new log is compared with every removed one.
type entryIndex struct {
	all []*LedgerFile
	// byEntry holds the new logs that have an entry, waived the entries that may be missing in a new log. byEntry is nil if the index cannot
	// exclude any log.
	byEntry map[small.Digest][]*LedgerFile
	waived  map[small.Digest]bool
}

func (src *Source) newEntryIndex(x moveSearch, added []*LedgerFile) *entryIndex {
	n := &entryIndex{all: added, waived: src.waivedEntries()}
	if n.waived == nil || x.reverted != nil || x.acceptsSince {
		return n
	}
	n.byEntry = map[small.Digest][]*LedgerFile{}
	for _, l := range added {
		for _, e := range l.Log.Entries {
			if with := n.byEntry[e.Digest]; len(with) == 0 || with[len(with)-1] != l {
				n.byEntry[e.Digest] = append(with, l)
			}
		}
	}
	return n
}

// candidates returns the new logs that may continue a removed one: those with its first entry or those with its last one, whichever are fewer. An
// entry that a waiver names excludes none.
func (n *entryIndex) candidates(d removedLog) []*LedgerFile {
	out := n.all
	for _, l := range d.logs {
		if n.byEntry == nil || l.Log.Len() == 0 {
			continue
		}
		for _, e := range []ledger.Entry{l.Log.Entries[l.Log.Len()-1], l.Log.Entries[0]} {
			if with := n.byEntry[e.Digest]; !n.waived[e.Digest] && len(with) < len(out) {
				out = with
			}
		}
	}
	return out
}

// findMoves finds the logs that moved on an edge: gone from one path, continued at a new one.
func (src *Source) findMoves(ctx context.Context, x moveSearch) (moves, error) {
	judged := x.equal == nil
	if judged {
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
	files := slices.DeleteFunc(slices.Clone(removed), func(d removedLog) bool { return !src.IsFileEntry(d.path) })
	removed = slices.DeleteFunc(removed, func(d removedLog) bool { return src.IsFileEntry(d.path) })
	out, err := src.matchLogs(x, removed, added)
	if err == nil && judged {
		err = src.addMovesSince(ctx, x, removed, added, out)
	}
	if err != nil || len(files) == 0 {
		return out, err
	}
	return out, src.matchFolders(ctx, x, files, added, out)
}

// MovedLogs finds which new log continues which removed one. It applies waivers, but no baselines. Others' entries may stand between those of the
// old log.
func (src *Source) MovedLogs(gone, added []*LedgerFile) (map[string]history.File, error) {
	var removed []removedLog
	for _, l := range gone {
		removed = append(removed, removedLog{l.File.Path, []*LedgerFile{l}})
	}
	return src.matchLogs(moveSearch{combines: true, equal: src.equalByWaivers}, removed, added)
}

// matchLogs finds which new log continues which removed one. It begins with the longest removed log. If equal logs were removed, exactly as many
// new ones must continue them: with more copies than originals nobody can tell which copy is the log. Of empty logs there may be more copies.
func (src *Source) matchLogs(x moveSearch, removed []removedLog, added []*LedgerFile) (moves, error) {
	slices.SortStableFunc(removed, func(a, b removedLog) int { return b.maxLen() - a.maxLen() })
	groups, order := map[string][]removedLog{}, []string(nil)
	for _, d := range removed {
		key := src.contentKey(d)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], d)
	}
	out, taken, newLogs := moves{}, map[*LedgerFile]bool{}, src.newEntryIndex(x, added)
	for _, key := range order {
		group := groups[key]
		var to []*LedgerFile
		for _, log := range newLogs.candidates(group[0]) {
			if taken[log] || src.ReaderOf(log.File.Path) != src.ReaderOf(group[0].path) {
				continue
			}
			on, err := src.continues(x, group[0], log, log.File.Path)
			if err != nil {
				return nil, err
			}
			if on {
				to = append(to, log)
			}
		}
		if len(to) == len(group) || len(to) > len(group) && group[0].maxLen() == 0 {
			for i, d := range group {
				out[d.path], taken[to[i]] = to[i].File, true
			}
		}
	}
	return out, nil
}

// matchFolders finds the folders of immutable files that moved as a whole, and adds their files to out. A folder has moved if none of its
// files is left in it, and one other folder has more of them than any other. Files that did not come along count as deleted. Files of several stanzas
// in one folder count as several folders.
func (src *Source) matchFolders(ctx context.Context, x moveSearch, removed []removedLog, added []*LedgerFile, out moves) error {
	newLogs := src.newEntryIndex(x, added)
	folders, arrivals := map[FolderLog][]removedLog{}, map[FolderLog]map[FolderLog]moves{}
	alike := map[string][]FolderLog{} // the folders whose removed files have the same entries, by the files' keys
	for _, d := range removed {
		folder := src.FolderLogOf(d.path)
		folders[folder] = append(folders[folder], d)
	}
	for folder, files := range folders {
		var key strings.Builder
		for _, d := range files {
			key.WriteString(src.contentKey(d))
			if err := src.addArrivals(x, d, newLogs, arrivals); err != nil {
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
	left, err := src.Tree.List(ctx, x.child, history.Judged(src.Policy))
	if err != nil {
		return err
	}
	for _, f := range left {
		if src.IsFileEntry(f.Path) {
			delete(arrivals, src.FolderLogOf(f.Path))
		}
	}
	for _, group := range alike {
		group = slices.DeleteFunc(group, func(folder FolderLog) bool { return arrivals[folder] == nil })
		if len(group) == 0 {
			continue
		}
		slices.SortFunc(group, FolderLog.Compare)
		to := fullestFolders(arrivals[group[0]])
		if len(to) != len(group) { // more copies than originals, or fewer: nobody can tell which is the log
			continue
		}
		for i, folder := range group {
			maps.Copy(out, arrivals[folder][to[i]])
		}
	}
	return nil
}

// addArrivals adds to arrivals each new file that continues a removed one under the same name: by old folder, new folder and old path.
func (src *Source) addArrivals(x moveSearch, d removedLog, newLogs *entryIndex, arrivals map[FolderLog]map[FolderLog]moves) error {
	from := src.FolderLogOf(d.path)
	for _, log := range newLogs.candidates(d) {
		to := src.FolderLogOf(log.File.Path)
		if path.Base(log.File.Path) != path.Base(d.path) || src.ReaderOf(log.File.Path) != src.ReaderOf(d.path) {
			continue
		}
		on, err := src.continues(x, d, log, log.File.Path)
		if err != nil {
			return err
		}
		if !on {
			continue
		}
		if arrivals[from] == nil {
			arrivals[from] = map[FolderLog]moves{}
		}
		if arrivals[from][to] == nil {
			arrivals[from][to] = moves{}
		}
		arrivals[from][to][d.path] = log.File
	}
	return nil
}

// fullestFolders returns the folders that received the most files, sorted.
func fullestFolders(arrivals map[FolderLog]moves) []FolderLog {
	most := 0
	for _, m := range arrivals {
		most = max(most, len(m))
	}
	return slices.DeleteFunc(slices.SortedFunc(maps.Keys(arrivals), FolderLog.Compare), func(to FolderLog) bool { return len(arrivals[to]) < most })
}

// contentKey returns a key that is equal for logs of one format with the same entries.
func (src *Source) contentKey(d removedLog) string {
	key := fmt.Sprintf("%p", src.ReaderOf(d.path))
	for _, l := range d.logs {
		key += " " + l.Log.Head().String()
	}
	return key
}

// maxLen returns the number of entries of the longest version.
func (d removedLog) maxLen() int {
	n := 0
	for _, l := range d.logs {
		n = max(n, l.Log.Len())
	}
	return n
}

// addedLogs reads the readable logs of the child at paths where the parent has no file.
func (src *Source) addedLogs(ctx context.Context, x moveSearch) ([]*LedgerFile, error) {
	var out []*LedgerFile
	for _, c := range x.changes {
		if !src.IsLog(c.Path) || c.Old.Mode != "" {
			continue // a log has ended if it moves to a path that is not judged
		}
		log, err := src.ReaderOf(c.Path).Read(ctx, c.New, nil)
		if err != nil {
			return nil, err
		}
		if log.Readable() {
			out = append(out, &LedgerFile{File: c.New, Log: log.Log}) // the reader returns one LedgerFile for equal texts at several paths
		}
	}
	return out, nil
}

// removedLogs reads the logs of the parent that the child does not have at their paths.
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

// LogsBefore reads the log at a changed path in the parent or, if that cannot be read, its last readable versions.
func (src *Source) LogsBefore(ctx context.Context, parent string, c history.Change) ([]*LedgerFile, error) {
	log, err := src.ReaderOf(c.Path).Read(ctx, c.Old, nil)
	if err != nil {
		return nil, err
	}
	if log.Readable() {
		return []*LedgerFile{log}, nil
	}
	return src.LastReadable(ctx, parent, c.Path)
}

// replacedByUnrelated reports whether the child has, at a log's path, another log that came from an unrelated history.
func (src *Source) replacedByUnrelated(ctx context.Context, x moveSearch, c history.Change, logs []*LedgerFile) (bool, error) {
	now, err := src.ReaderOf(c.Path).Read(ctx, c.New, nil)
	if err != nil || !now.Readable() {
		return false, err
	}
	held, err := src.continues(x, removedLog{c.Path, logs}, now, c.Path)
	if err != nil || held {
		return false, err
	}
	return x.unrelated()
}

// continues reports whether the log now, at the path to, continues all versions of a removed log: it extends them or, if the child combines several
// sides, has their entries in order. A log without an order only has to have the entries. If x.reverted is set, it decides about a rewritten log.
func (src *Source) continues(x moveSearch, d removedLog, now *LedgerFile, to string) (bool, error) {
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
			if !x.combines {
				return false, nil
			}
		}
	}
	return true, nil
}

func (src *Source) equalByWaivers(from, to string, _, _ *LedgerFile) (ledger.Equivalence, error) {
	return src.EquivalenceByWaivers(from, to), nil
}

// RevertedFunc reports whether the only difference between two versions of a log is that earlier rewrites of its entries were undone.
type RevertedFunc func(before, now *ledger.Ledger) (bool, error)

// PairLogs finds the logs in which two tips differ, and returns each as the target's file and the head's file. If a log moved on one branch only, its
// files have different paths.
func (src *Source) PairLogs(ctx context.Context, target, head string, changes []history.Change) ([][2]history.File, error) {
	if err := src.findProfiles(ctx, history.Commit{ID: head, Parents: []string{target}}, [][]history.Change{changes}); err != nil {
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
	return src.findMoves(ctx, moveSearch{parent: from, child: to, changes: changes[0], combines: true})
}
