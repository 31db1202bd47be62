package reconcile

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// Files are files that this package merges instead of git, by path.
type Files map[string]history.File

// Side is one of the two versions that Combine merges, or a merge base.
type Side struct {
	// Name is for messages. ID is its commit, or WorkTreeID.
	Name, ID string
	Files    Files
	// Bases are its merge bases with the first side.
	Bases []Side
	// Picked is true if only its changes since its base are taken, as in a rebase.
	Picked bool
}

// WorkTreeID is the ID of the side that holds the work tree's files.
const WorkTreeID = ":worktree"

// Combiner merges files as Run does, but in memory: it does not change the work tree or the index. It belongs to one repository and one
// trusted configuration.
type Combiner struct {
	repo          *overlay
	git           *workgit.Tree
	opts          Options
	otherPolicies []*policy.Policy
}

// NewCombiner returns a Combiner. Baselines in the configuration of the commit head, if one is given, also count, and its stanzas of logs that the
// trusted configuration does not have.
func NewCombiner(ctx context.Context, repo Repository, opts Options, head string) (*Combiner, error) {
	git, err := workgit.Open(repo.Where(), opts.Environ)
	if err != nil {
		return nil, err
	}
	c := &Combiner{repo: &overlay{Repository: repo, contents: map[string][]byte{}}, git: git, opts: opts}
	if opts.PolicyOf != nil && head != "" {
		p, err := opts.PolicyOf(ctx, head, "HEAD")
		if err != nil {
			return nil, err
		}
		c.otherPolicies, c.opts.Policy = []*policy.Policy{p}, opts.Policy.WithLogsOf(p)
	}
	return c, nil
}

// Content returns the content of a file that the Combiner has made; false if it has not made the file.
func (c *Combiner) Content(f history.File) ([]byte, bool) {
	data, made := c.repo.contents[f.Object]
	return data, made
}

// ByHand returns those of some paths in conflict that Run does not look at.
func (c *Combiner) ByHand(paths []string) []string { return ByHand(c.opts.Policy, paths) }

// Merges reports whether this package merges the file at a path, instead of git.
func (c *Combiner) Merges(path string) bool {
	dir, name, ok := small.SplitPath(path)
	a, known := small.ArtifactOf(name)
	if kind := combine.KindOf(c.opts.Policy, path); kind.Configured() {
		return !kind.OfFile()
	}
	return ok && known && (a == small.Progress || slices.Contains(mergedArtifacts, a)) && c.opts.Policy.Judges(dir)
}

// Files lists the files of a commit that this package merges.
func (c *Combiner) Files(ctx context.Context, commit string) (Files, error) {
	files, err := history.ListByPath(ctx, c.repo, commit, workspacesAndLogs(c.opts.Policy))
	maps.DeleteFunc(files, func(path string, _ history.File) bool { return !c.Merges(path) })
	return files, err
}

// FilesOnDisk returns a copy of like in which the files at paths are those of the work tree, as git would commit them. A file of like keeps
// its mode.
func (c *Combiner) FilesOnDisk(ctx context.Context, paths []string, like Files) (Files, error) {
	out := maps.Clone(like)
	for _, path := range paths {
		data, err := workgit.ReadFile(c.git.Top, path)
		if err != nil {
			return nil, err
		}
		if delete(out, path); data == nil {
			continue
		}
		blob, err := c.git.StoreFile(ctx, path, data)
		if err != nil {
			return nil, err
		}
		f := history.File{Path: path, Mode: history.ModePlain, Object: blob}
		if was, ok := like[path]; ok {
			f.Mode = was.Mode
		}
		out[path] = f
	}
	return out, nil
}

// CheckedOut returns the content of a file as git would check it out.
func (c *Combiner) CheckedOut(ctx context.Context, f history.File) ([]byte, error) {
	if data, made := c.Content(f); made {
		_, disk, err := c.git.StoreCheckedOut(ctx, f.Path, data)
		return disk, err
	}
	return c.git.CheckedOut(ctx, f.Path, f.Object)
}

// LogsLacking lists the logs, among paths, that lack in files an entry that they have in required.
func (c *Combiner) LogsLacking(ctx context.Context, files, required Files, paths []string) (lacking []string, err error) {
	r := c.newReconciliation(opConflict, Side{ID: "required", Files: required}, Side{ID: "files", Files: files})
	for _, path := range paths {
		kind := combine.KindOf(c.opts.Policy, path)
		if !read.IsProgress(path) && !kind.Configured() {
			continue
		}
		before, err := r.readSide(ctx, r.op.ours, path)
		if err != nil {
			return nil, err
		}
		after, err := r.readSide(ctx, r.op.theirs[0], path)
		if err != nil {
			return nil, err
		}
		if !kind.Entries(after, r.limits()).HasAll(kind.Entries(before, r.limits())) {
			lacking = append(lacking, path)
		}
	}
	return lacking, nil
}

