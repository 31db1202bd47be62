package restore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
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

// restoring is one run that restores a log from commits.
type restoring struct {
	*Workspace
	repo       reconcile.Repository
	git        *workgit.Tree
	unfinished state.Unfinished
	// treeMendsHead is true if the work tree's log has the entries that HEAD's log lost.
	treeMendsHead bool
	// sides are the commits from which the log is restored. sideLogs are those of their logs that can be read.
	sides    []combine.Version
	sideLogs []*ledger.Ledger
}

// begin opens git, and finds out which command git has not finished.
func (w *Workspace) begin(repo reconcile.Repository, environ []string) (r *restoring, err error) {
	r = &restoring{Workspace: w, repo: repo}
	if r.git, err = workgit.Open(w.Place, environ); err == nil {
		r.unfinished, err = state.Read(w.Place.GitDir)
	}
	return r, err
}

// RestoreFrom restores and stages the log: the entries of the source commit and then the new entries of the work tree. Without a source it
// takes the entries of HEAD, of the commits being merged and, unless discard is true, of the noted log. Nothing is written if the log in the
// work tree and in the index has all these in order, and new entries have allowed times. With discard, new entries are dropped.
func (w *Workspace) RestoreFrom(ctx context.Context, repo reconcile.Repository, source string, noted []byte, discard bool, environ []string) (out Restored, err error) {
	out.Log = w.Log()
	r, err := w.begin(repo, environ)
	if err == nil {
		err = r.refuseConflict(ctx, environ)
	}
	if err != nil {
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
	link, err := w.setLinkAside()
	if err != nil {
		return out, err
	}
	find := func() (Restored, []byte, error) { return w.findLost(old, accepts) }
	if discard {
		find = func() (Restored, []byte, error) { return w.replaceWith(old) }
	}
	out, file, err := find()
	if err == nil && out.Text != nil {
		// Write the plan first: after a kill in between, the log still lacks entries, so the next run does both again.
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

// stageAndContinue stages the restored files unless they are staged or the index is sound, keeps a rebase from repeating a rejected commit, and sets
// the next commands.
func (r *restoring) stageAndContinue(ctx context.Context, out *Restored) error {
	repeated, err := workgit.ForgetRepeated(r.Place.GitDir)
	sound := out.Staged
	if err == nil && !sound && out.Text == nil && len(out.Missing) == 0 {
		sound, err = r.isIndexSound(ctx)
	}
	if err == nil && !sound {
		err = r.stageFiles(ctx, out)
	}
	if err == nil && (out.Staged || repeated) {
		out.Next, err = r.nextCommands(ctx)
	}
	return err
}

// requiredLog returns the old log, nil if there is none, and a function that reports whether a log has all that it must have.
func (r *restoring) requiredLog(ctx context.Context, source string, noted []byte, discard bool) (old []byte, accepts func(parent, child *ledger.Ledger) bool, err error) {
	old, err = r.readCommitted(ctx, source)
	if err != nil || discard {
		return old, r.hasAllSides, err
	}
	if old == nil {
		old, err = r.startOf()
	}
	oldLog, _ := r.parse(old)
	notedLog, _ := r.parse(noted)
	if err != nil || notedLog == nil || source != "" || oldLog != nil && oldLog.HasAll(notedLog.Ledger) {
		return old, r.hasAllSides, err
	}
	return r.joinLogs(old, noted), func(_, child *ledger.Ledger) bool {
		return r.hasAllSides(nil, child) && r.Accepts(notedLog.Ledger, child)
	}, nil
}

// startOf returns an empty log as the old version of a log that no commit has; nil if the file is not a log. A new log is rewritten only if
// an entry has a credential, or a time that is not allowed.
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

// putBackMissing writes the workspace's other files that are missing in the work tree, and returns their paths. Nothing is staged yet.
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
			return nil, err // the error names what is in the way
		}
		f, err := findFile(ctx, r.repo, r.sides[0].ID, path)
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

// findFile returns the file that a commit, or the index, has at a path; the zero File if there is none.
func findFile(ctx context.Context, tree history.Tree, id, path string) (history.File, error) {
	files, err := findFiles(ctx, tree, id, []string{path})
	return files[path], err
}

// findFiles returns the files that a commit, or the index, has at paths, by path.
func findFiles(ctx context.Context, tree history.Tree, id string, paths []string) (map[string]history.File, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	return history.ListByPath(ctx, tree, id, history.At(paths...))
}

func (r *restoring) checkOut(ctx context.Context, path, blob string) error {
	data, err := r.git.CheckedOut(ctx, path, blob)
	if err != nil {
		return err
	}
	return r.workTree().Write(path, data)
}

// adoptTasks adds to the plan on disk the tasks that entries name and the plan lacks. It returns the plan's path; empty if the plan does not change.
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

// addTasks adds to a plan the tasks that entries name and the plan lacks, from the sides' plans: whatever removed the entries may have removed their
// tasks. It does not change a plan that cannot be read: another finding reports that.
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

// FindConflict returns the failure of a log in conflict, with the command that resolves the conflict; nil if the log is not in conflict. It is in
// conflict if the index says so, or if the file has conflict markers and git still knows the two sides.
func (w *Workspace) FindConflict(ctx context.Context, repo reconcile.Repository, environ []string) (*failure.Error, error) {
	staged, err := findFile(ctx, repo, history.Index, w.Log())
	if err != nil {
		return nil, err
	}
	file, err := w.Read()
	if !staged.Unmerged && (err != nil || !small.HasConflictMarkers(file, small.MarkerSize)) {
		return nil, err
	}
	git, err := workgit.Open(w.Place, environ)
	if err != nil {
		return nil, err
	}
	switch sidesFound, err := reconcile.CanFindSides(ctx, repo, git, w.Log()); {
	case err != nil:
		return failure.Of(err), nil // its remedy says what resolves the conflict
	case staged.Unmerged || sidesFound:
		return &failure.Error{Message: w.Log() + " is in conflict: it must keep both sides' entries", Remedy: "resolve it: `small-hook reconcile`"}, nil
	}
	return nil, nil
}

// refuseConflict returns an error if the log has conflict markers, which reconcile resolves with both sides' entries; but not during a revert, which
// brings no entries.
func (r *restoring) refuseConflict(ctx context.Context, environ []string) error {
	file, readErr := r.Read() // a link is set aside later; any other error comes up again
	if readErr != nil || r.unfinished.Command == state.Revert || !small.HasConflictMarkers(file, small.MarkerSize) {
		return nil //nolint:nilerr // see above
	}
	conflict, err := r.FindConflict(ctx, r.repo, environ)
	if conflict != nil {
		return conflict
	}
	return err
}

// nextCommands lists the commands to type after the restoration; none if nothing is left to commit.
func (r *restoring) nextCommands(ctx context.Context) ([]string, error) {
	staged, err := r.git.Run(ctx, "diff", "--cached", "--name-only", "--no-ext-diff", "-z")
	if err != nil {
		return nil, err
	}
	if r.treeMendsHead && len(staged) > 0 {
		return []string{r.Command() + " --commit HEAD"}, nil
	}
	commands, err := r.unfinished.NextCommands(r.Place.GitDir, len(staged) > 0)
	if len(commands) == 0 && len(staged) > 0 {
		commands = []string{`git commit -m "Restore the log"`}
		if !strings.Contains("\x00"+string(staged), "\x00"+cmp.Or(r.At, small.InDir(r.Dir, ""))) {
			commands = []string{"git commit"} // only other work is staged
		}
	}
	return commands, err
}

// readCommitted reads the sides and returns their combined log as git would check it out; nil if no side has one.
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
	_, text, err = r.git.StoreCheckedOut(ctx, r.Log(), text)
	return text, err
}

// hasAllSides reports whether a log has all entries of the sides, and its new entries are allowed.
func (r *restoring) hasAllSides(_, child *ledger.Ledger) bool {
	return r.isSoundAfter(r.sideLogs, child)
}

// isIndexSound reports whether the log in the index has all entries of the sides.
func (r *restoring) isIndexSound(ctx context.Context) (bool, error) {
	if f, err := findFile(ctx, r.repo, history.Index, r.Log()); err != nil || f.Unmerged {
		return false, err
	}
	data, found, err := githistory.ReadFile(ctx, r.repo, history.Index, r.Log(), r.Limits.FileSize())
	if err != nil || !found {
		return len(r.sideLogs) == 0, err // a new log need not be staged
	}
	log, _ := r.parse(data)
	return log != nil && r.hasAllSides(nil, log.Ledger), nil
}

// stageFiles stages the log, and the other files that were written.
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
