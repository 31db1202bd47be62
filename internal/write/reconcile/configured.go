package reconcile

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// workspacesAndLogs selects the files of workspaces and the configured logs.
func workspacesAndLogs(p *policy.Policy) history.Filter {
	f := history.Workspaces()
	for _, log := range p.Logs {
		f.Patterns = append(f.Patterns, log.Path)
	}
	return f
}

// ByHand returns those of some paths in conflict that Run does not look at: a person has to resolve these.
func ByHand(p *policy.Policy, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, _, inWorkspace := small.SplitPath(path)
		return inWorkspace || p.LogFor(path) != nil
	})
}

// planConfiguredLogs plans to combine the configured logs. If one side moved or removed a log, git's result stays unless it is in conflict.
func (r *reconciliation) planConfiguredLogs(ctx context.Context) error {
	if len(r.opts.Policy.Logs) == 0 {
		return nil
	}
	paths := map[string]bool{}
	for _, s := range r.op.sides() {
		files, err := r.listFiles(ctx, s.id)
		if err != nil {
			return err
		}
		for path := range files {
			paths[path] = r.opts.Policy.LogFor(path) != nil
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if !paths[path] || r.sidesAgree(path) && !r.index[path].Unmerged {
			continue
		}
		conflict, err := r.mustMergeConfigured(ctx, path)
		if err == nil && conflict {
			err = r.planLog(ctx, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mustMergeConfigured reports whether a configured log has to be combined: it is in conflict, or git's merge may have lost entries.
func (r *reconciliation) mustMergeConfigured(ctx context.Context, path string) (bool, error) {
	if r.inMemory || r.index[path].Unmerged {
		return r.index[path].Unmerged, nil
	}
	if _, rotated := r.rotated[r.op.theirs[0].id][path]; rotated && r.op.theirs[0].picked {
		return false, nil // git has applied the rotation
	}
	if kind := combine.KindOf(r.opts.Policy, path); kind.OfFile() {
		for _, base := range r.op.theirs[0].bases {
			data, err := r.readSide(ctx, side{id: base, name: "the merge base"}, path)
			if err != nil || data != nil {
				lacks, failed := r.defaultBranchLacks(ctx, path)
				return !kind.IsDraft(data, r.op.theirs[0].picked || lacks), errors.Join(err, failed)
			}
		}
		return false, nil
	}
	for _, s := range r.op.sides() {
		if _, there := r.files[s.id][path]; !there && r.op.kind != "" {
			return r.inConflict(ctx, path)
		}
	}
	return true, nil
}

// defaultBranchLacks reports whether the default branch is known and has no file at a path.
func (r *reconciliation) defaultBranchLacks(ctx context.Context, path string) (bool, error) {
	main, err := githistory.DefaultBranch(ctx, r.repo, "")
	if err != nil || main.ID == "" {
		return false, err
	}
	files, err := r.listFiles(ctx, main.ID)
	_, there := files[path]
	return err == nil && !there, err
}

// findOrder sets whose additions to configured logs come first in a merge: those of the side that the default branch or the upstream contains,
// so that a later squash of our branch continues them. In a commit with one parent, ours come first.
func (r *reconciliation) findOrder(ctx context.Context) error {
	if len(r.opts.Policy.Logs) == 0 || r.op.kind != state.Merge || len(r.op.theirs) != 1 {
		return nil
	}
	target, err := TargetSide(ctx, r.repo, r.git, r.op.ours.id, r.op.theirs[0].id)
	r.theirsFirst, r.targetKnown = target == 1, target >= 0
	return err
}

// TargetSide returns which of two merged commits the default branch contains, or else the branch's upstream: 0 for ours, 1 for theirs, -1 if
// each contains both or neither. The entries of that side come first in a configured log.
func TargetSide(ctx context.Context, repo Repository, git *workgit.Tree, ours, theirs string) (int, error) {
	main, err := githistory.DefaultBranch(ctx, repo, "")
	if err != nil {
		return -1, err
	}
	branch, err := repo.CurrentBranch(ctx)
	if err != nil {
		return -1, err
	}
	upstream := ""
	if branch != "" {
		ref, err := git.Run(ctx, "for-each-ref", "--format=%(upstream)", branch)
		if err == nil && len(ref) > 1 {
			var refs map[string]githistory.Branch
			name := strings.TrimSpace(string(ref))
			refs, err = repo.Refs(ctx, name)
			upstream = refs[name].ID
		}
		if err != nil {
			return -1, err
		}
	}
	for _, tip := range []string{main.ID, upstream} {
		if tip == "" {
			continue
		}
		var has [2]bool
		for i, id := range []string{ours, theirs} {
			bases, err := repo.MergeBases(ctx, tip, id)
			if err != nil {
				return -1, err
			}
			has[i] = slices.Contains(bases, id)
		}
		if has[0] != has[1] {
			if has[1] {
				return 1, nil
			}
			return 0, nil
		}
	}
	return -1, nil
}
