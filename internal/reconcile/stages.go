package reconcile

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// The stages of the index in the place of commits: what was applied, and the version from which it parted from ours.
const (
	stageBase    = ":1"
	stageApplied = ":3"
)

// staged finds the sides of a conflict that no commit explains: after git stash pop, an autostash, git checkout -m, git cherry-pick -n
// and git am -3. What was applied is nobody else's history yet, and is treated as one's own.
func (r *resolving) staged(ctx context.Context, named string) error {
	var paths []string
	for path, f := range r.index {
		if _, _, ok := small.SplitPath(path); ok && f.Unmerged {
			paths = append(paths, path)
		}
	}
	if r.op.word != "" || len(paths) == 0 {
		return nil
	}
	if named != "" {
		slices.Sort(paths)
		return &failure.Error{
			Message: strings.Join(paths, " ") + " is in conflict, which has to be resolved before anything else is merged",
			Remedy:  "`small-hook reconcile`, then commit, then `small-hook reconcile " + wording.ShellWord(named) + "`",
		}
	}
	head, err := r.list(ctx, r.op.ours.id)
	if err != nil {
		return err
	}
	stages, err := r.git.stages(ctx)
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
	r.op.word = opApply
	r.op.theirs = []side{{name: "what was applied", id: stageApplied, parts: []string{stageBase}, picked: true}}
	patch, err := exists(filepath.Join(r.repo.Where().GitDir, "rebase-apply", "applying"))
	if patch {
		r.op.finish, r.op.skip = "git am --continue", "git am --skip"
	}
	return err
}

// isCommit reports whether a side's files are in a commit.
func (s side) isCommit() bool { return !strings.HasPrefix(s.id, ":") }

// stages lists the files in conflict, by stage and path.
func (g *workTree) stages(ctx context.Context) (map[string]map[string]history.File, error) {
	out, err := g.run(ctx, nil, "ls-files", "--unmerged", "-z")
	if err != nil {
		return nil, err
	}
	files := map[string]map[string]history.File{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		entry, path, _ := strings.Cut(line, "\t")
		fields := strings.Fields(entry) // mode, object, stage
		if len(fields) != 3 {
			continue
		}
		if files[fields[2]] == nil {
			files[fields[2]] = map[string]history.File{}
		}
		files[fields[2]][path] = history.File{Path: path, Mode: fields[0], Object: fields[1]}
	}
	return files, nil
}
