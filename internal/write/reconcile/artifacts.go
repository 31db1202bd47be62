package reconcile

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/threeway"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// MergedFile is one file that was merged field by field, with what a person should know about it.
type MergedFile struct {
	Path  string
	Notes []string
}

// mergedArtifacts are the files that are merged field by field, each after those that it depends on.
var mergedArtifacts = []small.Artifact{small.Workspace, small.Plan, small.Handoff}

// planArtifacts plans to merge the files of a workspace that are not logs. A file staged without a conflict is a resolution by somebody, or
// git, and stays. Without an operation, the other side's code is not merged, and so neither is its plan: only the tasks that its entries
// name.
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
		asked, adopt := a == small.Plan && r.opts.Plan != "", a == small.Plan && r.op.kind == ""
		if !conflict && !asked && !adopt {
			if done[a], err = r.readStaged(ctx, path); err != nil {
				return err
			}
			continue
		}
		data, notes, err := r.mergeArtifact(ctx, dir, a, adopt && !asked, done)
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

// hasDoubledTasks reports whether a plan has two tasks with one id while no side's has: git has put the tasks of both sides one after the other.
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

// mergeArtifact merges one file of all sides, or, with adopt, only adds to our plan the tasks that the other side's entries name. done has
// the files merged so far.
func (r *reconciliation) mergeArtifact(ctx context.Context, dir string, a small.Artifact, adopt bool, done map[small.Artifact][]byte) ([]byte, []string, error) {
	merges, err := r.readMerges(ctx, dir)
	var all []string
	for i, m := range merges {
		if i > 0 {
			m.Ours.Files[a] = merges[i-1].Ours.Files[a]
		}
		var data []byte
		var notes []string
		switch {
		case adopt:
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

// mergedOrOurs is a file merged already, or else ours: all sides have the same.
func mergedOrOurs(done map[small.Artifact][]byte, m threeway.Merge, a small.Artifact) []byte {
	if data, ok := done[a]; ok {
		return data
	}
	return m.Ours.Files[a]
}

// readMerges reads the input of a workspace's merges: one for each other side.
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

// workspaceVersion reads a side's files, and the ids of tasks that its entries name and that no base has.
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

// newEntries are a side's entries that no merge base has.
func newEntries(v threeway.Version, bases []threeway.Version, limits small.Limits) (added []ledger.Entry) {
	known := map[small.Digest]bool{}
	for _, b := range bases {
		for _, e := range readWorkspaceLedger(b.Files[small.Progress], limits).Entries {
			known[e.Digest] = true
		}
	}
	for _, e := range readWorkspaceLedger(v.Files[small.Progress], limits).Entries {
		if !known[e.Digest] {
			added = append(added, e)
		}
	}
	return added
}

// findPublishedTasks finds which of the tasks that both sides added under one id are named by published entries, which stay as they are.
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
		v.Kept = map[string]bool{}
		for _, e := range naming {
			v.Kept[e.TaskID] = v.Kept[e.TaskID] || published[e.Digest]
		}
	}
	return nil
}

// readWorkspaceLedger are the entries of a log; none if it cannot be read, which merging the log reports.
func readWorkspaceLedger(data []byte, limits small.Limits) *ledger.Ledger {
	return readLedger(combine.Kind{}, data, limits)
}

func readLedger(kind combine.Kind, data []byte, limits small.Limits) *ledger.Ledger {
	if log, _ := kind.Read(data, limits); log != nil {
		return log.Ledger
	}
	return ledger.NewLedger(nil)
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

// refuseUncommitted demands that a file is as in HEAD, or already as wanted.
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

// readStaged is the staged file at a path, nil if there is none.
func (r *reconciliation) readStaged(ctx context.Context, path string) ([]byte, error) {
	f, there := r.index[path]
	if !there || !f.Regular() {
		return nil, nil
	}
	return r.readBlob(ctx, f, path+" in the index")
}

// inConflict reports whether a file is in conflict: in the index, or by conflict markers in it, staged or not.
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

// listConflicts are the paths below .small that are still in conflict, sorted, including the files of a person.
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

// errNothingToReconcile is the failure if there is errNothingToReconcile to reconcile.
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

// errUnexplainedMarkers is the failure for conflict markers that no operation explains.
func (r *reconciliation) errUnexplainedMarkers(paths []string) error {
	var restore []string
	for _, path := range paths {
		command := "small-hook restore"
		if r.opts.Policy.LogFor(path) != nil {
			command += " " + wording.TopPath(path)
		}
		if !slices.Contains(restore, command) {
			restore = append(restore, command)
		}
	}
	return &failure.Error{
		Message: strings.Join(paths, " ") + " holds conflict markers, and no merge is under way that says what the sides are",
		Remedy:  "put back what the last commit has, with what is new after it: " + wording.Commands(restore...),
	}
}
