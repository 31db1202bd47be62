package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// The sides, in git's words: in a rebase and a cherry-pick too, ours is what is checked out, and theirs the commit that is applied.
const (
	Ours   = "ours"
	Theirs = "theirs"
)

// Options are what to reconcile, and how.
type Options struct {
	// Theirs names the other side if no merge is under way.
	Theirs string
	// Plan and Handoff say whose file to take, Ours or Theirs; empty leaves it as it is.
	Plan, Handoff string
	Environ       []string
	Now           time.Time
	// Policy is the trusted configuration. MaxFileSize in bytes overrides its limit; 0 leaves it.
	Policy      *policy.Policy
	MaxFileSize int64
	// PolicyOf reads the configuration of another side, of which only baselines count; nil if Policy is the only one.
	PolicyOf func(ctx context.Context, commit, name string) (*policy.Policy, error)
}

// Outcome is what was done.
type Outcome struct {
	// Finish is what to type next.
	Finish string
	// Logs are the logs that differ between the sides.
	Logs []Log
	// Taken are plans and handoffs that were taken from a side.
	Taken []Taken
	// Conflicts are the paths below .small that are still in conflict, Elsewhere those of other files.
	Conflicts, Elsewhere []string
	// Kept are overwritten files of the work tree with content of no side: the path, and the blob that has the content.
	Kept [][2]string
	// Diff shows what was staged, against HEAD.
	Diff string
}

// Log is what became of one log.
type Log struct {
	Path string
	// Entries is how many it has. Added is true if a new one makes the resolution explicit.
	Entries int
	Added   bool
	// Sides are the sides' names, Brought how many entries only that side has.
	Sides   []string
	Brought []int
	// Changed is true if the file or the index was written.
	Changed bool
}

// Taken is one file of which a side was taken.
type Taken struct{ Path, Side string }

// resolving is one reconciliation.
type resolving struct {
	repo Repository
	git  *workTree
	opts Options
	op   *operation
	// files are each commit's, by path.
	files map[string]map[string]history.File
	index map[string]history.File
	// policies are the configurations of the other sides.
	policies []*policy.Policy
	// changes are the files to write, then those to remove, each in order of path.
	changes []change
	// left maps paths that logs leave to the paths at which they are combined.
	left map[string]string
	out  *Outcome
}

// Run makes the explicit resolution and stages it. Nothing is written before all of it is known.
func Run(ctx context.Context, repo Repository, opts Options) (*Outcome, error) {
	g, err := openWorkTree(repo.Where(), opts.Environ)
	if err != nil {
		return nil, err
	}
	r := &resolving{repo: repo, git: g, opts: opts, files: map[string]map[string]history.File{}, left: map[string]string{}, out: &Outcome{}}
	if r.op, err = underWay(ctx, repo, g, opts.Theirs); err != nil {
		return nil, err
	}
	r.out.Finish = cmp.Or(r.op.finish, "git commit")
	if r.index, err = r.list(ctx, history.Index); err != nil {
		return nil, err
	}
	if opts.PolicyOf != nil {
		for _, t := range r.op.theirs {
			p, err := opts.PolicyOf(ctx, t.id, t.name)
			if err != nil {
				return nil, err
			}
			r.policies = append(r.policies, p)
		}
	}
	if err := r.followMoves(ctx); err != nil {
		return nil, err
	}
	dirs, err := r.workspaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		if err := r.workspace(ctx, dir); err != nil {
			return nil, err
		}
	}
	if err := r.leave(); err != nil {
		return nil, err
	}
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	return r.out, r.report(context.WithoutCancel(ctx))
}

// list reads the files of a revision, by path.
func (r *resolving) list(ctx context.Context, revision string) (map[string]history.File, error) {
	if known, ok := r.files[revision]; ok {
		return known, nil
	}
	files, err := r.repo.List(ctx, revision, history.Workspaces())
	if err != nil {
		return nil, err
	}
	out := make(map[string]history.File, len(files))
	for _, f := range files {
		out[f.Path] = f
	}
	if revision != history.Index {
		r.files[revision] = out
	}
	return out, nil
}

