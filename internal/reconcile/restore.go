package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/reconcile/threeway"
	"github.com/small-gate/small-gate/internal/small"
)

// restoring is one restoration of a log from commits.
type restoring struct {
	*Workspace
	repo Repository
	git  *workTree
	// unmerged is true if the log is in conflict in the index.
	unmerged   bool
	unfinished Unfinished
	// sides are the commits from which the log is restored, and logs the logs of those that have one.
	sides []side
	logs  []*ledger.Ledger
}

// RestoreFrom restores the log from a commit, and in a merge from what is being merged too, with the entries that are new in the work
// tree after them, and stages it. An empty source is HEAD. Nothing is written if the log, here and in the index, has all that was
// committed, in order, and new entries have times that can stand. With discard, new entries are dropped; else, without a source, what was
// noted counts as what was committed does.
func (w *Workspace) RestoreFrom(ctx context.Context, repo Repository, source string, noted []byte, discard bool, environ []string) (out Restored, err error) {
	out.Log = w.Log()
	r := &restoring{Workspace: w, repo: repo}
	if r.git, err = openWorkTree(w.Place, environ); err != nil {
		return out, err
	}
	if err = r.findUnderway(ctx); err != nil {
		return out, err
	}
	old, accepts, err := r.wanted(ctx, source, noted, discard)
	if err != nil || old == nil {
		return out, err
	}
	missing, err := r.putBackMissing(ctx)
	if err != nil {
		return out, err
	}
	link, err := w.moveLink()
	if err != nil {
		return out, err
	}
	find := func() (Restored, []byte, error) { return w.lost(old, accepts) }
	if discard {
		find = func() (Restored, []byte, error) { return w.replaced(old) }
	}
	out, file, err := find()
	if err == nil && out.Text != nil {
		// The plan first: what is killed in between is done again as long as the log has lost something.
		if out.Plan, err = r.adoptTasks(ctx, out.Gone); err == nil {
			err = w.put(&out, file)
		}
	}
	if err != nil {
		return out, err
	}
	out.File, out.Missing = cmp.Or(out.File, link), missing
	if out.Text == nil && len(missing) == 0 {
		staged, err := r.inIndex(ctx)
		if err != nil || staged {
			return out, err
		}
	}
	if err := r.stageFiles(ctx, &out); err != nil {
		return out, err
	}
	out.Next, err = r.next(ctx)
	return out, err
}

// wanted is the old log, nil if there is none, and says whether a log has what has to be there.
func (r *restoring) wanted(ctx context.Context, source string, noted []byte, discard bool) (old []byte, accepts func(parent, child *ledger.Ledger) bool, err error) {
	old, err = r.committed(ctx, source)
	if err != nil || discard {
		return old, r.accepts, err
	}
	if old == nil {
		old, err = r.begun()
	}
	was, _ := ledger.ReadLog(old, r.Limits)
	log, _ := ledger.ReadLog(noted, r.Limits)
	if err != nil || log == nil || source != "" || was != nil && was.HasAll(log.Ledger) {
		return old, r.accepts, err
	}
	return r.join(old, noted), func(_, child *ledger.Ledger) bool { return r.accepts(nil, child) && r.Accepts(log.Ledger, child) }, nil
}

// begun is the log without entries that a new one counts as having been; nil if what is there is no log. Only a credential is a reason to
// write a new log again.
func (r *restoring) begun() ([]byte, error) {
	file, err := r.Read()
	if log, _ := ledger.ReadLog(file, r.Limits); log == nil {
		return nil, err
	}
	return []byte(splice.Empty), err
}

