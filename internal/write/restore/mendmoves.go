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

// findMoves finds the commits in a list (parents first) that move or rotate the log, and fills m.movedTo and m.archives. It ignores moves in
// ancestors of the commit to mend: m.firstPath is the log's path after these moves.
func (m *mending) findMoves(ctx context.Context, list []string) error {
	var edges []history.Edge
	for _, id := range list {
		edges = append(edges, history.EdgesOf(id, m.parents[id])...)
	}
	filter := history.Workspaces()
	if !m.isWorkspaceLog() {
		filter = history.Judged(m.Policy)
	}
	changed, err := m.repo.Diff(ctx, edges, filter)
	if err != nil {
		return err
	}
	nonAncestors, descendants := m.nonAncestors(m.toMend), m.descendants(m.toMend)
	for i, changes := range changed {
		id := edges[i].Child
		index := slices.IndexFunc(changes, func(c history.Change) bool { return c.Path == m.logAt(id) && c.Old.Regular() })
		if index < 0 {
			continue
		}
		logChange := changes[index]
		newPath, err := m.findNewPath(ctx, logChange, changes)
		switch {
		case err != nil:
			return err
		case newPath == "":
		case logChange.New.Mode != "": // the log is still there: the commit rotated it
			// Mend cannot combine a branch's log with the log of a parallel branch that rotated it. A rotation on a parallel branch is not noted: the
			// log there counts as one that lost entries.
			isParallel := !descendants[id] && slices.Contains(nonAncestors, id)
			if !isParallel && !m.isWorkspaceLog() && edges[i].Parent == m.parents[id][0] && (id != m.toMend || len(m.parents[id]) == 1) {
				m.archives[id] = newPath
			}
		case slices.Contains(nonAncestors, id):
			if err := m.setMoved(ctx, id, newPath); err != nil {
				return err
			}
		}
	}
	return nil
}

// setMoved records that the log is at newPath in a commit and in its descendants. It records the same for each parent that has a file there: if the
// commit is a merge, the branch of that parent moved the log.
func (m *mending) setMoved(ctx context.Context, id, newPath string) error {
	for d := range m.descendants(id) {
		m.movedTo[d] = newPath
	}
	for _, p := range m.parents[id] {
		if f, err := findFile(ctx, m.repo, p, newPath); err != nil {
			return err
		} else if f.Mode != "" {
			m.movedTo[p] = newPath
		}
	}
	return nil
}

// findNewPath returns the path to which a commit moves or rotates the log; empty if the commit does neither. changes are all changes of the commit,
// logChange is the change of the log.
func (m *mending) findNewPath(ctx context.Context, logChange history.Change, changes []history.Change) (path string, err error) {
	added := slices.DeleteFunc(slices.Clone(changes), func(c history.Change) bool {
		return c.Old.Mode != "" || !c.New.Regular() || !m.isLogPath(c.Path)
	})
	if len(added) == 0 {
		return "", nil
	}
	path, err = m.findCopy(ctx, logChange, added)
	if err == nil && path == "" && len(added) == 1 && logChange.New.Mode == "" && m.isWorkspaceLog() {
		return m.findLossyMove(ctx, logChange.Old, added[0])
	}
	return path, err
}

// findCopy returns the path of the added log that begins with the old text of the log. It returns "" if no added log or more than one begins with it,
// or if the log itself still begins with it. logChange is the change of the log.
func (m *mending) findCopy(ctx context.Context, logChange history.Change, added []history.Change) (path string, err error) {
	oldText, err := m.objects.Blob(ctx, logChange.Old.Object)
	if err != nil || len(oldText) == 0 {
		return "", err
	}
	for _, c := range append(added, logChange) {
		if !c.New.Regular() {
			continue
		}
		text, err := m.objects.Blob(ctx, c.New.Object)
		switch {
		case err != nil:
			return "", err
		case !bytes.HasPrefix(text, oldText):
		case path != "" || c.Path == logChange.Path:
			return "", nil
		default:
			path = c.Path
		}
	}
	return path, nil
}

// enterWorkspaceOfHead sets m.Workspace to the workspace in which HEAD has the log. It returns an error if the log has a conflict there, as after git
// stash pop. oldHead is HEAD's commit before the rewriting.
func (m *mending) enterWorkspaceOfHead(ctx context.Context, oldHead string, environ []string) (err error) {
	again := m.sameCommand()
	if path := m.logAt(oldHead); path != m.firstPath {
		if m.Workspace, err = m.options.LockWorkspaceOf(path); err != nil {
			return err
		}
	}
	// Ignore the error: a symbolic link in the log's place is set aside later, and whatever else prevents reading is reported by the next read.
	conflict, findErr := m.FindConflict(ctx, m.repo, environ)
	if findErr != nil || conflict == nil {
		return nil //nolint:nilerr // see above
	}
	conflict.Remedy += ", then " + again
	return conflict
}

// findLossyMove returns the path of the log that a commit adds, if that log has at least one entry of old, the log that the commit deletes. Otherwise
// it returns "".
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

// isLogPath reports whether a file at a path is a log of the same kind as the log to mend: a workspace's log, or a configured log.
func (m *mending) isLogPath(path string) bool {
	if m.isWorkspaceLog() {
		return read.IsProgress(path)
	}
	return m.Policy.LogFor(path) != nil
}

// mendArchive replaces the archive to which a commit rotated the log: the new archive begins with the log of newParent, the commit's new parent. The
// substitution replaces the archive in later commits, too.
func (m *mending) mendArchive(ctx context.Context, id, newParent string) error {
	path := m.archives[id]
	oldLog, err := m.readLogText(ctx, m.parents[id][0])
	if err != nil {
		return err
	}
	newLog, err := m.readLogText(ctx, newParent)
	if err != nil || bytes.Equal(oldLog, newLog) {
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
	s.to.Object, err = m.objects.Store(ctx, slices.Concat(newLog, bytes.TrimPrefix(text, oldLog)))
	m.substitutions[path] = s
	return err
}