// workspaces are the directories with a workspace on any side.
func (r *resolving) workspaces(ctx context.Context) ([]string, error) {
	var dirs []string
	for _, s := range r.op.sides() {
		files, err := r.list(ctx, s.id)
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

// workspace plans what to do with one workspace.
func (r *resolving) workspace(ctx context.Context, dir string) error {
	if err := r.log(ctx, small.Progress.Path(dir)); err != nil {
		return err
	}
	for _, choice := range []struct {
		artifact small.Artifact
		side     string
	}{{small.Plan, r.opts.Plan}, {small.Handoff, r.opts.Handoff}} {
		if choice.side == "" {
			continue
		}
		if err := r.take(ctx, choice.artifact.Path(dir), choice.side); err != nil {
			return err
		}
	}
	return nil
}

// log plans what to do with one log.
func (r *resolving) log(ctx context.Context, path string) error {
	c := Case{
		Path: path, Now: r.opts.Now, Limits: r.limits(),
		Comparer: read.NewLogComparer(r.opts.Policy, path, r.opts.Now, r.oldPaths(path)...),
	}
	for _, p := range r.policies {
		c.Others = append(c.Others, read.NewLogComparer(p, path, r.opts.Now, r.oldPaths(path)...))
	}
	var err error
	if c.Ours, err = r.version(ctx, r.op.ours, path); err != nil {
		return err
	}
	same, mode := true, r.files[r.op.ours.id][path].Mode
	for _, t := range r.op.theirs {
		v, err := r.version(ctx, t, path)
		if err != nil {
			return err
		}
		for _, id := range t.parts {
			base, err := r.version(ctx, side{name: "the merge base", id: id}, path)
			if err != nil {
				return err
			}
			v.Bases = append(v.Bases, base)
		}
		if mode == "" {
			mode = r.files[t.id][path].Mode
		}
		same = same && r.files[t.id][path] == r.files[r.op.ours.id][path]
		c.Theirs = append(c.Theirs, v)
	}
	if mode == "" || same && !r.index[path].Unmerged {
		return nil
	}
	return r.resolve(ctx, c, mode)
}

// version is a side's version of a log, without its bases.
func (r *resolving) version(ctx context.Context, s side, path string) (Version, error) {
	data, err := r.read(ctx, s, path)
	return Version{Name: s.name, ID: s.id, Picked: s.picked, Data: data}, err
}

func (r *resolving) resolve(ctx context.Context, c Case, mode string) error {
	log := Log{Path: c.Path, Sides: []string{c.Ours.Name}}
	for _, t := range c.Theirs {
		log.Sides = append(log.Sides, t.Name)
	}
	there, done, err := r.present(ctx, c)
	if err != nil {
		return err
	}
	resolved := done
	if resolved == nil {
		if resolved, err = c.Resolve(); err != nil {
			return err
		}
	}
	log.Entries, log.Added, log.Brought = resolved.Entries, resolved.Added, resolved.Brought
	w := change{path: c.Path, mode: mode, content: resolved.Text, there: there, keep: done == nil}
	if log.Changed, err = r.plan(ctx, w); err != nil {
		return err
	}
	if r.op.word == "" && done == nil && !log.Changed {
		return nil // our log already continues theirs
	}
	r.out.Logs = append(r.out.Logs, log)
	return nil
}

func (r *resolving) limits() small.Limits {
	return small.Limits{MaxFileSize: cmp.Or(r.opts.MaxFileSize, r.opts.Policy.MaxFileSize)}
}

// read reads a side's version of a file, nil if it has none.
func (r *resolving) read(ctx context.Context, s side, path string) ([]byte, error) {
	files, err := r.list(ctx, s.id)
	if err != nil {
		return nil, err
	}
	f, ok := files[path]
	if !ok {
		return nil, nil
	}
	if !f.Regular() {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s of %s is not an ordinary file", path, s.name),
			Remedy:  "replace it with an ordinary file on that side and commit it, then merge again",
		}
	}
	limit := r.limits().FileSize()
	blob, err := r.repo.Blob(ctx, f.Object, limit)
	if err != nil {
		return nil, err
	}
	if blob.Size > limit {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s of %s has %d bytes, the limit is %d", path, s.name, blob.Size, limit),
			Remedy:  "raise the limit with --max-file-size BYTES",
		}
	}
	return blob.Data, nil
}

// take plans to take a side's version of a file.
func (r *resolving) take(ctx context.Context, path, name string) error {
	from := r.op.ours
	if name == Theirs {
		from = r.op.theirs[0]
	}
	all := r.op.sides()
	differs := r.index[path].Unmerged || slices.ContainsFunc(all, func(s side) bool {
		return r.files[s.id][path] != r.files[r.op.ours.id][path]
	})
	if !differs {
		return nil
	}
	if name == Theirs && len(r.op.theirs) > 1 {
		return &failure.Error{Message: "several branches are being merged, so it is unclear which one is theirs", Remedy: "edit the file, then type `git add " + wording.ShellWord(path) + "`"}
	}
	f, ok := r.files[from.id][path]
	if !ok {
		return &failure.Error{Message: fmt.Sprintf("%s has no %s", from.name, path), Remedy: "take the other side's, or resolve it by hand"}
	}
	data, err := r.read(ctx, from, path)
	if err != nil {
		return err
	}
	there, err := readFile(r.git.top, path)
	if err == nil && r.op.word == "" {
		err = r.mine(ctx, path, f, there)
	}
	if err != nil {
		return err
	}
	if _, err := r.plan(ctx, change{path: path, mode: f.Mode, content: data, there: there, keep: true}); err != nil {
		return err
	}
	r.out.Taken = append(r.out.Taken, Taken{Path: path, Side: name + " (" + from.name + ")"})
	return nil
}

// mine demands that a file is as in HEAD, or already as wanted.
func (r *resolving) mine(ctx context.Context, path string, want history.File, there []byte) error {
	dirty, err := r.git.dirty(ctx, path)
	if err != nil || !dirty {
		return err
	}
	blob, err := r.git.storeFile(ctx, path, there)
	if err == nil && (there == nil || blob != want.Object) {
		err = uncommitted(path)
	}
	return err
}
