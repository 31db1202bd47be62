package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// IsProfile2 reports whether a profile file names the version 2.0.0. A version that the gate does not know is an error, because then nothing
// can be judged in the workspace. A file that names no version counts as 1.0.0, as the protocol's own program has it.
func (src *Source) IsProfile2(ctx context.Context, f history.File) (bool, error) {
	if !f.Regular() || f.Unmerged {
		return false, nil
	}
	blob, err := src.Tree.Blob(ctx, f.Object, records.Profile.MaxSize(0))
	if err != nil {
		return false, err
	}
	return records.IsProfile2(f.Path, records.VersionOf(blob.Data))
}

// Profile2At reports whether a revision has a workspace of 2.0.0 in a directory.
func (src *Source) Profile2At(ctx context.Context, revision, dir string) (bool, error) {
	files, err := src.Tree.List(ctx, revision, history.At(small.InDir(dir, records.ProfileFile)))
	if err != nil || len(files) == 0 {
		return false, err
	}
	return src.IsProfile2(ctx, files[0])
}

// noteProfiles notes the directories that have a workspace of 2.0.0 before or after an edge. A directory stays noted
// when its profile is gone; see profileOnEdge.
func (src *Source) noteProfiles(ctx context.Context, edges []history.Edge, changes [][]history.Change) error {
	for i, edge := range edges {
		asked := map[string]bool{}
		for _, c := range changes[i] {
			dir, name, ok := small.SplitPath(c.Path)
			if !ok || src.profile2[dir] && name != records.ProfileFile || asked[dir] || records.KindOf(name) == "" || !src.Policy.Judges(dir) {
				continue
			}
			asked[dir] = true
			for _, revision := range []string{edge.Child, edge.Parent} {
				if revision == "" {
					continue
				}
				is, err := src.Profile2At(ctx, revision, dir)
				if err != nil {
					return err
				}
				src.profile2[dir] = src.profile2[dir] || is
			}
		}
	}
	return nil
}

// edgeProfile says whether a workspace is of 2.0.0 before an edge and after it.
type edgeProfile struct{ before, after bool }

// immutable reports whether files of a kind must not change on the edge. On the edge that migrates the workspace, a foreign file may
// change: it may be older than the records around it.
func (e edgeProfile) immutable(kind records.Kind) bool {
	return e.before && kind != "" || e.after && kind != "" && kind != records.Foreign
}

// maxProfiles is how many commits' profiles are remembered for a directory before all of them are forgotten.
const maxProfiles = 4096

// findProfiles finds out the profiles on the edges of a commit. IsImmutableRecord and isLogOnEdge answer for this commit from then on.
func (src *Source) findProfiles(ctx context.Context, n history.Commit, changes [][]history.Change) error {
	src.edgeProfiles = nil
	for dir, is := range src.profile2 {
		if !is {
			continue
		}
		known := src.profiles[dir]
		if known == nil || len(known) > maxProfiles {
			known = map[string]bool{}
			src.profiles[dir] = known
		}
		all := make([]edgeProfile, len(changes))
		for i := range changes {
			var err error
			if all[i], err = src.profileOnEdge(ctx, n, i, dir, changes[i], known); err != nil {
				return err
			}
		}
		known[n.ID] = slices.ContainsFunc(all, func(e edgeProfile) bool { return e.after }) // edges differ if the profile is gone or broken
		if src.edgeProfiles == nil {
			src.edgeProfiles = map[string][]edgeProfile{}
		}
		src.edgeProfiles[dir] = all
	}
	return nil
}

// profileOnEdge finds out the profiles before and after one edge. If the profile file is deleted or broken, the workspace still counts as one of 2.0.0
// until it has a log of 1.0.0 again.
func (src *Source) profileOnEdge(ctx context.Context, n history.Commit, edge int, dir string, changes []history.Change, known map[string]bool) (e edgeProfile, err error) {
	if edge < len(n.Parents) {
		asked := false
		if e.before, asked = known[n.Parents[edge]]; !asked {
			if e.before, err = src.Profile2At(ctx, n.Parents[edge], dir); err != nil {
				return e, err
			}
		}
	}
	e.after = e.before
	_, changed := history.ChangeAt(changes, small.InDir(dir, records.ProfileFile))
	log, logChanged := history.ChangeAt(changes, small.Progress.Path(dir))
	if back := logChanged && log.New.Mode != ""; changed || back {
		is, err := src.Profile2At(ctx, n.ID, dir)
		e.after = is || e.before && !back
		return e, err
	}
	return e, nil
}

// SaveProfiles saves the profiles of the commit that is judged, and returns a function that restores them after another commit was judged.
func (src *Source) SaveProfiles() (back func()) {
	before := src.edgeProfiles
	return func() { src.edgeProfiles = before }
}

// IsImmutableRecord reports whether a file must not change once it exists: on an edge of the commit that is judged, it is in the place of a record of
// a workspace of 2.0.0.
func (src *Source) IsImmutableRecord(path string) bool {
	if len(src.profile2) == 0 {
		return false
	}
	dir, name, ok := small.SplitPath(path)
	if !ok || !src.profile2[dir] {
		return false
	}
	kind := records.KindOf(name)
	if src.edgeProfiles == nil {
		return kind != ""
	}
	return slices.ContainsFunc(src.edgeProfiles[dir], func(e edgeProfile) bool { return e.immutable(kind) })
}

// isLogOnEdge reports whether the file at a log's path counts as a log on this edge of the commit that is judged. A record counts only on edges on
// which the workspace is of 2.0.0.
func (src *Source) isLogOnEdge(path string, edge int) bool {
	if len(src.profile2) == 0 || src.IsFamilyLog(path) || src.Policy.LogFor(path) != nil {
		return true
	}
	dir, name, _ := small.SplitPath(path)
	kind, edges := records.KindOf(name), src.edgeProfiles[dir]
	return kind == "" || edge >= len(edges) || edges[edge].immutable(kind)
}

// FindImportedLog finds the file that replaces the log at a path on the edge that migrates its workspace to 2.0.0: the log in an import's folder. If
// the edge adds several imports, it takes the first whose log extends the old one, or else the last; nil if there is none.
func (src *Source) FindImportedLog(ctx context.Context, edge []history.Change, path string, before *LedgerFile) (*LedgerFile, error) {
	dir, name, ok := small.SplitPath(path)
	if !ok || !src.profile2[dir] || name != small.Progress.FileName() {
		return nil, nil
	}
	var found *LedgerFile
	for _, c := range edge {
		in, name, _ := small.SplitPath(c.Path)
		if in != dir || !records.IsOriginalLog(name) || c.Old.Mode != "" {
			continue
		}
		log, err := src.ProgressReader.Read(ctx, c.New, before)
		if err != nil {
			return nil, err
		}
		if !log.Readable() {
			continue
		}
		found = &LedgerFile{File: c.New, Log: log.Log} // the reader returns one LedgerFile for equal texts at several paths
		if log.Log.Extends(before.Log.Ledger) {
			break
		}
	}
	return found, nil
}
