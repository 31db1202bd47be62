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
	// file is the archive's file in the child.
	file history.File
	*ledger.Rotation
}

// whole reports whether there is a rotation, and the archive has gained all entries of the log.
func (r *rotation) whole() bool { return r != nil && len(r.Rest) == 0 }

// findRotations finds the logs that were rotated on an edge, by the log's path. moved are the logs that moved. Each log goes to one archive, and each
// archive takes one log.
func (src *Source) findRotations(ctx context.Context, x moveSearch, moved moves) (map[string]*rotation, error) {
	var paths []history.Change
	for _, c := range x.changes {
		if src.MayRotate(c) {
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
		maps.DeleteFunc(out, func(_ string, r *rotation) bool { return r.ReplacesArchive && out[r.to] == nil })
	}
	return out, nil
}

// MayRotate reports whether a change is one of a log that can be rotated, or be an archive.
func (src *Source) MayRotate(c history.Change) bool {
	return src.Policy.LogFor(c.Path) != nil && !src.IsFamilyLog(c.Path) && !src.IsFileEntry(c.Path)
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
	log, now, err := src.readBoth(ctx, c)
	if err != nil || !log.Readable() || log.Log.Len() == 0 || now.Readable() && now.Log.HasAll(log.Log.Ledger) {
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
		if !has.Readable() || !had.Readable() && to.Old.Mode != "" {
			continue
		}
		equal, err := src.equalInRotation(ctx, x, c.Path, to.Path, log, has)
		if err != nil {
			return nil, err
		}
		split := ledger.FindRotation(log.Log.Ledger, had.ledger(), has.ledger(), ledger.RotationOptions{Equal: equal, Combines: x.combines, Unordered: src.Policy.LogFor(c.Path).Unordered()})
		if split == nil || !BeginsAnew(now.ledger(), split.Gone) {
			continue
		}
		r := &rotation{from: c.Path, to: to.Path, file: to.New, Rotation: split}
		copied, err := src.isCopy(ctx, x, r, had.ledger())
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
		if !slices.ContainsFunc(r.Gone, func(e ledger.Entry) bool { return gained[e.Digest] }) {
			continue
		}
		if before, err := src.listVersions(ctx, []string{parent}, r.from); err != nil || len(before) == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// equalInRotation returns which entries count as equal if the log at the path from was rotated to the archive at the path to: by waivers for both
// paths, and by what baselines, the log's since commit and approved rewrites accept.
func (src *Source) equalInRotation(ctx context.Context, x moveSearch, from, to string, log, archive *LedgerFile) (ledger.Equivalence, error) {
	equal, err := src.EquivalenceOn(ctx, x.parents, from, to, log, archive)
	if err != nil {
		return equal, err
	}
	if equal, err = src.AcceptSince(ctx, equal, x.parent, history.CommitOrParents(x.child, x.parents), from, from, log, archive); err != nil {
		return equal, err
	}
	return src.CompleteApprovals(ctx, equal, append([]string{x.parent}, history.CommitOrParents(x.child, x.parents)...), from, log, archive, x.combines)
}

// readBoth reads a log before and after a change.
func (src *Source) readBoth(ctx context.Context, c history.Change) (before, now *LedgerFile, err error) {
	logs := src.ReaderOf(c.Path)
	if before, err = logs.Read(ctx, c.Old, nil); err != nil {
		return nil, nil, err
	}
	now, err = logs.Read(ctx, c.New, before)
	return before, now, err
}

// BeginsAnew reports whether a log has none of the entries that went to an archive. Its first entry does not count, since it may be a header that
// every such file has.
func BeginsAnew(log *ledger.Ledger, gone []ledger.Entry) bool {
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
