package restore

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// logAt returns the path that the log has in an old commit.
func (m *mending) logAt(id string) string { return cmp.Or(m.movedTo[id], m.firstPath) }

// findMoves finds, in a list with parents first, the commits that move or rotate the log, and fills m.movedTo and m.archives. It ignores moves before
// the commit to mend: firstPath is the log's path after them.
func (m *mending) findMoves(ctx context.Context, list []string) error {
	var edges []history.Edge
	for _, id := range list {
		edges = append(edges, history.EdgesOf(id, m.parents[id])...)
	}
	filter := history.Workspaces()
	if m.At != "" {
		filter = history.Judged(m.Policy)
	}
	changed, err := m.repo.Diff(ctx, edges, filter)
	if err != nil {
		return err
	}
	nonAncestors, descendants := m.nonAncestors(m.toMend), m.descendants(m.toMend)
	for i, changes := range changed {
		id := edges[i].Child
		at := slices.IndexFunc(changes, func(c history.Change) bool { return c.Path == m.logAt(id) && c.Old.Regular() })
		if at < 0 {
			continue
		}
		to, err := m.findNewPath(ctx, changes[at], changes)
		switch {
		case err != nil:
			return err
		case to == "":
		case changes[at].New.Mode != "":
			// Mend cannot combine the log of a branch with that of a parallel branch that rotated it.
			isParallel := !descendants[id] && slices.Contains(nonAncestors, id)
			if !isParallel && m.At != "" && edges[i].Parent == m.parents[id][0] && (id != m.toMend || len(m.parents[id]) == 1) {
				m.archives[id] = to
			}
		case slices.Contains(nonAncestors, id):
			if err := m.setMoved(ctx, id, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// setMoved records that the log is at the path to in a commit, in its descendants, and in those of its parents that have a file there. A parent of a
// merge has one if its branch moved the log.
func (m *mending) setMoved(ctx context.Context, id, to string) error {
	for d := range m.descendants(id) {
		m.movedTo[d] = to
	}
	for _, p := range m.parents[id] {
		if f, err := findFile(ctx, m.repo, p, to); err != nil {
			return err
		} else if f.Mode != "" {
			m.movedTo[p] = to
		}
	}
	return nil
}

// findNewPath returns the path to which one of a commit's changes, c, moves or rotates the log; empty if it does neither.
func (m *mending) findNewPath(ctx context.Context, c history.Change, changes []history.Change) (path string, err error) {
	added := slices.DeleteFunc(slices.Clone(changes), func(c history.Change) bool {
		return c.Old.Mode != "" || !c.New.Regular() || !m.isLogPath(c.Path)
	})
	if len(added) == 0 {
		return "", nil
	}
	path, err = m.findCopy(ctx, c, added)
	if err == nil && path == "" && len(added) == 1 && c.New.Mode == "" && m.At == "" {
		return m.findLossyMove(ctx, c.Old, added[0])
	}
	return path, err
}

// findCopy returns the path of the added log that begins with the text that the changed log had before; empty if there is none, or more than one, or
// if the changed log still begins with that text.
func (m *mending) findCopy(ctx context.Context, c history.Change, added []history.Change) (path string, err error) {
	was, err := m.objects.Blob(ctx, c.Old.Object)
	if err != nil || len(was) == 0 {
		return "", err
	}
	for _, other := range append(added, c) {
		if !other.New.Regular() {
			continue
		}
		now, err := m.objects.Blob(ctx, other.New.Object)
		switch {
		case err != nil:
			return "", err
		case !bytes.HasPrefix(now, was):
		case path != "" || other.Path == c.Path:
			return "", nil
		default:
			path = other.Path
		}
	}
	return path, nil
}

// takeLogOf sets m.Workspace to the workspace where HEAD's old commit has the log. It returns an error if that log is in conflict, as after git stash
// pop.
func (m *mending) takeLogOf(ctx context.Context, old string, environ []string) (err error) {
	again := m.sameCommand()
	if to := m.logAt(old); to != m.firstPath {
		if m.Workspace, err = m.options.MovedTo(to); err != nil {
			return err
		}
	}
	conflict, findErr := m.FindConflict(ctx, m.repo, environ) // a link is set aside later; any other error comes up again
	if findErr != nil || conflict == nil {
		return nil //nolint:nilerr // see above
	}
	conflict.Remedy += ", then " + again
	return conflict
}

// findLossyMove returns the path of the added log if it has at least one entry of old, a log that the same commit deletes; else it returns "".
func (m *mending) findLossyMove(ctx context.Context, old history.File, added history.Change) (path string, err error) {
	var logs [2]*ledger.Ledger
	for i, f := range []history.File{old, added.New} {
		text, err := m.objects.Blob(ctx, f.Object)
		if err != nil {
			return "", err
		}
		logs[i] = m.readEntries(text)
	}
	if len(ledger.Only(logs[0], logs[1], ledger.Equivalence{})) == logs[0].Len() {
		return "", nil
	}
	return added.Path, nil
}

// hasNoLog reports whether neither the commit to mend nor its parents have the log or a profile of 2.0.0.
func (m *mending) hasNoLog(ctx context.Context) (bool, error) {
	for _, id := range append(slices.Clone(m.parents[m.toMend]), m.toMend) {
		for _, path := range []string{m.firstPath, small.InDir(m.Dir, records.ProfileFile)} {
			if f, err := findFile(ctx, m.repo, id, path); err != nil || f.Mode != "" {
				return false, err
			}
		}
	}
	return true, nil
}

// isLogPath reports whether the file at a path would be a log of the same kind: a workspace's log, or a configured log.
func (m *mending) isLogPath(path string) bool {
	if m.At != "" {
		return m.Policy.LogFor(path) != nil
	}
	return read.IsProgress(path)
}

// mendArchive changes the archive to which a commit rotated the log, so that it begins with the log of the commit's new parent. The archive changes
// in later commits, too, where it is still the same file.
func (m *mending) mendArchive(ctx context.Context, id, parent string) error {
	path, old := m.archives[id], m.parents[id][0]
	was, err := m.readLogText(ctx, old)
	if err != nil {
		return err
	}
	is, err := m.readLogText(ctx, parent)
	if err != nil || bytes.Equal(was, is) {
		return err
	}
	s := substitution{since: id}
	if s.from, err = findFile(ctx, m.repo, id, path); err != nil {
		return err
	}
	text, err := m.objects.Blob(ctx, s.from.Object)
	if err != nil {
		return err
	}
	s.to = s.from
	s.to.Object, err = m.objects.Store(ctx, slices.Concat(is, bytes.TrimPrefix(text, was)))
	m.substitutions[path] = s
	return err
}
