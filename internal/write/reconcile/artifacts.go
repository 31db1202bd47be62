package reconcile

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/threeway"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// MergedFile is a file that was merged, with notes for a person.
type MergedFile struct {
	Path  string
	Notes []string
}

// mergedArtifacts are the files that are merged field by field, in this order: to merge one, the merged files before it are needed.
var mergedArtifacts = []small.Artifact{small.Workspace, small.Plan, small.Handoff}

// planArtifacts plans to merge the files of a workspace that are not logs. A file that is staged without a conflict stays: git or a person has
// merged it. If only the log of a named side is combined, that side's code is not merged, and of its plan only the tasks that its entries
// name are added.
func (r *reconciliation) planArtifacts(ctx context.Context, dir string) error {
	done := map[small.Artifact][]byte{}
	for _, a := range mergedArtifacts {
		path := a.Path(dir)
		if r.sidesAgree(path) && !r.index[path].Unmerged {
			continue
		}
		conflict, err := r.inConflict(ctx, path)
		if err == nil && !conflict && a == small.Plan {
			conflict, err = r.hasDoubledTasks(ctx, path)
		}
		if err != nil {
			return err
		}
		sideChosen, onlyLog := a == small.Plan && r.opts.Plan != "", a == small.Plan && r.op.kind == ""
		if !conflict && !sideChosen && !onlyLog {
			if done[a], err = r.readStaged(ctx, path); err != nil {
				return err
			}
			continue
		}
		data, notes, err := r.mergeArtifact(ctx, dir, a, onlyLog && !sideChosen, done)
		if err != nil {
			return err
		}
		done[a] = data
		if err := r.planMergedFile(ctx, path, data, notes); err != nil {
			return err
		}
	}
	return nil
}

// hasDoubledTasks reports whether the staged plan has two tasks with the same id, but no side's plan has: git has merged the lists line by line.
func (r *reconciliation) hasDoubledTasks(ctx context.Context, path string) (bool, error) {
	staged, err := r.readStaged(ctx, path)
	if err != nil || !threeway.HasDuplicates(staged, r.limits()) {
		return false, err
	}
	for _, s := range r.op.sides() {
		data, err := r.readSide(ctx, s, path)
		if err != nil || threeway.HasDuplicates(data, r.limits()) {
			return false, err
		}
	}
	return true, nil
}

// sidesAgree reports whether all sides have the same version of a file.
func (r *reconciliation) sidesAgree(path string) bool {
	for _, t := range r.op.theirs {
		if r.files[t.id][path] != r.files[r.op.ours.id][path] {
			return false
		}
	}
	return true
}

// mergeArtifact merges one file of all sides. If onlyNamedTasks is true, it only adds to our plan the tasks that the other side's entries name.
// done has the files merged so far.
func (r *reconciliation) mergeArtifact(ctx context.Context, dir string, a small.Artifact, onlyNamedTasks bool, done map[small.Artifact][]byte) ([]byte, []string, error) {
	merges, err := r.readMerges(ctx, dir)
	var all []string
	for i, m := range merges {
		if i > 0 {
			m.Ours.Files[a] = merges[i-1].Ours.Files[a]
		}
		var data []byte
		var notes []string
		switch {
		case onlyNamedTasks:
			data, notes, err = m.AdoptNamed()
		case a == small.Workspace:
			data, err = m.Workspace()
		case a == small.Plan:
			data, notes, err = m.Plan(mergedOrOurs(done, m, small.Workspace))
		default:
			data, err = m.Handoff(mergedOrOurs(done, m, small.Plan), mergedOrOurs(done, m, small.Workspace))
		}
		if err != nil {
			return nil, nil, err
		}
		merges[i].Ours.Files[a], all = data, append(all, notes...)
	}
	if err != nil || len(merges) == 0 {
		return nil, nil, err
	}
	return merges[len(merges)-1].Ours.Files[a], all, nil
}

// mergedOrOurs returns a merged file. A file that was not merged is the same on all sides: it returns ours.
func mergedOrOurs(done map[small.Artifact][]byte, m threeway.Merge, a small.Artifact) []byte {
	if data, ok := done[a]; ok {
		return data
	}
	return m.Ours.Files[a]
}

