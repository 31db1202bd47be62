package reconcile

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/small"
)

// IDs of sides that are stages of the index, not commits: the applied changes, and their base.
const (
	stageBase    = ":1"
	stageApplied = ":3"
)

// findSidesInConflict finds, in the index, the sides of a conflict that no commit explains: after git stash pop, an autostash, git checkout -m,
// git cherry-pick -n or git am -3. The applied changes count as unpublished work of one's own.
func (r *reconciliation) findSidesInConflict(ctx context.Context, named string) error {
	if r.op.kind != "" {
		return nil
	}
	paths, stages, err := r.conflictStages(ctx)
	if err != nil || len(paths) == 0 {
		return err
	}
	if named != "" {
		return &failure.Error{
			Message: strings.Join(paths, " ") + " is in conflict, which has to be resolved before anything else is merged",
			Remedy:  "`small-hook reconcile`, then commit, then `small-hook reconcile " + wording.ShellWord(named) + "`",
		}
	}
	head, err := r.listFiles(ctx, r.op.ours.id)
	if err != nil {
		return err
	}
	for stage, id := range map[string]string{"1": stageBase, "3": stageApplied} {
		files := maps.Clone(head)
		for _, path := range paths {
			delete(files, path)
			if f, there := stages[stage][path]; there {
				files[path] = f
			}
		}
		r.files[id] = files
	}
	r.op.kind = opConflict
	r.op.theirs = []side{{name: "the applied changes", id: stageApplied, bases: []string{stageBase}, picked: true}}
	u, err := state.Read(r.repo.Where().GitDir)
	if u.Command == state.Apply {
		r.op.finish, r.op.skip = u.Finish, u.Skip
	}
	return err
}

// conflictStages returns the paths in conflict, sorted, and their files by stage and path. If no path is in conflict, it returns the paths that
// were staged with conflict markers and whose conflict git remembers, and marks them as unmerged in r.index.
func (r *reconciliation) conflictStages(ctx context.Context) (paths []string, stages map[string]map[string]history.File, err error) {
	for path, f := range r.index {
		if _, _, ok := small.SplitPath(path); (ok || r.opts.Policy.LogFor(path) != nil) && f.Unmerged {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	if len(paths) > 0 {
		stages, err = r.git.Stages(ctx)
		return paths, stages, err
	}
	marked, err := r.listConflicts(ctx)
	if err != nil || len(marked) == 0 {
		return nil, nil, err
	}
	if stages, err = r.git.Remembered(ctx, marked...); err != nil {
		return nil, nil, err
	}
	for _, path := range marked {
		if _, known := stages["3"][path]; known {
			paths = append(paths, path)
			f := r.index[path]
			f.Unmerged = true
			r.index[path] = f
		}
	}
	return paths, stages, nil
}

// isCommit reports whether a side is a commit, not a stage of the index or the work tree.
func (s side) isCommit() bool { return !strings.HasPrefix(s.id, ":") }
