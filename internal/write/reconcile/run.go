package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/threeway"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// Options are the inputs of Run. A Combiner, Drive and Published take them too, without Theirs.
type Options struct {
	// Theirs names the other side; if it is empty, the operation under way tells the other sides.
	Theirs string
	// Plan says whose value counts if both sides changed the same field of the plan. In a rebase and a cherry-pick too, ours is HEAD, and
	// theirs is the commit being applied.
	Plan    threeway.Preference
	Environ []string
	Now     time.Time
	// Policy is the trusted configuration. MaxFileSize, in bytes, overrides its limit unless it is 0.
	Policy      *policy.Policy
	MaxFileSize int64
	// PolicyOf reads the configuration of another side. Only its baselines count, and its stanzas of logs that Policy does not have. If PolicyOf
	// is nil, only Policy counts.
	PolicyOf func(ctx context.Context, commit, name string) (*policy.Policy, error)
}

// Outcome is the result of Run.
type Outcome struct {
	// Finish is the command to type next.
	Finish string
	// Empty is true if an operation is under way and leaves nothing to commit.
	Empty bool
	// NeedsForcedPush is true if the branch's upstream contains the named side and the branch does not: only a forced push can then publish
	// the branch.
	NeedsForcedPush bool
	// Logs are the logs that differ between the sides.
	Logs []Log
	// AsInHead are the paths at which a revert's changes were undone.
	AsInHead []string
	// Merged are the merged files that are not logs, and logs in which entries were changed, with notes.
	Merged []MergedFile
	// Conflicts are the workspace files and configured logs that are still in conflict or have conflict markers. OtherConflicts are the other
	// files that the index says are in conflict.
	Conflicts, OtherConflicts []string
	// Copies lists the overwritten files of the work tree whose content no side has: each with its path and the path of its copy.
	Copies [][2]string
	// Diff shows what was staged, against HEAD.
	Diff string
}

// Log is the result for one log.
type Log struct {
	Path string
	// Entries is the number of entries. Added is true if one of them was added to make the resolution explicit.
	Entries int
	Added   bool
	// Sides are the sides' names. Brought has, for each side, the number of entries that only this side has.
	Sides   []string
	Brought []int
	// Changed is true if the file or the index was written.
	Changed bool
}

// reconciliation is one run: the sides, and the changes that it plans.
type reconciliation struct {
	repo Repository
	git  *workgit.Tree
	opts Options
	op   *operation
	// files has the files of sides, bases and other commits by path: the key is the commit's or side's id. followMoves moves logs in these lists.
	files map[string]map[string]history.File
	index map[string]history.File
	// markerSize is the length of the shortest conflict marker that git writes into these files; 0 until known.
	markerSize int
	// otherPolicies are the configurations of the other sides.
	otherPolicies []*policy.Policy
	// changes are the files to write and to remove.
	changes []change
	// newPaths maps the former path of each moved log to the path at which it is combined.
	newPaths map[string]string
	// rotated maps, for each commit, the path of each configured log that was rotated to the archive's path.
	rotated map[string]map[string]string
	// theirsFirst says that a configured log gets the other side's additions before ours. targetKnown says that the default branch or the
	// upstream contains only the side whose additions come first: that side is the target of the merge.
	theirsFirst, targetKnown bool
	// inMemory is true for a Combiner: the result is neither compared with nor written to the work tree and the index.
	inMemory bool
	out      *Outcome
}

func newReconciliation(repo Repository, g *workgit.Tree, opts Options) *reconciliation {
	return &reconciliation{repo: repo, git: g, opts: opts, files: map[string]map[string]history.File{}, newPaths: map[string]string{}, rotated: map[string]map[string]string{}, out: &Outcome{}}
}

// Run merges the sides of the operation under way, or a named side's log, and stages the result. It writes nothing until all is planned.
func Run(ctx context.Context, repo Repository, opts Options) (*Outcome, error) {
	g, err := workgit.Open(repo.Where(), opts.Environ)
	if err != nil {
		return nil, err
	}
	r := newReconciliation(repo, g, opts)
	if r.index, err = r.listFiles(ctx, history.Index); err != nil {
		return nil, err
	}
	if err := r.findSides(ctx); err != nil {
		return nil, err
	}
	planAll := r.planMerge
	if r.op.kind == state.Revert {
		planAll = r.planRevert
	}
	if err := planAll(ctx); err != nil {
		return nil, err
	}
	if err := r.writeAndStage(ctx); err != nil {
		return nil, err
	}
	if _, err := workgit.ForgetRepeated(g.GitDir); err != nil {
		return nil, err
	}
	return r.out, r.completeOutcome(context.WithoutCancel(ctx))
}

