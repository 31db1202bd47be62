package read

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// IsProfile2 reports whether a file is of the profile 2.0.0 by the version in its text. A profile that the gate does not know is a failure,
// for nothing could be said of the workspace. A text that says no version makes no profile, as for the protocol's own program.
func (src *Source) IsProfile2(ctx context.Context, f history.File) (bool, error) {
	if !f.Regular() || f.Unmerged {
		return false, nil
	}
	blob, err := src.Tree.Blob(ctx, f.Object, records.Profile.Sized(0))
	if err != nil {
		return false, err
	}
	version := records.VersionOf(blob.Data)
	switch version {
	case records.Version:
		return true, nil
	case "", small.Version:
		return false, nil
	}
	return false, &failure.Error{
		Message: fmt.Sprintf("%s is of the profile %.40q; small-gate knows %s and %s", f.Path, version, small.Version, records.Version),
		Remedy:  "use a version of small-gate that knows the profile; or, if the version was a mistake, put the file back as it was",
	}
}

// Profile2At reports whether a revision has a workspace of 2.0.0 in a directory.
func (src *Source) Profile2At(ctx context.Context, revision, dir string) (bool, error) {
	files, err := src.Tree.List(ctx, revision, history.At(small.InDir(dir, records.ProfileFile)))
	if err != nil || len(files) == 0 {
		return false, err
	}
	return src.IsProfile2(ctx, files[0])
}

// noteProfiles learns which directories hold a workspace of 2.0.0, before or after one of some edges. What never changes there is a log
// from then on, whatever becomes of the profile.
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

// era says whether a workspace is of 2.0.0 before an edge and after it.
type era struct{ before, after bool }

// immutable reports whether a kind of file never changes on such an edge. What stands among records before a migration may be anybody's.
func (e era) immutable(kind records.Kind) bool {
	return e.before && kind != "" || e.after && kind != "" && kind != records.Foreign
}

// mostEras bounds how many commits are remembered; others are asked again.
const mostEras = 4096

// enter learns the profiles on the edges of a commit, which is judged by them from then on.
func (src *Source) enter(ctx context.Context, n history.Commit, changes [][]history.Change) error {
	src.eras = nil
	for dir, is := range src.profile2 {
		if !is {
			continue
		}
		known := src.profiles[dir]
		if known == nil || len(known) > mostEras {
			known = map[string]bool{}
			src.profiles[dir] = known
		}
		all := make([]era, len(changes))
		for i := range changes {
			var err error
			if all[i], err = src.eraOf(ctx, n, i, dir, changes[i], known); err != nil {
				return err
			}
			known[n.ID] = all[i].after
		}
		if src.eras == nil {
			src.eras = map[string][]era{}
		}
		src.eras[dir] = all
	}
	return nil
}

// eraOf is the era of one edge. Where a profile is dropped or broken, the workspace stays one of 2.0.0 until a log of 1.0.0 is there again.
func (src *Source) eraOf(ctx context.Context, n history.Commit, edge int, dir string, changes []history.Change, known map[string]bool) (e era, err error) {
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

// Keep keeps the profiles of the commit that is judged, until others were.
func (src *Source) Keep() (back func()) {
	eras := src.eras
	return func() { src.eras = eras }
}

// IsImmutable reports whether a file never changes once it is there: it is a record of a workspace of 2.0.0, or stands where they do, on an
// edge of the commit that is judged.
func (src *Source) IsImmutable(path string) bool {
	if len(src.profile2) == 0 {
		return false
	}
	dir, name, ok := small.SplitPath(path)
	if !ok || !src.profile2[dir] {
		return false
	}
	kind := records.KindOf(name)
	if src.eras == nil {
		return kind != ""
	}
	return slices.ContainsFunc(src.eras[dir], func(e era) bool { return e.immutable(kind) })
}

// onEdge reports whether a log is one on an edge of the commit that is judged: on others a record may be a file of 1.0.0.
func (src *Source) onEdge(path string, edge int) bool {
	if len(src.profile2) == 0 || src.OfFamily(path) || src.Policy.LogFor(path) != nil {
		return true
	}
	dir, name, _ := small.SplitPath(path)
	kind, eras := records.KindOf(name), src.eras[dir]
	return kind == "" || edge >= len(eras) || eras[edge].immutable(kind)
}

// Imported is the import that takes the place of a log on the edge on which a workspace is migrated: of those that the edge adds, the first
// whose original holds all of the log's entries, or else the last. It is nil if there is none.
func (src *Source) Imported(ctx context.Context, edge []history.Change, path string, before *LedgerFile) (*LedgerFile, error) {
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
		log, err := src.Ledgers.Read(ctx, c.New, before)
		if err != nil {
			return nil, err
		}
		if !log.Readable() {
			continue
		}
		found = &LedgerFile{File: c.New, Log: log.Log} // equal texts may lie at several paths
		if log.Log.Extends(before.Log.Ledger) {
			break
		}
	}
	return found, nil
}
