package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// followMoves handles logs that a side moved: in r.files it puts all versions of such a log at one path, the path of the merged log.
func (r *reconciliation) followMoves(ctx context.Context) error {
	for _, t := range r.op.theirs {
		if !t.isCommit() {
			continue
		}
		bases, err := r.repo.MergeBases(ctx, r.op.ours.id, t.id)
		if err != nil {
			return err
		}
		for _, base := range bases {
			if err := r.followMovesSince(ctx, base, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// followMovesSince handles logs that ours or t moved since base, one of their merge bases. It fails if one commit cannot combine the sides.
func (r *reconciliation) followMovesSince(ctx context.Context, base string, t side) error {
	opts := run.Options{Policy: r.opts.Policy, Trusted: r.op.ours.id, Now: r.opts.Now, MaxFileSize: r.opts.MaxFileSize}
	moves := map[string]map[string]string{}
	for _, id := range append([]string{base, r.op.ours.id, t.id}, t.bases...) {
		if _, err := r.listFiles(ctx, id); err != nil {
			return err
		}
		var err error
		if moves[id], err = gate.Moves(ctx, r.repo, base, id, opts); err != nil {
			return err
		}
		if r.rotated[id], err = gate.Rotated(ctx, r.repo, base, id, opts); err != nil {
			return err
		}
	}
	if err := r.refuseRotations(base, t); err != nil {
		return err
	}
	files, err := r.listFiles(ctx, base)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		ourPath, weMoved := moves[r.op.ours.id][path]
		theirPath, theyMoved := moves[t.id][path]
		if !weMoved && !theyMoved {
			continue
		}
		to := theirPath
		if !weMoved {
			ourPath = path
		}
		if !weMoved && r.op.oneParent() && r.files[r.op.ours.id][path].Object != files[path].Object {
			return r.op.needsMerge(ctx, r.repo, r.git, fmt.Sprintf("%s moved %s to %s, and %s has recorded work at the old path: one commit of a %s cannot do both",
				t.name, path, theirPath, r.op.ours.name, r.op.kind))
		}
		if weMoved || r.op.kind == "" {
			to = ourPath
		}
		if err := r.moveVersions(path, to, moves, t); err != nil {
			return err
		}
	}
	return nil
}

// moveVersions puts all versions of a log at the path to. path is the log's path in the merge base, and moves has, for each side and base, the
// paths to which logs have moved there. It fails if a side or base has another log at the path to.
func (r *reconciliation) moveVersions(path, to string, moves map[string]map[string]string, t side) error {
	for _, id := range slices.Sorted(maps.Keys(moves)) {
		from, moved := moves[id][path]
		if !moved {
			from = path
		}
		_, there := r.files[id][from]
		if _, taken := r.files[id][to]; taken && there && from != to {
			return r.errPathTaken(path, to, id, t)
		}
		r.moveFile(id, from, to)
	}
	return nil
}

// errPathTaken returns the failure for a log that a side moved to a path at which the side or base id has another log.
func (r *reconciliation) errPathTaken(from, to, id string, t side) error {
	name := "the merge base"
	for _, s := range []side{r.op.ours, t} {
		if s.id == id {
			name = r.messageName(s)
		}
	}
	undo := ""
	if r.op.kind != "" && !r.inMemory {
		undo = "undo it: `" + r.op.undoCommand() + "`; "
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s has moved to %s, where %s has another log", wording.Printable(from), wording.Printable(to), name),
		Remedy:  undo + "move one of the logs to another directory on its branch, and commit that",
	}
}

// refuseRotations fails if one side rotated a log, and the side whose entries come first has appended to the log: the archive must then have these
// entries too. It looks for rotations in a commit being applied or, in a merge, in our branch if t is the target.
func (r *reconciliation) refuseRotations(base string, t side) error {
	rotating, first, version := r.op.ours, t, "--ours"
	switch {
	case t.picked:
		rotating, first, version = t, r.op.ours, "--theirs"
	case !r.targetKnown || !r.theirsFirst:
		return nil
	}
	archives := r.rotated[rotating.id]
	for _, path := range slices.Sorted(maps.Keys(archives)) {
		if _, bothRotated := r.rotated[first.id][path]; bothRotated || r.files[first.id][path].Object == r.files[base][path].Object {
			continue
		}
		log, archive := wording.Printable(path), wording.Printable(archives[path])
		return &failure.Error{
			Message: fmt.Sprintf("%s rotated %s to %s, but %s has appended to %s", r.messageName(rotating), log, archive, r.messageName(first), log),
			Remedy: fmt.Sprintf("make %s end with everything that %s has in %s, and keep the fresh log: ", archive, r.messageName(first), log) +
				wording.Commands("git checkout "+version+" -- "+wording.TopPath(path), "git add -- "+wording.TopPath(path)+" "+wording.TopPath(archives[path]), r.op.finish),
		}
	}
	return nil
}

// moveFile moves a log in r.files[id]. It notes the new path in r.newPaths, so that the file at the old path is removed.
func (r *reconciliation) moveFile(id, from, to string) {
	f, there := r.files[id][from]
	if from == to || !there {
		return
	}
	f.Path = to
	r.files[id][to] = f
	delete(r.files[id], from)
	r.newPaths[from] = to
	fromDir, _, ok := small.SplitPath(from)
	toDir, _, _ := small.SplitPath(to)
	if !ok {
		return
	}
	for _, a := range mergedArtifacts { // git itself moves these in the index and the work tree
		if f, there := r.files[id][a.Path(fromDir)]; there && r.files[id][a.Path(toDir)].Path == "" {
			f.Path = a.Path(toDir)
			r.files[id][f.Path] = f
		}
	}
}

// oldPaths returns the former paths of the log at a path, sorted.
func (r *reconciliation) oldPaths(path string) []string {
	var out []string
	for from, to := range r.newPaths {
		if to == path {
			out = append(out, from)
		}
	}
	slices.Sort(out)
	return out
}

// planRemovalOfMoved plans to remove logs at their former paths.
func (r *reconciliation) planRemovalOfMoved() error {
	for _, from := range slices.Sorted(maps.Keys(r.newPaths)) {
		if err := r.planRemoval(from); err != nil {
			return err
		}
	}
	return nil
}

// planRemoval plans to remove a file from the work tree and the index.
func (r *reconciliation) planRemoval(path string) error {
	present, err := workgit.ReadFile(r.git.Top, path)
	if err != nil {
		return err
	}
	if _, staged := r.index[path]; staged || present != nil {
		none := strings.Repeat("0", len(r.op.ours.id)) // with mode 0, git removes the path from the index
		r.changes = append(r.changes, change{path: path, mode: "0", blob: none, present: present, removed: true})
	}
	return nil
}
