package restore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/threeway"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// restoring is one restoration of a log from commits.
type restoring struct {
	*Workspace
	repo reconcile.Repository
	git  *workgit.Tree
	// unmerged is true if the log is in conflict in the index.
	unmerged   bool
	unfinished state.Unfinished
	// treeMendsHead is true if the work tree's log treeMendsHead HEAD.
	treeMendsHead bool
	// sides are the commits from which the log is restored, and logs the logs of those that have one.
	sides    []combine.Version
	sideLogs []*ledger.Ledger
}

// RestoreFrom restores the log from a commit, and in a merge from what is being merged too, with the entries that are new in the work
// tree after them, and stages it. An empty source is HEAD. Nothing is written if the log, here and in the index, has all that was
// committed, in order, and new entries have times that can stand. With discard, new entries are dropped; else, without a source, what was
// noted counts as what was committed does.
func (w *Workspace) RestoreFrom(ctx context.Context, repo reconcile.Repository, source string, noted []byte, discard bool, environ []string) (out Restored, err error) {
	out.Log = w.Log()
	r := &restoring{Workspace: w, repo: repo}
	if r.git, err = workgit.Open(w.Place, environ); err != nil {
		return out, err
	}
	if err = r.findUnfinished(ctx); err != nil {
		return out, err
	}
	old, accepts, err := r.requiredLog(ctx, source, noted, discard)
	if err != nil || old == nil {
		return out, err
	}
	if source == "" && !discard && len(r.sides) > 0 {
		if err := w.FindElsewhere(ctx, repo, r.sides[0].ID, old); err != nil {
			return out, err
		}
	}
	missing, err := r.putBackMissing(ctx)
	if err != nil {
		return out, err
	}
	link, err := w.keepLink()
	if err != nil {
		return out, err
	}
	find := func() (Restored, []byte, error) { return w.findLost(old, accepts) }
	if discard {
		find = func() (Restored, []byte, error) { return w.replaceWith(old) }
	}
	out, file, err := find()
	if err == nil && out.Text != nil {
		// The plan first: what is killed in between is done again as long as the log has lost something.
		if out.Plan, err = r.adoptTasks(ctx, out.Gone); err == nil {
			err = w.keepAndWrite(&out, file)
		}
	}
	if err != nil {
		return out, err
	}
	out.File, out.Missing = cmp.Or(out.File, link), missing
	err = r.stageAndContinue(ctx, &out)
	return out, err
}

// stageAndContinue stages what was restored, if it has to be, and has git not repeat what was rejected.
func (r *restoring) stageAndContinue(ctx context.Context, out *Restored) error {
	repeated, err := workgit.ForgetRepeated(r.Place.GitDir)
	if err != nil {
		return err
	}
	staged := false
	if out.Text == nil && len(out.Missing) == 0 {
		staged, err = r.isIndexSound(ctx)
	}
	if err == nil && !staged {
		err = r.stageFiles(ctx, out)
	}
	if err == nil && (!staged || repeated) {
		out.Next, err = r.nextCommands(ctx)
	}
	return err
}

// requiredLog is the old log, nil if there is none, and says whether a log has what has to be there.
func (r *restoring) requiredLog(ctx context.Context, source string, noted []byte, discard bool) (old []byte, accepts func(parent, child *ledger.Ledger) bool, err error) {
	old, err = r.readCommitted(ctx, source)
	if err != nil || discard {
		return old, r.hasAllSides, err
	}
	if old == nil {
		old, err = r.startOf()
	}
	was, _ := r.parse(old)
	log, _ := r.parse(noted)
	if err != nil || log == nil || source != "" || was != nil && was.HasAll(log.Ledger) {
		return old, r.hasAllSides, err
	}
	return r.joinLogs(old, noted), func(_, child *ledger.Ledger) bool { return r.hasAllSides(nil, child) && r.Accepts(log.Ledger, child) }, nil
}

// startOf is the log without entries that a new one counts as having been; nil if what is there is no log. Only a credential is a reason to
// write a new log again.
func (r *restoring) startOf() ([]byte, error) {
	file, err := r.Read()
	if r.kind().Configured() {
		return nil, err
	}
	if log, _ := r.parse(file); log == nil {
		return nil, err
	}
	return []byte(combine.Empty), err
}