// Combine puts theirs on top of ours if theirs is Picked; otherwise it merges them. It returns the files, and notes for people. If the error
// has ErrNeedsMerge in its chain, theirs cannot be put on top and must be merged.
func (c *Combiner) Combine(ctx context.Context, ours, theirs Side) (Files, []string, error) {
	kind := state.Merge
	if theirs.Picked {
		kind = state.Rebase
	}
	r := c.newReconciliation(kind, ours, theirs)
	if kind == state.Merge {
		if err := r.followMoves(ctx); err != nil {
			return nil, nil, err
		}
	} else if moved := r.findMovedLog(); moved != "" {
		return nil, nil, &failure.Error{Message: wording.Printable(moved) + " has moved or is gone on one side", Err: ErrNeedsMerge}
	}
	r.mergeTrivially()
	dirs, err := r.workspaceDirs(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, dir := range dirs {
		if err := r.planWorkspace(ctx, dir); err != nil {
			if errors.Is(err, combine.ErrOrder) && kind == state.Rebase {
				err = errors.Join(err, ErrNeedsMerge)
			}
			return nil, nil, err
		}
	}
	if err := r.planConfiguredLogs(ctx); err != nil {
		return nil, nil, err
	}
	out := Files(r.index)
	for _, w := range r.changes {
		f := history.File{Path: w.path, Mode: w.mode, Object: history.BlobID(w.content, ours.ID)}
		c.repo.contents[f.Object] = w.content
		out[w.path] = f
	}
	for _, f := range r.index {
		if f.Unmerged {
			return nil, nil, &failure.Error{Message: wording.Printable(f.Path) + " was changed on both sides"}
		}
	}
	var notes []string
	for _, file := range r.out.Merged {
		for _, note := range file.Notes {
			notes = append(notes, file.Path+": "+note)
		}
	}
	return out, notes, nil
}

// newReconciliation returns a reconciliation of two sides in memory.
func (c *Combiner) newReconciliation(kind string, ours, theirs Side) *reconciliation {
	r := newReconciliation(c.repo, c.git, c.opts)
	r.inMemory, r.otherPolicies, r.theirsFirst = true, c.otherPolicies, true
	r.op = &operation{kind: kind, ours: side{name: ours.Name, id: ours.ID}, theirs: []side{{name: theirs.Name, id: theirs.ID, picked: theirs.Picked}}}
	for _, s := range append([]Side{ours, theirs}, theirs.Bases...) {
		r.files[s.ID] = maps.Clone(s.Files)
	}
	for _, base := range theirs.Bases {
		r.op.theirs[0].bases = append(r.op.theirs[0].bases, base.ID)
	}
	return r
}

// findMovedLog returns the path of a workspace's log that a base has and a side lacks; empty if there is none.
func (r *reconciliation) findMovedLog() string {
	for _, base := range r.op.theirs[0].bases {
		for path := range r.files[base] {
			_, here := r.files[r.op.ours.id][path]
			_, there := r.files[r.op.theirs[0].id][path]
			if read.IsProgress(path) && (!here || !there) {
				return path
			}
		}
	}
	return ""
}

// mergeTrivially makes r.index: a file that one side alone changed is as on that side; a file that both sides changed is in conflict.
func (r *reconciliation) mergeTrivially() {
	ours, theirs := r.files[r.op.ours.id], r.files[r.op.theirs[0].id]
	r.index = maps.Clone(ours)
	for from := range r.newPaths { // moveFile has copied the workspace's files to the new path
		dir, _, _ := small.SplitPath(from)
		for _, a := range mergedArtifacts {
			delete(r.index, a.Path(dir))
			for _, files := range r.files {
				delete(files, a.Path(dir))
			}
		}
	}
	all := maps.Clone(theirs)
	maps.Copy(all, ours)
	for path, f := range all {
		alike := func(a, b history.File) bool { return a.Mode == b.Mode && a.Object == b.Object }
		asBase := func(f history.File) bool {
			return len(r.op.theirs[0].bases) > 0 && !slices.ContainsFunc(r.op.theirs[0].bases, func(id string) bool { return !alike(r.files[id][path], f) })
		}
		switch {
		case alike(ours[path], theirs[path]), asBase(theirs[path]):
		case !asBase(ours[path]):
			f.Unmerged = true
			r.index[path] = f
		case theirs[path].Mode == "":
			delete(r.index, path)
		default:
			r.index[path] = theirs[path]
		}
	}
}

// overlay is a repository with additional blobs.
type overlay struct {
	Repository
	contents map[string][]byte
}

// Blob reads an additional blob, or one of the repository.
func (o *overlay) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	data, made := o.contents[object]
	switch {
	case !made:
		return o.Repository.Blob(ctx, object, limit)
	case int64(len(data)) > limit:
		data = nil
	}
	return history.Blob{Data: data, Size: int64(len(o.contents[object]))}, nil
}
