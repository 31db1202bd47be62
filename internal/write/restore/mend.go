package restore

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/rewrite"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// MendOptions say which commit to mend, and how.
type MendOptions struct {
	// Commit is a revision: the commit to mend.
	Commit string
	// Source is a revision from which the log and the files are put back; if it is empty, they are put back from the parents of Commit.
	Source string
	// Files are the paths of files to put back. Without a source, a file comes back as it was before Commit or, if Commit only added it or
	// left it alone, before the first other rewritten commit that changed it.
	Files []string
	// Pushed allows rewriting commits that only the branch's own upstream has, unless that is the default branch.
	Pushed bool
	// Discard drops the entries that Commit adds to the log.
	Discard bool
	// LockWorkspaceOf is called if commits were rewritten and HEAD has the log at another path than the parents of Commit. path is the path in HEAD.
	// The function locks and returns the workspace of the log at that path.
	LockWorkspaceOf func(path string) (*Workspace, error)
	// Progress, if not nil, is called after each commit.
	Progress func(done, total int)
}

// Mended is the result of Mend.
type Mended struct {
	Restored
	// FirstPath is the log's path in the parents of the commit to mend. Restored.Log is the log's path in HEAD.
	FirstPath string
	// Old and New are HEAD's old and new commit; they are equal if there was nothing to mend. Commits is the number of rewritten commits.
	Old, New string
	Commits  int
	// Unsigned is the number of rewritten commits that had a signature: their copies have none.
	Unsigned int
	// Remade is the new id of the commit to mend.
	Remade string
	// NoLog is true if nothing was mended, and neither the commit to mend nor its parents have the log or a profile of 2.0.0.
	NoLog bool
	// First is the old id of the first rewritten commit: usually the commit to mend.
	First string
	// Branches are the local branches that still have First: the branch, and the work tree in which it is checked out (empty if there is none).
	Branches [][2]string
	// Arguments is the text to append to the command that mends First in one of Branches: the files and, if First is the commit to mend, the options,
	// with a space before each.
	Arguments string
}

// mending is one run of Mend.
type mending struct {
	restoring
	options MendOptions
	// toMend is the commit to mend. If discard is true, the commit's new entries are dropped; droppedCount is the number of dropped
	// entries.
	toMend       string
	discard      bool
	unsigned     int // the number of rewritten commits that had a signature
	droppedCount int
	// tasksAdopted is true once lost entries came back into the log of the commit to mend or of a descendant. The tasks that these entries name are
	// added to the plan of that commit and, by a substitution, of later commits. Only the first such commit counts: entries that come back into the
	// logs of others bring no tasks.
	tasksAdopted bool
	// alike are the new entries of toMend's log that look like changed versions of old ones.
	alike []ledger.Entry
	// unshared are HEAD's commits that are not shared (see sharedRefs), parents first. parents maps each of them to its parents.
	unshared []string
	parents  map[string][]string
	// descendantsOf caches the results of the method descendants, by commit.
	descendantsOf map[string]map[string]bool
	// firstPath is the log's path in the parents of the commit to mend. movedTo has, by commit, the log's path in each commit where it is not
	// firstPath.
	firstPath string
	movedTo   map[string]string
	// archives has, by commit, the path of the archive: the new file into which the commit moved the old entries of a configured log when it rotated
	// the log.
	archives map[string]string
	// newIDs maps the id of each old commit to the id of its copy, or to the same id if the commit stays as it is.
	newIDs map[string]string
	// logs caches logs by commit: see readLog.
	logs map[string]*commitLog
	// objects reads the old commits and writes the new ones.
	objects *rewrite.Objects
	// targets maps a merge to the index of the parent that is on the target branch: see reconcile.TargetSide.
	targets map[string]int
	// substitutions are the replacements of files in the rewritten commits, by path.
	substitutions map[string]substitution
}

// substitution replaces a file in a commit, and in each descendant of that commit that still has the same file.
type substitution struct {
	// from is the old file, to is the new one.
	from, to history.File
	// since is the id of the commit.
	since string
}