// putBackMissing puts back the other files of the workspace that are gone from the work tree, and returns their paths. What is killed
// before they are staged leaves files that git knows as changed.
func (r *restoring) putBackMissing(ctx context.Context) (paths []string, err error) {
	if len(r.sideLogs) == 0 || r.kind().Configured() {
		return nil, nil // it is a new workspace, or none
	}
	for _, a := range small.Artifacts {
		path := a.Path(r.Dir)
		there, err := state.Exists(filepath.Join(r.Place.Top, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		if a == small.Progress || there {
			continue
		}
		if _, err := workgit.ReadFile(r.Place.Top, path); err != nil {
			return nil, err // it says what is in the way
		}
		f, err := r.findFile(ctx, r.sides[0].ID, path)
		if err == nil && f.Mode != "" {
			if !f.Regular() {
				return nil, &failure.Error{Message: path + " is not a regular file in " + history.Short(r.sides[0].ID), Remedy: "replace it with a file"}
			}
			paths = append(paths, path)
			err = r.checkOut(ctx, path, f.Object)
		}
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// findFile is what a commit has at a path; its mode is empty if that is nothing.
func (r *restoring) findFile(ctx context.Context, id, path string) (history.File, error) {
	files, err := r.repo.List(ctx, id, history.At(path))
	for _, f := range files {
		if f.Path == path {
			return f, err
		}
	}
	return history.File{}, err
}

// checkOut writes a blob into the work tree.
func (r *restoring) checkOut(ctx context.Context, path, blob string) error {
	data, err := r.git.CheckedOut(ctx, path, blob)
	if err != nil {
		return err
	}
	return r.workTree().Write(path, data)
}

// adoptTasks adds to the plan the tasks of the sides' plans that entries name and it lacks, and returns its path; empty if it lacks none.
func (r *restoring) adoptTasks(ctx context.Context, entries []ledger.Entry) (string, error) {
	if r.kind().Configured() {
		return "", nil
	}
	path := small.Plan.Path(r.Dir)
	before, err := workgit.ReadFile(r.Place.Top, path)
	if err != nil {
		return "", err
	}
	plan, err := r.addTasks(ctx, before, r.sides, entries)
	if err != nil || bytes.Equal(plan, before) {
		return "", err
	}
	return path, r.workTree().Write(path, plan)
}

// addTasks is a plan with the tasks of the sides' plans that entries name and it lacks. What took away the entries took away the tasks too.
// A plan that cannot be read stays as it is: that is another finding.
func (r *restoring) addTasks(ctx context.Context, plan []byte, sides []combine.Version, entries []ledger.Entry) ([]byte, error) {
	named := map[string]bool{}
	for _, e := range entries {
		named[e.TaskID] = true
	}
	for _, s := range sides {
		old, _, err := githistory.ReadFile(ctx, r.repo, s.ID, small.Plan.Path(r.Dir), r.Limits.FileSize())
		if err != nil {
			return nil, err
		}
		if !r.canParse(plan) || !r.canParse(old) {
			continue
		}
		files := func(plan []byte) map[small.Artifact][]byte { return map[small.Artifact][]byte{small.Plan: plan} }
		m := threeway.Merge{
			Dir: r.Dir, Limits: r.Limits, Ours: threeway.Version{Name: "what is there", Files: files(plan)}, Theirs: threeway.Version{Name: s.Name, Files: files(old)},
		}
		if plan, err = m.Adopt(named); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

func (r *restoring) canParse(data []byte) bool {
	doc, _ := small.Parse(data, r.Limits)
	return doc != nil
}

// FindConflict is the failure of a log that is in conflict: in the index, or because git is in the middle of a merge or the like and
// conflict markers stand in the file. Its remedy is what resolves that. It is nil if there is no conflict.
func (w *Workspace) FindConflict(ctx context.Context, repo reconcile.Repository, environ []string) (*failure.Error, error) {
	files, err := repo.List(ctx, history.Index, history.At(w.Log()))
	if err != nil {
		return nil, err
	}
	unmerged := slices.ContainsFunc(files, func(f history.File) bool { return f.Path == w.Log() && f.Unmerged })
	file, err := w.Read()
	if !unmerged && (err != nil || !small.HasConflictMarkers(file, small.MarkerSize)) {
		return nil, err
	}
	git, err := workgit.Open(w.Place, environ)
	if err != nil {
		return nil, err
	}
	switch explained, cannot := reconcile.CanFindSides(ctx, repo, git, w.Log()); {
	case cannot != nil:
		return failure.Of(cannot), nil // it says what resolves it there
	case unmerged || explained:
		return errInConflict(w.Log()), nil
	}
	return nil, nil
}

// errInConflict is the failure of a log in conflict.
func errInConflict(log string) *failure.Error {
	return &failure.Error{Message: log + " is in conflict: both sides' entries are wanted", Remedy: "resolve it: `small-hook reconcile`"}
}

// findUnfinished finds out what git has not finished. A log with the markers of a conflict is left to reconcile: both sides' entries are
// wanted. Only a revert brings none.
func (r *restoring) findUnfinished(ctx context.Context) error {
	var err error
	if r.unfinished, err = state.UnderWay(r.Place.GitDir); err != nil {
		return err
	}
	conflicts, err := r.git.Run(ctx, "ls-files", "-u", "--", r.Log())
	r.unmerged = len(conflicts) > 0
	if err != nil || r.unfinished.Command == state.Revert {
		return err
	}
	file, readErr := r.Read() // what cannot be read is moved out of the way later
	if readErr != nil || !small.HasConflictMarkers(file, small.MarkerSize) {
		return nil //nolint:nilerr // see above
	}
	explained, err := reconcile.CanFindSides(ctx, r.repo, r.git, r.Log())
	if r.unmerged || explained {
		err = cmp.Or(err, error(errInConflict(r.Log())))
	}
	return err
}

// nextCommands is what to type after the restoration; nothing if nothing is left to commit.
func (r *restoring) nextCommands(ctx context.Context) ([]string, error) {
	staged, err := r.git.Run(ctx, "diff", "--cached", "--name-only", "--no-ext-diff", "-z")
	if err != nil {
		return nil, err
	}
	if r.treeMendsHead && len(staged) > 0 {
		return []string{r.Command() + " --commit HEAD"}, nil
	}
	commands, err := r.unfinished.After(r.Place.GitDir, len(staged) > 0)
	if len(commands) == 0 && len(staged) > 0 {
		commands = []string{`git commit -m "Restore the log"`}
		if !strings.Contains("\x00"+string(staged), "\x00"+cmp.Or(r.At, small.InDir(r.Dir, ""))) {
			commands = []string{"git commit"} // what is staged is somebody's other work
		}
	}
	return commands, err
}

// readCommitted is the log of the sides as git would check it out; nil if none has one.
func (r *restoring) readCommitted(ctx context.Context, source string) (text []byte, err error) {
	c := combine.Case{Path: r.Log(), Now: r.Now, Limits: r.Limits, Comparer: read.NewLogComparer(r.Policy, r.Log(), r.Now)}
	if source == "" {
		c, text, err = reconcile.CombineCommitted(ctx, r.repo, r.git, c)
	} else if c.Ours.ID, err = r.repo.Resolve(ctx, source); err == nil {
		c.Ours.Name = source
		text, _, err = githistory.ReadFile(ctx, r.repo, c.Ours.ID, r.Log(), r.Limits.FileSize())
		c.Ours.Data = text
	}
	if err != nil || c.Ours.ID == "" {
		return nil, err
	}
	if source == "" && len(c.Theirs) == 0 {
		c.Ours.Data, err = r.HeadOrMended(ctx, r.repo, c.Ours.ID, text)
		r.treeMendsHead = !bytes.Equal(text, c.Ours.Data)
		text = c.Ours.Data
	}
	r.sides = append([]combine.Version{c.Ours}, c.Theirs...)
	if err != nil || text == nil {
		return nil, err
	}
	r.sideLogs = r.readLogs(r.sides)
	blob, err := r.git.Store(ctx, text)
	if err != nil {
		return nil, err
	}
	return r.git.CheckedOut(ctx, r.Log(), blob)
}

// hasAllSides reports whether a log has what the sides have, and new entries that can stand.
func (r *restoring) hasAllSides(_, child *ledger.Ledger) bool {
	return r.isSoundAfter(r.sideLogs, child)
}

// isIndexSound reports whether the index has such a log.
func (r *restoring) isIndexSound(ctx context.Context) (bool, error) {
	if r.unmerged {
		return false, nil
	}
	data, found, err := githistory.ReadFile(ctx, r.repo, history.Index, r.Log(), r.Limits.FileSize())
	if err != nil || !found {
		return len(r.sideLogs) == 0, err // a new one need not be staged
	}
	log, _ := r.parse(data)
	return log != nil && r.hasAllSides(nil, log.Ledger), nil
}

// stageFiles stages the log, and the plan if it was written.
func (r *restoring) stageFiles(ctx context.Context, out *Restored) error {
	paths := append([]string{r.Log()}, out.Missing...)
	if out.Plan != "" {
		paths = append(paths, out.Plan)
	}
	if err := r.git.StageAsIs(ctx, paths...); err != nil {
		return &failure.Error{
			Message: fmt.Sprintf("%s is restored, but could not be staged: %s", r.Log(), failure.Of(err).Message),
			Remedy:  "`" + r.Command() + "`", Err: err,
		}
	}
	out.Staged = true
	return nil
}
