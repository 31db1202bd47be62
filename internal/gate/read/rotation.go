package read

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
)

// rotation says how a configured log went to an archive on an edge, and began anew (docs/logs.md, "Rotation").
type rotation struct {
	// from and to are the paths of the log and of the archive.
	from, to string
	// file is the log before.
	file history.File
	// gone are the log's first entries, which the archive has gained; rest are the others.
	gone, rest []ledger.Entry
	// replaces is true if the archive no longer has what it had: that must have gone to an archive, too.
	replaces bool
}

// whole reports whether there is a rotation, and the archive has gained all of the log.
func (r *rotation) whole() bool { return r != nil && len(r.rest) == 0 }

// rotations finds the logs that were rotated on an edge, by path. Each has one archive, and each archive takes one log.
func (src *Source) rotations(ctx context.Context, x moveSearch, moved moves) (map[string]*rotation, error) {
	var paths []history.Change
	for _, c := range x.changes {
		if src.Policy.LogFor(c.Path) != nil && !src.OfFamily(c.Path) && !src.OfFile(c.Path) {
			paths = append(paths, c)
		}
	}
	if len(paths) < 2 {
		return nil, nil
	}
	out, taken, arrived := map[string]*rotation{}, map[string]int{}, moved.sources()
	others := slices.DeleteFunc(slices.Clone(paths), func(c history.Change) bool { return arrived[c.Path] != nil })
	for _, c := range paths {
		if _, is := moved[c.Path]; is || c.Old.Mode == "" {
			continue
		}
		found, err := src.archives(ctx, x, c, others)
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
	for range all {
		maps.DeleteFunc(out, func(_ string, r *rotation) bool { return r.replaces && out[r.to] == nil })
	}
	return out, nil
}

// inCircle reports whether logs took each other's place, the one at a path among them: none of them is an archive.
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

// RotatedBetween maps the path of each log that went whole to an archive, between a commit and a later one, to the archive's.
func (src *Source) RotatedBetween(ctx context.Context, from, to string) (map[string]string, error) {
	changes, err := src.Changes(ctx, []history.Edge{{Parent: from, Child: to}})
	if err != nil {
		return nil, err
	}
	x := moveSearch{parent: from, child: to, changes: changes[0], merge: true}
	moved, err := src.moves(ctx, x)
	if err != nil {
		return nil, err
	}
	found, err := src.rotations(ctx, x, moved)
	out := map[string]string{}
	for path, r := range found {
		if r.whole() {
			out[path] = r.to
		}
	}
	return out, err
}

// archives finds the logs that gain what a log had and no longer has.
func (src *Source) archives(ctx context.Context, x moveSearch, c history.Change, paths []history.Change) (found []*rotation, err error) {
	logs := src.Logs(c.Path)
	before, now, err := src.both(ctx, c)
	if err != nil || before == nil || before.Len() == 0 || now != nil && now.HasAll(before) {
		return nil, err
	}
	for _, to := range paths {
		if to.Path == c.Path || to.New.Mode == "" || src.Logs(to.Path) != logs {
			continue
		}
		had, has, err := src.both(ctx, to)
		if err != nil {
			return nil, err
		}
		if has == nil || had == nil && to.Old.Mode != "" {
			continue
		}
		r := rotateInto(before, had, has, x.merge, src.Policy.LogFor(c.Path).Unordered())
		if r == nil || !fresh(now, r.gone) {
			continue
		}
		r.from, r.to, r.file = c.Path, to.Path, c.Old
		copied, err := src.copied(ctx, x, r, had)
		if err != nil {
			return nil, err
		}
		if !copied {
			found = append(found, r)
		}
	}
	if slices.ContainsFunc(found, (*rotation).whole) { // what has only a part has the same text by chance
		found = slices.DeleteFunc(found, func(r *rotation) bool { return !r.whole() })
	}
	return found, nil
}

// copied reports whether another parent of a merge has what an archive gained, and never had the log: it is a copy, or the same text by chance.
// had is what the archive had on this edge. A parent that has the log, too, is judged on its own edge.
func (src *Source) copied(ctx context.Context, x moveSearch, r *rotation, had *ledger.Ledger) (bool, error) {
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
			there = ledger.Gained(had, archive.Log.Ledger)
		}
		gained := ledger.DigestSet(ledger.OfEntries(there))
		if !slices.ContainsFunc(r.gone, func(e ledger.Entry) bool { return gained[e.Digest] }) {
			continue
		}
		if before, err := src.versionsBehind(ctx, []string{parent}, r.from); err != nil || len(before) == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// both reads a log before and after a change; nil where there is none.
func (src *Source) both(ctx context.Context, c history.Change) (before, now *ledger.Ledger, err error) {
	logs := src.Logs(c.Path)
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

// rotateInto is rotate for an archive that may have lost what it had.
func rotateInto(log, had, has *ledger.Ledger, meet, unordered bool) *rotation {
	r := rotate(log, had, has, meet, unordered)
	if r == nil && had != nil && !has.HasAll(had) {
		if r = rotate(log, nil, has, meet, unordered); r != nil {
			r.replaces = true
		}
	}
	return r
}

// rotate says what of a log an archive gained, which had some entries, or none, and now has others; nil if that is not all or, where two
// sides meet, at least the log's beginning. What one side appended meanwhile may then stand in the archive too, or in the log. New entries may
// stand before and behind: a squash has what a branch recorded in the archive before, and what a second rotation brought. Without an order they
// may stand anywhere.
func rotate(log, had, has *ledger.Ledger, meet, unordered bool) *rotation {
	gained := has.Entries
	if had != nil {
		gained = ledger.Gained(had, has)
	}
	if unordered {
		return rotateSet(log, gained, meet, had == nil || has.HasAll(had))
	}
	n, at := 0, 0
	for i := range gained {
		k := 0
		for k < log.Len() && i+k < len(gained) && gained[i+k].Digest == log.Entries[k].Digest {
			k++
		}
		if k > n {
			n, at = k, i
		}
	}
	if n == 0 || !meet && (n < log.Len() || had != nil && !ledger.Relate(had, has, ledger.Equivalence{}).Allowed()) {
		return nil
	}
	r := &rotation{gone: log.Entries[:n:n]}
	for _, e := range log.Entries[n:] {
		next := at + n
		for next < len(gained) && gained[next].Digest != e.Digest {
			next++
		}
		if next < len(gained) {
			at = next + 1 - n
			r.gone = append(r.gone, e)
		} else {
			r.rest = append(r.rest, e)
		}
	}
	return r
}

// rotateSet is rotate for a log whose entries have no order. kept says that the archive has what it had.
func rotateSet(log *ledger.Ledger, gained []ledger.Entry, meet, kept bool) *rotation {
	rest := ledger.Gained(ledger.OfEntries(gained), log)
	gone := ledger.Gained(ledger.OfEntries(rest), log)
	if len(gone) == 0 || !meet && (len(rest) > 0 || !kept) {
		return nil
	}
	return &rotation{gone: gone, rest: rest}
}

// fresh reports whether a log has none of some entries, but perhaps a first line that every file has.
func fresh(log *ledger.Ledger, gone []ledger.Entry) bool {
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