// putBackMissing puts back the other files of the workspace that are gone from the work tree, and returns their paths. What is killed
// before they are staged leaves files that git knows as changed.
func (r *restoring) putBackMissing(ctx context.Context) (paths []string, err error) {
	if len(r.logs) == 0 {
		return nil, nil // it is a new workspace
	}
	for _, a := range small.Artifacts {
		path := a.Path(r.Dir)
		there, err := exists(filepath.Join(r.Place.Top, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		if a == small.Progress || there {
			continue
		}
		if _, err := readFile(r.Place.Top, path); err != nil {
			return nil, err // it says what is in the way
		}
		data, found, err := githistory.ReadFile(ctx, r.repo, r.sides[0].id, path, r.Limits.FileSize())
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		blob, err := r.git.store(ctx, data)
		if err != nil {
			return nil, err
		}
		if data, err = r.git.checkedOut(ctx, path, blob); err == nil {
			err = r.write(path, data)
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// adoptTasks adds to the plan the tasks of the sides' plans that entries name and it lacks, and returns its path; empty if it lacks none.
func (r *restoring) adoptTasks(ctx context.Context, entries []ledger.Entry) (string, error) {
	path := small.Plan.Path(r.Dir)
	before, err := readFile(r.Place.Top, path)
	if err != nil {
		return "", err
	}
	plan, err := r.adopted(ctx, before, r.sides, entries)
	if err != nil || bytes.Equal(plan, before) {
		return "", err
	}
	return path, r.write(path, plan)
}

// adopted is a plan with the tasks of the sides' plans that entries name and it lacks. What took away the entries took away the tasks too.
// A plan that cannot be read stays as it is: that is another finding.
func (r *restoring) adopted(ctx context.Context, plan []byte, sides []side, entries []ledger.Entry) ([]byte, error) {
	named := map[string]bool{}
	for _, e := range entries {
		named[e.TaskID] = true
	}
	for _, s := range sides {
		old, _, err := githistory.ReadFile(ctx, r.repo, s.id, small.Plan.Path(r.Dir), r.Limits.FileSize())
		if err != nil {
			return nil, err
		}
		if !r.readable(plan) || !r.readable(old) {
			continue
		}
		files := func(plan []byte) map[small.Artifact][]byte { return map[small.Artifact][]byte{small.Plan: plan} }
		m := threeway.Merge{
			Dir: r.Dir, Limits: r.Limits, Ours: threeway.Version{Name: "what is there", Files: files(plan)}, Theirs: threeway.Version{Name: s.name, Files: files(old)},
		}
		if plan, err = m.Adopt(named); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

func (r *restoring) readable(data []byte) bool {
	doc, _ := small.Parse(data, r.Limits)
	return doc != nil
}

// Conflict is the failure of a log that is in conflict: in the index, or because git is in the middle of a merge or the like and
// conflict markers stand in the file. Its remedy is what resolves that. It is nil if there is no conflict.
func (w *Workspace) Conflict(ctx context.Context, repo Repository, environ []string) (*failure.Error, error) {
	files, err := repo.List(ctx, history.Index, history.At(w.Log()))
	if err != nil {
		return nil, err
	}
	unmerged := slices.ContainsFunc(files, func(f history.File) bool { return f.Path == w.Log() && f.Unmerged })
	file, err := w.Read()
	if !unmerged && (err != nil || !small.HasConflictMarkers(file, small.MarkerSize)) {
		return nil, err
	}
	git, err := openWorkTree(w.Place, environ)
	if err != nil {
		return nil, err
	}
	switch explained, cannot := w.explained(ctx, repo, git); {
	case cannot != nil:
		return failure.Of(cannot), nil // it says what resolves it there
	case unmerged || explained:
		return inConflict(w.Log()), nil
	}
	return nil, nil
}

// explained reports whether reconcile can find out the sides of conflict markers in the log: git is in the middle of something that says
// so, or remembers the conflict.
func (w *Workspace) explained(ctx context.Context, repo Repository, git *workTree) (bool, error) {
	op, err := underWay(ctx, repo, git)
	if err != nil || op.word != "" {
		return true, err
	}
	known, err := git.remembers(ctx, w.Log())
	return known, err
}

// inConflict is the failure of a log in conflict.
func inConflict(log string) *failure.Error {
	return &failure.Error{Message: log + " is in conflict: both sides' entries are wanted", Remedy: "resolve it: `small-hook reconcile`"}
}

// findUnderway finds out what git has not finished. A log with the markers of a conflict is left to reconcile: both sides' entries are
// wanted. Only a revert brings none.
func (r *restoring) findUnderway(ctx context.Context) error {
	var err error
	if r.unfinished, err = UnderWay(r.Place.GitDir); err != nil {
		return err
	}
	conflicts, err := r.git.run(ctx, nil, "ls-files", "-u", "--", r.Log())
	r.unmerged = len(conflicts) > 0
	if err != nil || r.unfinished.Command == opRevert {
		return err
	}
	if !r.marked() {
		return nil
	}
	explained, err := r.explained(ctx, r.repo, r.git)
	if r.unmerged || explained {
		err = cmp.Or(err, error(inConflict(r.Log())))
	}
	return err
}

// marked reports whether conflict markers stand in the log. What cannot be read is moved out of the way later.
func (r *restoring) marked() bool {
	file, err := r.Read()
	return err == nil && small.HasConflictMarkers(file, small.MarkerSize)
}

// next is what to type after the restoration; empty if nothing is left to commit.
func (r *restoring) next(ctx context.Context) (string, error) {
	staged, err := r.git.run(ctx, nil, "diff", "--cached", "--name-only", "--no-ext-diff")
	if len(staged) == 0 {
		return r.unfinished.Skip, err
	}
	return cmp.Or(r.unfinished.Finish, `git commit -m "Restore the log"`), err
}

// committed is the log of the sides as git would check it out; nil if none has one.
func (r *restoring) committed(ctx context.Context, source string) ([]byte, error) {
	op := &operation{}
	var err error
	if source == "" {
		if op.ours.id, err = r.repo.Head(ctx); err != nil || op.ours.id == "" {
			return nil, err
		}
		if err = op.merging(ctx, r.repo, r.git); err == nil {
			err = op.name(ctx, r.repo, r.git)
		}
	} else {
		op.ours.name = source
		op.ours.id, err = r.repo.Resolve(ctx, source)
	}
	if err != nil {
		return nil, err
	}
	r.sides = op.sides()
	c := splice.Case{Path: r.Log(), Now: r.Now, Limits: r.Limits, Comparer: read.NewLogComparer(r.Policy, r.Log(), r.Now)}
	if err = op.versions(&c, func(s side) (splice.Version, error) { return r.version(ctx, s) }); err != nil {
		return nil, err
	}
	text := c.Ours.Data
	if len(c.Theirs) > 0 {
		resolved, err := c.Resolve()
		if err != nil {
			return nil, op.undone(err)
		}
		text = resolved.Text
	}
	if text == nil {
		return nil, nil
	}
	for _, v := range append([]splice.Version{c.Ours}, c.Theirs...) {
		if log, _ := ledger.ReadLog(v.Data, r.Limits); log != nil {
			r.logs = append(r.logs, log.Ledger)
		}
	}
	blob, err := r.git.store(ctx, text)
	if err != nil {
		return nil, err
	}
	return r.git.checkedOut(ctx, r.Log(), blob)
}

// version is a side's version of the log.
func (r *restoring) version(ctx context.Context, s side) (splice.Version, error) {
	data, _, err := githistory.ReadFile(ctx, r.repo, s.id, r.Log(), r.Limits.FileSize())
	return splice.Version{Name: s.name, ID: s.id, Data: data}, err
}

// accepts reports whether a log has what the sides have, and new entries with times that can stand.
func (r *restoring) accepts(_, child *ledger.Ledger) bool {
	logs := r.logs
	if len(logs) == 0 {
		logs = []*ledger.Ledger{ledger.NewLedger(nil)}
	}
	for _, log := range logs {
		if !r.Accepts(log, child) || splice.Untimely(log, child, r.Now) != nil || splice.Confides(log, child) {
			return false
		}
	}
	return true
}

// inIndex reports whether the index has such a log.
func (r *restoring) inIndex(ctx context.Context) (bool, error) {
	if r.unmerged {
		return false, nil
	}
	data, found, err := githistory.ReadFile(ctx, r.repo, history.Index, r.Log(), r.Limits.FileSize())
	if err != nil || !found {
		return len(r.logs) == 0, err // a new one need not be staged
	}
	log, _ := ledger.ReadLog(data, r.Limits)
	return log != nil && r.accepts(nil, log.Ledger), nil
}

// stageFiles stages the log, and the plan if it was written.
func (r *restoring) stageFiles(ctx context.Context, out *Restored) error {
	paths := append([]string{r.Log()}, out.Missing...)
	if out.Plan != "" {
		paths = append(paths, out.Plan)
	}
	if err := r.git.stageAsIs(ctx, paths...); err != nil {
		return &failure.Error{
			Message: fmt.Sprintf("%s is restored, but could not be staged: %s", r.Log(), failure.Of(err).Message),
			Remedy:  "`small-hook restore`", Err: err,
		}
	}
	out.Staged = true
	return nil
}
