package read

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
)

// rotation says how a configured log was rotated on an edge: its entries went to another log, the archive, and it began anew (docs/logs.md, "What is
// out of reach").
type rotation struct {
	// from and to are the paths of the log and of the archive.
	from, to string
	// file is the log's file in the parent.
	file history.File
	// gone are the log's entries that the archive has gained; rest are the others. There is a rest only if the child combines several sides.
	gone, rest []ledger.Entry
	// replacesArchive is true if the archive no longer has its own earlier entries. The archive must then have been rotated itself.
	replacesArchive bool
}

// whole reports whether there is a rotation, and the archive has gained all entries of the log.
func (r *rotation) whole() bool { return r != nil && len(r.rest) == 0 }

// findRotations finds the logs that were rotated on an edge, by the log's path. moved are the logs that moved. Each log goes to one archive, and each
// archive takes one log.
func (src *Source) findRotations(ctx context.Context, x moveSearch, moved moves) (map[string]*rotation, error) {
	var paths []history.Change
	for _, c := range x.changes {
		if src.Policy.LogFor(c.Path) != nil && !src.IsFamilyLog(c.Path) && !src.IsFileEntry(c.Path) {
			paths = append(paths, c)
		}
	}
	if len(paths) < 2 {
		return nil, nil
	}
	out, taken, arrived := map[string]*rotation{}, map[string]int{}, moved.byNewPath()
	others := slices.DeleteFunc(slices.Clone(paths), func(c history.Change) bool { return arrived[c.Path] != nil })
	for _, c := range paths {
		if _, is := moved[c.Path]; is || c.Old.Mode == "" {
			continue
		}
		found, err := src.findArchives(ctx, x, c, others)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			taken[r.to]++
		}
		if len(found) == 1 { // a second copy is no archive
			out[c.Path] = found[0]
		}
	}
	maps.DeleteFunc(out, func(_ string, r *rotation) bool { return taken[r.to] > 1 })
	all := maps.Clone(out)
	maps.DeleteFunc(out, func(from string, _ *rotation) bool { return inCircle(all, from) })
	for range all { // a rotation that is dropped may have been the reason for another
		maps.DeleteFunc(out, func(_ string, r *rotation) bool { return r.replacesArchive && out[r.to] == nil })
	}
	return out, nil
}

// inCircle reports whether the log at a path is one of several that exchanged their paths, as if each were the next one's archive. None of them is an
// archive.
func inCircle(all map[string]*rotation, from string) bool {
	at := from
	for range all {
		r := all[at]
		if r == nil {
			return false
		}
		if at = r.to; at == from {
			return true
		}
	}
	return false
}

// RotatedBetween finds the logs that went to archives with all their entries between a commit and a later one. It maps each log's path to its
// archive's.
func (src *Source) RotatedBetween(ctx context.Context, from, to string) (map[string]string, error) {
	changes, err := src.Changes(ctx, []history.Edge{{Parent: from, Child: to}})
	if err != nil {
		return nil, err
	}
	x := moveSearch{parent: from, child: to, changes: changes[0], combines: true}
	moved, err := src.findMoves(ctx, x)
	if err != nil {
		return nil, err
	}
	found, err := src.findRotations(ctx, x, moved)
	out := map[string]string{}
	for path, r := range found {
		if r.whole() {
			out[path] = r.to
		}
	}
	return out, err
}

// findArchives finds, among the changed paths, the archives to which the entries of a log may have gone. It finds none if the log still has all its
// entries.
func (src *Source) findArchives(ctx context.Context, x moveSearch, c history.Change, paths []history.Change) (found []*rotation, err error) {
	logs := src.ReaderOf(c.Path)
	before, now, err := src.readBoth(ctx, c)
	if err != nil || before == nil || before.Len() == 0 || now != nil && now.HasAll(before) {
		return nil, err
	}
	for _, to := range paths {
		if to.Path == c.Path || to.New.Mode == "" || src.ReaderOf(to.Path) != logs {
			continue
		}
		had, has, err := src.readBoth(ctx, to)
		if err != nil {
			return nil, err
		}
		if has == nil || had == nil && to.Old.Mode != "" {
			continue
		}
		r := splitByArchive(before, had, has, x.combines, src.Policy.LogFor(c.Path).Unordered())
		if r == nil || !beginsAnew(now, r.gone) {
			continue
		}
		r.from, r.to, r.file = c.Path, to.Path, c.Old
		copied, err := src.isCopy(ctx, x, r, had)
		if err != nil {
			return nil, err
		}
		if !copied {
			found = append(found, r)
		}
	}
	if slices.ContainsFunc(found, (*rotation).whole) { // one archive has the whole log: another that has only a part of it has the same text by chance
		found = slices.DeleteFunc(found, func(r *rotation) bool { return !r.whole() })
	}
	return found, nil
}