// Mend rewrites a commit so that its log has all entries of its parents' logs. It does the same with HEAD's other commits that are not ancestors of
// that commit. It puts back the named files, the workspace files and tasks that were lost together with the log and, if no file is named, lost
// records. Messages, authors, times, merges and other files stay. Mend refuses to rewrite shared commits. It updates the index and the work tree, and
// keeps changes that are not committed.
func (w *Workspace) Mend(ctx context.Context, repo reconcile.Repository, o MendOptions, environ []string) (out Mended, err error) {
	m := &mending{
		restoring: restoring{Workspace: w, repo: repo}, options: o, parents: map[string][]string{}, newIDs: map[string]string{}, logs: map[string]*commitLog{},
		targets: map[string]int{}, descendantsOf: map[string]map[string]bool{}, firstPath: w.Log(), movedTo: map[string]string{}, archives: map[string]string{},
		substitutions: map[string]substitution{}, discard: o.Discard,
	}
	if m.git, err = workgit.Open(w.Place, environ); err != nil {
		return out, err
	}
	m.objects = rewrite.New(m.git.Git)
	defer func() { err = cmp.Or(err, m.objects.End()) }()
	if m.toMend, err = m.repo.Resolve(ctx, o.Commit); err == nil && o.Source != "" {
		o.Source, err = m.repo.Resolve(ctx, o.Source)
		m.options.Source = o.Source
	}
	if err != nil {
		return out, err
	}
	list, err := m.listCommits(ctx)
	if err != nil {
		return out, err
	}
	if err := m.findMoves(ctx, list); err != nil {
		return out, err
	}
	if o.Discard {
		if err := m.refuseUncommittedLog(ctx, m.logAt(list[len(list)-1])); err != nil {
			return out, err
		}
	}
	if err := m.refuseUnreadableSource(ctx); err != nil {
		return out, err
	}
	if err := m.findSubstitutions(ctx, o.Source, o.Files); err != nil {
		return out, err
	}
	if err := m.rewriteAll(ctx, list, o); err != nil {
		return out, err
	}
	out.Old, out.FirstPath = list[len(list)-1], m.firstPath
	out.New, out.Log, out.Remade, out.Unsigned = m.newIDs[out.Old], m.logAt(out.Old), m.newIDs[m.toMend], m.unsigned
	if out.New == out.Old {
		out.NoLog, err = m.hasNoLog(ctx)
		return out, err
	}
	if err := m.enterWorkspaceOfHead(ctx, out.Old, environ); err != nil {
		return out, err
	}
	for _, id := range list {
		if m.newIDs[id] != id {
			out.First = cmp.Or(out.First, id)
			out.Commits++
		}
	}
	if err := m.objects.End(); err != nil {
		return out, err
	}
	if err := m.noteRewritten(list); err != nil {
		return out, err
	}
	if err := m.applyNewCommits(context.WithoutCancel(ctx), &out); err != nil {
		return out, err
	}
	out.Alike, out.Discarded, out.Arguments = m.alike, m.droppedCount, o.arguments(out.First == m.toMend)
	branches, err := m.git.Run(context.WithoutCancel(ctx), "for-each-ref", "--contains="+out.First, "--format=%(refname:lstrip=2)%00%(worktreepath)", "refs/heads/")
	for line := range strings.Lines(string(branches)) {
		branch, tree, _ := strings.Cut(strings.TrimSpace(line), "\x00")
		out.Branches = append(out.Branches, [2]string{branch, tree})
	}
	return out, err
}

// rewriteAll rewrites the listed commits, parents first. It drops the text of a commit's log once all children of the commit are rewritten.
func (m *mending) rewriteAll(ctx context.Context, list []string, o MendOptions) error {
	children := map[string]int{list[len(list)-1]: 1} // HEAD counts as having a child: its log is read again at the end
	for _, id := range list {
		for _, p := range m.parents[id] {
			children[p]++
		}
	}
	for i, id := range list {
		source := ""
		if id == m.toMend {
			source = o.Source
		}
		if err := m.rewriteCommit(ctx, id, source); err != nil {
			return err
		}
		for _, p := range m.parents[id] {
			if children[p]--; children[p] == 0 {
				delete(m.logs, p)
				if newID := m.newIDs[p]; newID != "" && newID != p {
					m.logs[newID].text = nil
				}
			}
		}
		if o.Progress != nil {
			o.Progress(i+1, len(list))
		}
	}
	return nil
}

// rewriteCommit rewrites a commit if its parents, its log or another file changes. If source is not empty, it is the id of a commit whose log is used
// instead of the parents' logs.
func (m *mending) rewriteCommit(ctx context.Context, id, source string) error {
	oldParents := m.parents[id]
	parents := make([]string, len(oldParents))
	for i, p := range oldParents {
		parents[i] = cmp.Or(m.newIDs[p], p)
	}
	oldLog, err := m.readLog(ctx, id)
	if err != nil {
		return err
	}
	log, err := m.mendLog(ctx, id, parents, source, oldLog)
	if err != nil {
		return err
	}
	if m.archives[id] != "" {
		if err := m.mendArchive(ctx, id, parents[0]); err != nil {
			return err
		}
	}
	var changes []history.File
	if log != oldLog {
		if log.file, err = m.storeLog(ctx, id, log.text); err != nil {
			return err
		}
		changes = append(changes, log.file)
	}
	files, err := findFiles(ctx, m.repo, id, slices.Collect(maps.Keys(m.substitutions)))
	if err != nil {
		return err
	}
	for path, s := range m.substitutions {
		if files[path] == s.from && m.descendants(s.since)[id] {
			changes = append(changes, s.to)
		}
	}
	m.newIDs[id] = id
	if len(changes) > 0 || !slices.Equal(oldParents, parents) {
		c, err := m.objects.Commit(ctx, id)
		if err != nil {
			return err
		}
		c.Parents = parents
		if m.newIDs[id], err = m.objects.Make(ctx, c, changes); err != nil {
			return err
		}
		if c.Signed {
			m.unsigned++
		}
	}
	m.logs[m.newIDs[id]] = log
	return nil
}

// adoptTasksInCommit adds to a commit's plan the tasks that the restored entries name and the plan lacks. It does nothing if the commit has no plan,
// or if the plan has a substitution already.
func (m *mending) adoptTasksInCommit(ctx context.Context, id string, restored []ledger.Entry) error {
	path := small.Plan.Path(m.Dir)
	oldPlan, err := findFile(ctx, m.repo, id, path)
	if _, already := m.substitutions[path]; err != nil || already || len(restored) == 0 || !oldPlan.Regular() {
		return err
	}
	oldText, _, err := githistory.ReadFile(ctx, m.repo, id, path, m.Limits.FileSize())
	if err != nil {
		return err
	}
	var sides []combine.Version
	for _, p := range m.parents[id] {
		sides = append(sides, combine.Version{Name: history.Short(p), ID: p})
	}
	text, err := m.addTasks(ctx, oldText, sides, restored)
	if err != nil || bytes.Equal(text, oldText) {
		return err
	}
	plan := oldPlan
	plan.Object, err = m.git.Store(ctx, text)
	m.substitutions[path] = substitution{from: oldPlan, to: plan, since: id}
	return err
}
