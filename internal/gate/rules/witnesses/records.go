package witnesses

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/witness"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// isProfilePath reports whether a path is that of a profile of 2.0.0. A witness keeps the records of such a workspace as one log at this path.
func isProfilePath(at string) bool {
	_, name, in := small.SplitPath(at)
	return in && name == records.ProfileFile
}

// addRecords adds, for each workspace of 2.0.0 among the files, its records as one log and the logs of 1.0.0 from which it was migrated.
func (c *comparison) addRecords(ctx context.Context, files []history.File) error {
	for _, f := range files {
		dir, name, _ := small.SplitPath(f.Path)
		if name != records.ProfileFile {
			continue
		}
		if is, err := c.run.Source.IsProfile2(ctx, f); err != nil || !is {
			if err != nil {
				return err
			}
			continue
		}
		log, _ := recordsOf(files, dir, nil)
		c.now[f.Path] = &read.LedgerFile{File: f, Log: log}
		for _, o := range files {
			in, name, _ := small.SplitPath(o.Path)
			if in != dir || !records.IsOriginalLog(name) {
				continue
			}
			old, err := c.run.Source.ProgressReader.Read(ctx, o, nil)
			if err != nil {
				return err
			}
			if old.Readable() {
				c.now[o.Path] = &read.LedgerFile{File: o, Log: old.Log}
			}
		}
	}
	return nil
}

// recordsOf returns the records of a workspace as a log, first those that were seen, in their order, then the others by path; and the paths of
// all records in files.
func recordsOf(files []history.File, dir string, seen []small.Digest) (*ledger.Log, map[small.Digest]string) {
	var all []ledger.Entry
	paths, copies := map[small.Digest]string{}, map[small.Digest]int{}
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b history.File) int { return strings.Compare(a.Path, b.Path) }) {
		in, name, _ := small.SplitPath(f.Path)
		if in != dir || records.KindOf(name) == "" || f.Mode == history.ModeDirectory {
			continue
		}
		e := new(ledger.Form).LogOfFile(path.Base(name), f.Mode, f.Object, nil).Entries[0]
		all, paths[e.Digest] = append(all, e), f.Path
		copies[e.Digest]++
	}
	var out []ledger.Entry
	for _, d := range seen {
		if copies[d] > 0 {
			copies[d]--
			out = append(out, ledger.Entry{Noun: ledger.File, Pos: small.Pos{Line: 1, Column: 1}, Digest: d})
		}
	}
	for _, e := range all {
		if copies[e.Digest] > 0 {
			copies[e.Digest]--
			out = append(out, e)
		}
	}
	return &ledger.Log{Ledger: ledger.OfEntries(out)}, paths
}

// orderAsSeen orders the records of each workspace as those of a workspace that is gone, if it has all of these, so that a moved workspace is found.
func (c *comparison) orderAsSeen(gone witness.Log) {
	for at, now := range c.now {
		if !isProfilePath(gone.Path) || !isProfilePath(at) {
			continue
		}
		dir, _, _ := small.SplitPath(at)
		if log, _ := recordsOf(c.files, dir, gone.Entries); log.Extends(digestsOnly(gone).Log.Ledger) {
			now.Log = log
		}
	}
}

// waivedRecords returns the equivalence that the waivers for a workspace's records make.
func (c *comparison) waivedRecords(dir string) ledger.Equivalence {
	var paths []string
	for _, w := range c.run.Source.Policy.Waivers {
		if in, name, ok := small.SplitPath(w.Path); ok && in == dir && records.KindOf(name) != "" {
			paths = append(paths, w.Path)
		}
	}
	return c.run.Source.EquivalenceByWaivers(paths...)
}

// compareRecords judges what has become of the records of a workspace. A changed record counts as gone.
func (c *comparison) compareRecords(ctx context.Context, l witness.Log, now *read.LedgerFile) error {
	old := digestsOnly(l)
	if now.Log.Extends(old.Log.Ledger) {
		return nil
	}
	change := &seenChange{Ref: c.Seen.Name, Seen: l}
	var err error
	if change.Survives, err = c.Here(l.Commit); err != nil {
		return err
	}
	if dir, _, _ := small.SplitPath(l.Path); change.Survives {
		files, err := c.run.Source.Tree.List(ctx, l.Commit, history.Workspaces(dir))
		if err != nil {
			return err
		}
		_, change.Names = recordsOf(files, dir, nil)
		if change.BuiltOn, err = c.isAncestor(ctx, l.Commit); err != nil {
			return err
		}
	}
	unknown := func() ([]*small.Value, error) {
		return slices.Repeat([]*small.Value{{Kind: small.Null}}, max(old.Log.Len(), now.Log.Len())), nil // none pairs with another
	}
	dir, _, _ := small.SplitPath(now.File.Path)
	compared, err := ledger.Compare(old.Log.Ledger, now.Log.Ledger, ledger.CompareOptions{Equal: c.waivedRecords(dir), OldRecords: unknown, NewRecords: unknown})
	if err != nil {
		return err
	}
	compared.OldRecords, compared.NewRecords = nil, nil
	change.LogChange = &logs.LogChange{Run: c.run, Path: now.File.Path, OldPath: l.Path, Comparison: compared}
	change.Place = rule.Place{Commit: c.Tip, Parent: l.Commit, Mandatory: true}
	return c.run.Collector.Judge(ctx, change)
}