// planMerge plans to merge the sides' files.
func (r *reconciliation) planMerge(ctx context.Context) error {
	if err := r.followMoves(ctx); err != nil {
		return err
	}
	dirs, err := r.workspaceDirs(ctx)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := r.planWorkspace(ctx, dir); err != nil {
			return err
		}
	}
	if err := r.planConfiguredLogs(ctx); err != nil {
		return err
	}
	return r.planRemovalOfMoved()
}

// listFiles returns the files of a side, a base, another commit or history.Index, by path. Only the index is read each time.
func (r *reconciliation) listFiles(ctx context.Context, revision string) (map[string]history.File, error) {
	if known, ok := r.files[revision]; ok {
		return known, nil
	}
	out, err := history.ListByPath(ctx, r.repo, revision, workspacesAndLogs(r.opts.Policy))
	if err == nil && revision != history.Index {
		r.files[revision] = out
	}
	return out, err
}

// workspaceDirs returns the directories that have a judged workspace on any side, sorted.
func (r *reconciliation) workspaceDirs(ctx context.Context) ([]string, error) {
	var dirs []string
	for _, s := range r.op.sides() {
		files, err := r.listFiles(ctx, s.id)
		if err != nil {
			return nil, err
		}
		for path := range files {
			dir, _, ok := small.SplitPath(path)
			if ok && r.opts.Policy.Judges(dir) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return dirs, nil
}

// planWorkspace plans to merge one workspace.
func (r *reconciliation) planWorkspace(ctx context.Context, dir string) error {
	if late, err := r.planLateImport(ctx, dir); late || err != nil {
		return err
	}
	if err := r.planLog(ctx, small.Progress.Path(dir)); err != nil {
		return err
	}
	return r.planArtifacts(ctx, dir)
}

// planLog plans to combine one log, if its sides differ or it is in conflict.
func (r *reconciliation) planLog(ctx context.Context, path string) error {
	c, mode, same, err := r.readCase(ctx, path)
	if err != nil || mode == "" || same && !r.index[path].Unmerged {
		return err
	}
	notes, err := r.updateIDs(ctx, &c)
	if err != nil {
		return err
	}
	if len(notes) > 0 {
		r.out.Merged = append(r.out.Merged, MergedFile{Path: path, Notes: notes})
	}
	return r.op.withUndo(r.planResolution(ctx, c, mode))
}

// updateIDs gives the entries of a log's versions the new ids of rewritten commits and of tasks that get other ids. notes tell a person.
func (r *reconciliation) updateIDs(ctx context.Context, c *combine.Case) (notes []string, err error) {
	if notes, err = r.replaceRebasedIDs(c); err != nil {
		return nil, err
	}
	more, err := r.followTaskIDs(ctx, c)
	return append(notes, more...), err
}

// readCase reads the sides of a log. mode is the file's mode, empty if no side has the file; same says that all sides have the same version.
func (r *reconciliation) readCase(ctx context.Context, path string) (c combine.Case, mode string, same bool, err error) {
	c = combine.Case{
		Path: path, Now: r.opts.Now, Limits: r.limits(), TheirsFirst: r.theirsFirst, TargetKnown: r.targetKnown,
		Comparer: read.NewLogComparer(r.opts.Policy, path, r.opts.Now, r.oldPaths(path)...),
		Published: func(entries []ledger.Entry) (map[small.Digest]bool, error) {
			return r.findPublished(ctx, path, entries)
		},
	}
	for _, p := range r.otherPolicies {
		c.Others = append(c.Others, read.NewLogComparer(p, path, r.opts.Now, r.oldPaths(path)...))
	}
	if combine.KindOf(r.opts.Policy, path).OfFile() {
		if c.TargetLacks, err = r.defaultBranchLacks(ctx, path); err != nil {
			return c, "", false, err
		}
	}
	if err = r.op.addVersions(&c, func(s side) (combine.Version, error) { return r.logVersion(ctx, s, path) }); err != nil {
		return c, "", false, err
	}
	if err = r.findRewrites(ctx, c); err != nil {
		return c, "", false, err
	}
	err = r.markPermittedLosses(ctx, &c)
	return c, r.modeOf(path), r.sidesAgree(path), err
}

// findRewrites finds, in the history of the sides, the entries that approved rewrites of a log removed, and adds them to c's Comparer.
func (r *reconciliation) findRewrites(ctx context.Context, c combine.Case) error {
	if len(c.Comparer.Rewrites) == 0 {
		return nil
	}
	var tips []string
	for _, s := range r.op.sides() {
		tips = append(tips, s.id)
	}
	src := read.NewSource(r.repo, r.repo, read.Basis{Policy: r.opts.Policy, Now: r.opts.Now, Limits: r.limits()})
	if err := src.CompleteRewrites(ctx, tips, c.Path, c.Comparer.Equivalence); err != nil {
		return err
	}
	for _, x := range c.Comparer.Rewrites {
		if err := src.FindBefore(ctx, tips, c.Path, x); err != nil {
			return err
		}
	}
	return nil
}

// modeOf returns the mode of a file on the first side that has it; empty if none has it.
func (r *reconciliation) modeOf(path string) string {
	for _, s := range r.op.sides() {
		if mode := r.files[s.id][path].Mode; mode != "" {
			return mode
		}
	}
	return ""
}

// logVersion reads a side's version of a log, without its bases.
func (r *reconciliation) logVersion(ctx context.Context, s side, path string) (combine.Version, error) {
	data, err := r.readSide(ctx, s, path)
	return combine.Version{Name: s.name, Called: r.messageName(s), ID: s.id, Picked: s.picked, Data: data}, err
}

// planResolution plans to write and stage the combined log. If the work tree's file already is a resolution, it stages that file.
func (r *reconciliation) planResolution(ctx context.Context, c combine.Case, mode string) error {
	log := Log{Path: c.Path}
	for _, side := range r.op.sides() {
		log.Sides = append(log.Sides, r.messageName(side))
	}
	present, existing, err := r.readWorkTree(ctx, c)
	resolved := existing
	if err == nil && resolved == nil {
		resolved, err = r.combineLog(ctx, c)
	}
	if errors.Is(err, combine.ErrPickedEdit) && r.isOurs(c.Path) {
		resolved, err = c.OursAsResolution()
	}
	switch {
	case err != nil && r.inMemory:
		return err
	case err != nil:
		return r.addTieRemedy(ctx, c.Path, err)
	}
	log.Entries, log.Added, log.Brought = resolved.Entries, resolved.Added, resolved.Brought
	w := change{path: c.Path, mode: mode, content: resolved.Text, present: present, keepPresent: existing != nil}
	if log.Changed, err = r.planChange(ctx, w); err != nil {
		return err
	}
	if r.op.kind == "" && existing == nil && !log.Changed {
		return nil // our log already continues theirs
	}
	r.out.Logs = append(r.out.Logs, log)
	return nil
}

// isOurs reports whether the index has our version of a log: git has none of its conflicts, and a person may have put our log back.
func (r *reconciliation) isOurs(path string) bool {
	staged, ours := r.index[path], r.files[r.op.ours.id][path]
	return !r.inMemory && !staged.Unmerged && staged.Object != "" && staged.Object == ours.Object
}

// reconciledInsertion is the rule about entries that a commit with one parent inserts before existing ones.
const reconciledInsertion = "append-only/reconciled-insertion"

// OnlyMergesInsert reports whether a configuration rejects commits with one parent that insert entries before existing ones.
func OnlyMergesInsert(p *policy.Policy) bool {
	return p.Mode == policy.Enforce && p.Rules[reconciledInsertion] == policy.Error
}

// combineLog combines the sides of a log. It fails if a commit with one parent would insert entries, and only merges may.
func (r *reconciliation) combineLog(ctx context.Context, c combine.Case) (*combine.Resolution, error) {
	if combine.KindOf(r.opts.Policy, c.Path).OfFile() {
		return c.ResolveFile()
	}
	resolved, err := c.Resolve()
	if err == nil && resolved.Inserted && r.op.oneParent() && OnlyMergesInsert(r.opts.Policy) {
		err = r.op.needsMerge(ctx, r.repo, r.git, fmt.Sprintf("%s: published entries of %s are older than ours, and the configuration lets only a merge insert them (%s)",
			c.Path, r.messageName(r.op.theirs[0]), reconciledInsertion))
	}
	return resolved, err
}

func (r *reconciliation) limits() small.Limits {
	return small.Limits{MaxFileSize: cmp.Or(r.opts.MaxFileSize, r.opts.Policy.MaxFileSize)}
}

// readSide reads a side's version of a file; nil if the side has no such file.
func (r *reconciliation) readSide(ctx context.Context, s side, path string) ([]byte, error) {
	files, err := r.listFiles(ctx, s.id)
	if err != nil {
		return nil, err
	}
	f, ok := files[path]
	if !ok {
		return nil, nil
	}
	if !f.Regular() {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s of %s is not an ordinary file", path, r.messageName(s)),
			Remedy:  "replace it with an ordinary file on that side and commit it, then merge again",
		}
	}
	return r.readBlob(ctx, f, path+" of "+r.messageName(s))
}

// readBlob reads the content of a file; name is for messages.
func (r *reconciliation) readBlob(ctx context.Context, f history.File, name string) ([]byte, error) {
	limit := r.limits().FileSize()
	blob, err := r.repo.Blob(ctx, f.Object, limit)
	if err != nil {
		return nil, err
	}
	if blob.Size > limit {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s has %d bytes, the limit is %d", name, blob.Size, limit),
			Remedy:  "raise the limit with --max-file-size BYTES",
		}
	}
	return blob.Data, nil
}