// readMerges reads the files of a workspace's merges. There is one merge for each other side.
func (r *reconciliation) readMerges(ctx context.Context, dir string) ([]threeway.Merge, error) {
	var out []threeway.Merge
	for _, t := range r.op.theirs {
		m := threeway.Merge{Dir: dir, Limits: r.limits(), PreferPlan: r.opts.Plan}
		if r.opts.Theirs != "" {
			m.Named = wording.ShellWord(r.opts.Theirs)
		}
		for _, id := range t.bases {
			base, err := r.workspaceVersion(ctx, dir, side{name: "the merge base", id: id}, nil)
			if err != nil {
				return nil, err
			}
			m.Bases = append(m.Bases, base)
		}
		var err error
		if m.Ours, err = r.workspaceVersion(ctx, dir, r.op.ours, m.Bases); err != nil {
			return nil, err
		}
		if m.Theirs, err = r.workspaceVersion(ctx, dir, t, m.Bases); err != nil {
			return nil, err
		}
		m.Theirs.Picked = t.picked
		if err = r.findPublishedTasks(ctx, dir, &m); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// workspaceVersion reads a side's files of a workspace. Its Named are the ids of the tasks that entries name which no version in bases has.
func (r *reconciliation) workspaceVersion(ctx context.Context, dir string, s side, bases []threeway.Version) (threeway.Version, error) {
	v := threeway.Version{Name: r.messageName(s), Files: map[small.Artifact][]byte{}, Named: map[string]bool{}}
	if s.isCommit() {
		v.Commit = s.id
	}
	for _, a := range append([]small.Artifact{small.Progress}, mergedArtifacts...) {
		data, err := r.readSide(ctx, s, a.Path(dir))
		if err != nil {
			return v, err
		}
		v.Files[a] = data
	}
	for _, e := range newEntries(v, bases, r.limits()) {
		v.Named[e.TaskID] = true
	}
	return v, nil
}

// entriesOf returns the entries of a version's log. An unreadable log has none: merging the log reports it.
func entriesOf(v threeway.Version, limits small.Limits) *ledger.Ledger {
	return combine.Kind{}.Entries(v.Files[small.Progress], limits)
}

// newEntries returns a side's entries that no merge base has.
func newEntries(v threeway.Version, bases []threeway.Version, limits small.Limits) []ledger.Entry {
	known := map[small.Digest]bool{}
	for _, b := range bases {
		maps.Copy(known, ledger.DigestSet(entriesOf(b, limits)))
	}
	return slices.DeleteFunc(slices.Clone(entriesOf(v, limits).Entries), func(e ledger.Entry) bool { return known[e.Digest] })
}

// findPublishedTasks sets Kept of both versions of a merge: of the tasks that both sides added under the same id, the ones that published
// entries name. These tasks keep their id, because published entries cannot change.
func (r *reconciliation) findPublishedTasks(ctx context.Context, dir string, m *threeway.Merge) error {
	ids := m.Colliding()
	for _, v := range []*threeway.Version{&m.Ours, &m.Theirs} {
		naming := slices.DeleteFunc(newEntries(*v, m.Bases, m.Limits), func(e ledger.Entry) bool { return !ids[e.TaskID] })
		if len(naming) == 0 {
			continue
		}
		published, err := r.findPublished(ctx, small.Progress.Path(dir), naming)
		if err != nil {
			return err
		}
		v.NamedByPublished = map[string]bool{}
		for _, e := range naming {
			v.NamedByPublished[e.TaskID] = v.NamedByPublished[e.TaskID] || published[e.Digest]
		}
	}
	return nil
}

// planMergedFile plans to write and stage a merged file.
func (r *reconciliation) planMergedFile(ctx context.Context, path string, data []byte, notes []string) error {
	if data == nil {
		return nil
	}
	var present []byte
	if !r.inMemory {
		var err error
		if present, err = workgit.ReadFile(r.git.Top, path); err == nil && r.op.kind == "" {
			err = r.refuseUncommitted(ctx, path, data, present)
		}
		if err != nil {
			return err
		}
	}
	changed, err := r.planChange(ctx, change{path: path, mode: r.modeOf(path), content: data, present: present})
	if changed {
		r.out.Merged = append(r.out.Merged, MergedFile{Path: path, Notes: notes})
	}
	return err
}

// refuseUncommitted fails if a file differs from HEAD, unless the work tree's file has the content want already.
func (r *reconciliation) refuseUncommitted(ctx context.Context, path string, want, present []byte) error {
	dirty, err := r.git.Dirty(ctx, path)
	if err != nil || !dirty {
		return err
	}
	blob, err := r.git.StoreFile(ctx, path, present)
	if err == nil && (present == nil || blob != history.BlobID(want, r.op.ours.id)) {
		err = r.errUncommitted(path)
	}
	return err
}

// readStaged reads a file in the index; nil if there is none.
func (r *reconciliation) readStaged(ctx context.Context, path string) ([]byte, error) {
	f, there := r.index[path]
	if !there || !f.Regular() {
		return nil, nil
	}
	return r.readBlob(ctx, f, path+" in the index")
}

// inConflict reports whether the index says that a file is in conflict, or the file has conflict markers in the index or the work tree.
func (r *reconciliation) inConflict(ctx context.Context, path string) (bool, error) {
	if f, there := r.index[path]; r.inMemory || f.Unmerged || there && !f.Regular() {
		return f.Unmerged, nil
	}
	if r.markerSize == 0 {
		var err error
		if r.markerSize, err = r.git.MarkerSize(ctx, slices.Collect(maps.Keys(r.index))); err != nil {
			return false, err
		}
	}
	staged, err := r.readStaged(ctx, path)
	if err != nil || small.HasConflictMarkers(staged, r.markerSize) {
		return true, err
	}
	present, err := workgit.ReadFile(r.git.Top, path)
	return small.HasConflictMarkers(present, r.markerSize), err
}

// listConflicts lists the workspace files and configured logs that are in conflict, sorted. It reads the index anew.
func (r *reconciliation) listConflicts(ctx context.Context) ([]string, error) {
	var out []string
	var err error
	if r.index, err = r.listFiles(ctx, history.Index); err != nil {
		return nil, err
	}
	for path, f := range r.index {
		dir, _, ok := small.SplitPath(path)
		if kind := combine.KindOf(r.opts.Policy, path); !f.Unmerged && (!kind.Configured() && (!ok || !r.opts.Policy.Judges(dir)) || kind.OfFile()) {
			continue
		}
		conflict, err := r.inConflict(ctx, path)
		if err != nil {
			return nil, err
		}
		if conflict {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (r *reconciliation) errNothingToReconcile(ctx context.Context) error {
	marked, err := r.listConflicts(ctx)
	if err != nil {
		return err
	}
	if len(marked) > 0 {
		return r.errUnexplainedMarkers(marked)
	}
	return &failure.Error{
		Message: "no merge, rebase, cherry-pick or squash is under way here",
		Remedy: "name the branch to reconcile with yours, as in small-hook reconcile BRANCH; " +
			"merge several branches one at a time, since git undoes a merge of several that conflicts",
	}
}

// errUnexplainedMarkers returns the failure for files with conflict markers whose sides no operation tells.
func (r *reconciliation) errUnexplainedMarkers(paths []string) error {
	var restore, edit, names, remedies []string
	for _, path := range paths {
		switch {
		case r.opts.Policy.LogFor(path) != nil:
			restore = append(restore, "small-hook restore "+wording.TopPath(path))
		case read.IsProgress(path):
			restore = append(restore, "small-hook restore"+remedy.InDirectory(path))
		default:
			edit, names = append(edit, wording.TopPath(path)), append(names, wording.Printable(path))
		}
	}
	if len(restore) > 0 {
		remedies = append(remedies, "restore the logs of the last commit, and append the new entries: "+wording.Commands(restore...))
	}
	if len(edit) > 0 {
		remedies = append(remedies, "edit "+wording.List(names, "and")+" so that no marker is left, then `git add -- "+strings.Join(edit, " ")+"`")
	}
	return &failure.Error{
		Message: strings.Join(paths, " ") + " has conflict markers, and no merge is under way that tells the sides",
		Remedy:  strings.Join(remedies, "; "),
	}
}