// isCopy reports whether what an archive gained came from another parent of the merge. That parent has some of these entries in the archive, and
// neither it nor an ancestor had a log at the log's path: the entries are a copy of the log's, or the same text by chance. had is what the archive had
// on this edge. A parent that had the log, too, is judged on its own edge.
func (src *Source) isCopy(ctx context.Context, x moveSearch, r *rotation, had *ledger.Ledger) (bool, error) {
	for _, parent := range x.parents {
		if parent == x.parent {
			continue
		}
		archive, err := src.LogAt(ctx, parent, r.to)
		if err != nil {
			return false, err
		}
		if !archive.Readable() {
			continue
		}
		there := archive.Log.Entries
		if had != nil {
			there = ledger.Only(archive.Log.Ledger, had, ledger.Equivalence{})
		}
		gained := ledger.DigestSet(ledger.OfEntries(there))
		if !slices.ContainsFunc(r.gone, func(e ledger.Entry) bool { return gained[e.Digest] }) {
			continue
		}
		if before, err := src.listVersions(ctx, []string{parent}, r.from); err != nil || len(before) == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// readBoth reads a log before and after a change. A ledger is nil if there is no readable log.
func (src *Source) readBoth(ctx context.Context, c history.Change) (before, now *ledger.Ledger, err error) {
	logs := src.ReaderOf(c.Path)
	old, err := logs.Read(ctx, c.Old, nil)
	if err != nil {
		return nil, nil, err
	}
	child, err := logs.Read(ctx, c.New, old)
	if err != nil {
		return nil, nil, err
	}
	if old.Readable() {
		before = old.Log.Ledger
	}
	if child.Readable() {
		now = child.Log.Ledger
	}
	return before, now, nil
}

// splitByArchive is splitByGained for an archive that may have been rotated itself. If nothing else is found, and the archive has lost entries, all
// that it has now counts as gained.
func splitByArchive(log, had, has *ledger.Ledger, combines, unordered bool) *rotation {
	r := splitByGained(log, had, has, combines, unordered)
	if r == nil && had != nil && !has.HasAll(had) {
		if r = splitByGained(log, nil, has, combines, unordered); r != nil {
			r.replacesArchive = true
		}
	}
	return r
}

// splitByGained splits the entries of a log into those that an archive gained and the others. had is what the archive had, or nil; has is what it
// has now. It returns nil if this is no rotation. In a rotation, the archive keeps what it had and gains all of the log in one piece. Other new entries
// may stand before and after that piece: a squash has what a branch recorded in the archive earlier, and what a second rotation brought.
//
// If the child combines several sides, it is enough that the archive gained the log's beginning. What a side appended to the log meanwhile may then be
// further on in the archive, or still in the log. If the entries have no order, those that were gained may stand anywhere.
func splitByGained(log, had, has *ledger.Ledger, combines, unordered bool) *rotation {
	gained := has.Entries
	if had != nil {
		gained = ledger.Only(has, had, ledger.Equivalence{})
	}
	if unordered {
		return splitUnordered(log, gained, combines, had == nil || has.HasAll(had))
	}
	n, at := 0, 0 // the longest beginning of the log among the gained entries: its length, and where it is
	for i := range gained {
		k := 0
		for k < log.Len() && i+k < len(gained) && gained[i+k].Digest == log.Entries[k].Digest {
			k++
		}
		if k > n {
			n, at = k, i
		}
	}
	if n == 0 || !combines && (n < log.Len() || had != nil && !ledger.Relate(had, has, ledger.Equivalence{}).Allowed()) {
		return nil
	}
	r, next := &rotation{gone: log.Entries[:n:n]}, at+n
	for _, e := range log.Entries[n:] {
		i := next
		for i < len(gained) && gained[i].Digest != e.Digest {
			i++
		}
		if i < len(gained) {
			next = i + 1
			r.gone = append(r.gone, e)
		} else {
			r.rest = append(r.rest, e)
		}
	}
	return r
}

// splitUnordered is splitByGained for a log whose entries have no order. kept is true if the archive still has what it had.
func splitUnordered(log *ledger.Ledger, gained []ledger.Entry, combines, kept bool) *rotation {
	rest := ledger.Only(log, ledger.OfEntries(gained), ledger.Equivalence{})
	gone := ledger.Only(log, ledger.OfEntries(rest), ledger.Equivalence{})
	if len(gone) == 0 || !combines && (len(rest) > 0 || !kept) {
		return nil
	}
	return &rotation{gone: gone, rest: rest}
}

// beginsAnew reports whether a log has none of the entries that went to an archive. Its first entry does not count, since it may be a header that
// every such file has.
func beginsAnew(log *ledger.Ledger, gone []ledger.Entry) bool {
	if log == nil {
		return true
	}
	old := ledger.DigestSet(&ledger.Ledger{Entries: gone})
	for i := range log.Entries {
		if i > 0 && old[log.Entries[i].Digest] {
			return false
		}
	}
	return true
}
