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
	Commit string
	// Source, if any, is a commit whose log and files are used instead of those of the parents.
	Source string
	// Files are paths of files to put back: as they were before the commit or, if the commit left a file alone, before the commit that changed it.
	Files []string
	// Pushed allows mending a commit that the branch's own upstream has.
	Pushed bool
	// Discard drops the entries that the commit adds to the log.
	Discard bool
	// MovedTo is called if a commit after Commit has moved the log. It gets the log's path in HEAD, locks the workspace there, and returns it.
	MovedTo func(path string) (*Workspace, error)
	// Progress, if any, is called for each commit.
	Progress func(done, total int)
}

// Mended is the result of Mend.
type Mended struct {
	Restored
	// FirstPath is the path of the log in the parents of the commit to mend. Log is its path in HEAD.
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
	// First is the old id of the first commit that was rewritten: usually the one to mend. Branches are the local branches that still have First,
	// each with the work tree in which it is checked out, if any.
	First    string
	Branches [][2]string
	// Arguments are the arguments for the command that mends First in one of Branches, each after a space: the files, and the options if First is the
	// commit to mend.
	Arguments string
}

// mending rewrites a commit that nobody else has, and the commits after it.
type mending struct {
	restoring
	options MendOptions
	// toMend is the commit to mend. If discard is true, the commit's new entries are dropped; droppedCount is their number.
	toMend       string
	discard      bool
	unsigned     int // the number of rewritten commits that had a signature
	droppedCount int
	// tasksAdopted is true once lost entries were put back into a log: only the plan of the first such commit gets its tasks back.
	tasksAdopted bool
	// alike are the new entries of toMend's log that look like changed versions of old ones.
	alike []ledger.Entry
	// unshared are the commits of HEAD that nobody else has, parents first; parents has the parents of each.
	unshared []string
	parents  map[string][]string
	// descendantsOf caches what the method descendants returned, by commit.
	descendantsOf map[string]map[string]bool
	// firstPath is the path of the log in the parents of the commit to mend. movedTo has the path in other commits, by id, if the log was moved.
	firstPath string
	movedTo   map[string]string
	// archives has, by the id of a commit, the path of the new file to which the commit rotated a configured log.
	archives map[string]string
	// newIDs maps the ids of old commits to those of the new ones.
	newIDs map[string]string
	// logs caches logs by commit: see readLog.
	logs map[string]*commitLog
	// objects reads the old commits and writes the new ones.
	objects *rewrite.Objects
	// targets has, by merge, the index of the parent that is on the target branch: see reconcile.TargetSide.
	targets map[string]int
	// substitutions has, by path, the files to replace in the rewritten commits.
	substitutions map[string]substitution
}

// substitution replaces a file in a commit, and in those of its descendants that still have the same file.
type substitution struct {
	// from is the file that is replaced; to replaces it.
	from, to history.File
	// since is the id of the commit.
	since string
}

// Mend rewrites a commit so that its log has all entries of its parents' logs. Then it does the same with the other commits up to HEAD that are not its
// ancestors. It puts back the named files, and what was lost with the log. Messages, authors, times, merges and other files stay. Mend refuses
// to rewrite shared commits. The index and the work tree are updated, and keep what is not committed.
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
	if err := m.takeLogOf(ctx, out.Old, environ); err != nil {
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
	still, err := m.git.Run(ctx, "for-each-ref", "--contains="+out.First, "--format=%(refname:lstrip=2)%00%(worktreepath)", "refs/heads/")
	for line := range strings.Lines(string(still)) {
		branch, tree, _ := strings.Cut(strings.TrimSpace(line), "\x00")
		out.Branches = append(out.Branches, [2]string{branch, tree})
	}
	return out, err
}

// rewriteAll rewrites the listed commits, parents first. It drops the text of a log once no later commit needs it.
func (m *mending) rewriteAll(ctx context.Context, list []string, o MendOptions) error {
	children := map[string]int{list[len(list)-1]: 1} // the new head is needed to the end
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
				if made := m.newIDs[p]; made != "" && made != p {
					m.logs[made].text = nil
				}
			}
		}
		if o.Progress != nil {
			o.Progress(i+1, len(list))
		}
	}
	return nil
}

// rewriteCommit rewrites a commit if its parents, its log or another file changes. source, if not empty, replaces the parents' logs.
func (m *mending) rewriteCommit(ctx context.Context, id, source string) error {
	old := m.parents[id]
	parents := make([]string, len(old))
	for i, p := range old {
		parents[i] = cmp.Or(m.newIDs[p], p)
	}
	was, err := m.readLog(ctx, id)
	if err != nil {
		return err
	}
	log, err := m.mendLog(ctx, id, parents, source, was)
	if err != nil {
		return err
	}
	if m.archives[id] != "" {
		if err := m.mendArchive(ctx, id, parents[0]); err != nil {
			return err
		}
	}
	var changes []history.File
	if log != was {
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
	if len(changes) > 0 || !slices.Equal(old, parents) {
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

// adoptTasksInCommit puts the tasks of restored entries back into a commit's plan, unless the plan is replaced anyway.
func (m *mending) adoptTasksInCommit(ctx context.Context, id string, gone []ledger.Entry) error {
	path := small.Plan.Path(m.Dir)
	was, err := findFile(ctx, m.repo, id, path)
	if _, already := m.substitutions[path]; err != nil || already || len(gone) == 0 || !was.Regular() {
		return err
	}
	before, _, err := githistory.ReadFile(ctx, m.repo, id, path, m.Limits.FileSize())
	if err != nil {
		return err
	}
	var sides []combine.Version
	for _, p := range m.parents[id] {
		sides = append(sides, combine.Version{Name: history.Short(p), ID: p})
	}
	plan, err := m.addTasks(ctx, before, sides, gone)
	if err != nil || bytes.Equal(plan, before) {
		return err
	}
	is := was
	is.Object, err = m.git.Store(ctx, plan)
	m.substitutions[path] = substitution{from: was, to: is, since: id}
	return err
}
