package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
)

// ancestry holds commits with all their ancestors, and what each changed in logs. loadAncestry adds a commit when it is first needed. A commit's
// number is its index in commits.
type ancestry struct {
	commits []ancestor     // parents before children
	number  map[string]int // by the commit's id
	// tips are commits from which all the loaded ones can be reached.
	tips []string
	// first is the number of the first commit that touches a path.
	first map[string]int
	// last holds, by path and commit number, the versions that a later log has to continue. lastVersions fills it.
	last map[string][][]*version
}

func newAncestry() *ancestry {
	return &ancestry{number: map[string]int{}, first: map[string]int{}, last: map[string][][]*version{}}
}

type ancestor struct {
	id      string
	parents []int
	// changes holds the changes of logs, by edge.
	changes [][]history.Change
	// configures is true if the commit changes the configuration.
	configures bool
}

// version is the file that a commit put at a path. If it cannot be read as a log, the versions that it replaced, in before, count instead.
type version struct {
	file   history.File
	before []*version
}

// loadAncestry loads a commit and its ancestors, and returns the commit's number.
func (src *Source) loadAncestry(ctx context.Context, commit string) (*ancestry, int, error) {
	a := src.ancestry
	if n, known := a.number[commit]; known {
		return a, n, nil
	}
	commits, err := src.Commits(ctx, []string{commit}, a.tips)
	if err != nil {
		return nil, 0, err
	}
	changes, err := src.ChangesOf(ctx, commits)
	if err != nil {
		return nil, 0, err
	}
	for i, c := range commits {
		src.noteAncestor(c, changes[i])
	}
	a.tips = append(a.tips, commit)
	return a, a.number[commit], nil
}

// noteAncestor adds a commit whose parents are already there.
func (src *Source) noteAncestor(n history.Commit, changes [][]history.Change) {
	a, c := src.ancestry, ancestor{id: n.ID}
	for _, p := range n.Parents {
		c.parents = append(c.parents, a.number[p])
	}
	for _, edge := range changes {
		var logs []history.Change
		for _, change := range edge {
			c.configures = c.configures || src.Policy.Configures(change.Path)
			if !src.IsLog(change.Path) || src.IsFileEntry(change.Path) && src.Policy.LogFor(change.Path) == nil {
				continue // nobody asks for earlier versions of a record of 2.0.0: LastReadable does not, and only a stanza has `since`
			}
			logs = append(logs, change)
			if _, known := a.first[change.Path]; !known {
				a.first[change.Path] = len(a.commits)
			}
		}
		c.changes = append(c.changes, logs)
	}
	a.number[n.ID] = len(a.commits)
	a.commits = append(a.commits, c)
}

// NoteHistory adds the commits of a whole history to the ancestry, so that they are not read again.
func (src *Source) NoteHistory(commits []history.Commit, changes [][][]history.Change) {
	isParent := map[string]bool{}
	for i, c := range commits {
		if history.Uncommitted(c.ID) {
			continue
		}
		src.noteAncestor(c, changes[i])
		for _, p := range c.Parents {
			isParent[p] = true
		}
	}
	for _, c := range commits {
		if !isParent[c.ID] && !history.Uncommitted(c.ID) {
			src.ancestry.tips = append(src.ancestry.tips, c.ID)
		}
	}
}

// reachableFrom marks a commit and its ancestors, by number.
func (a *ancestry) reachableFrom(n int) []bool {
	seen := make([]bool, n+1)
	seen[n] = true
	for i := n; i >= 0; i-- {
		if seen[i] {
			for _, p := range a.commits[i].parents {
				seen[p] = true
			}
		}
	}
	return seen
}

// lastVersions lists the last file that a commit or its ancestors put at a path. If branches were merged, each may have another last file.
func (src *Source) lastVersions(ctx context.Context, n int, path string) ([]*version, error) {
	a := src.ancestry
	if first, known := a.first[path]; !known || first > n {
		return nil, nil
	}
	for i := len(a.last[path]); i <= n; i++ {
		after, err := src.versionsAfter(ctx, a.last[path], &a.commits[i], path)
		if err != nil {
			return nil, err
		}
		a.last[path] = append(a.last[path], after)
	}
	return a.last[path][n], nil
}

// versionsAfter lists the last files at a path after a commit. last holds those after each earlier commit.
func (src *Source) versionsAfter(ctx context.Context, last [][]*version, c *ancestor, path string) ([]*version, error) {
	var now history.File
	var inherited []*version
	for i, edge := range c.changes {
		change, changed := history.ChangeAt(edge, path)
		if changed && change.New.Mode != "" {
			now = change.New
		}
		if i >= len(c.parents) { // a root has an edge, but no parent
			break
		}
		if changed && change.New.Mode == "" {
			if gone, err := src.movedOrRotated(ctx, c, i, path); err != nil || gone {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		inherited = addVersions(inherited, last[c.parents[i]])
	}
	if now.Mode == "" {
		return inherited, nil
	}
	return []*version{{file: now, before: inherited}}, nil
}

// movedOrRotated reports whether a configured log moved on an edge to another path at which logs are judged, or went to an archive with all its entries. A new log
// may then begin at the old path.
func (src *Source) movedOrRotated(ctx context.Context, c *ancestor, edge int, path string) (bool, error) {
	if src.Policy.LogFor(path) == nil || src.IsFamilyLog(path) {
		return false, nil
	}
	var parents []string
	for _, p := range c.parents {
		parents = append(parents, src.ancestry.commits[p].id)
	}
	x := moveSearch{parent: parents[edge], child: c.id, changes: c.changes[edge], combines: len(parents) > 1, parents: parents}
	moved, err := src.findMoves(ctx, x)
	if err != nil {
		return false, err
	}
	if _, is := moved[path]; is {
		return true, nil
	}
	rotated, err := src.findRotations(ctx, x, moved)
	return err == nil && rotated[path].whole(), err
}

// addVersions returns the versions of both lists, each once. Two versions with the same content both stay: if they cannot be read, the versions
// before them count, which may differ. It does not change its arguments, because commits share them.
func addVersions(to, more []*version) []*version {
	if len(to) == 0 {
		return more
	}
	out := slices.Clip(to)
	for _, v := range more {
		if !slices.Contains(to, v) {
			out = append(out, v)
		}
	}
	return out
}

// LastReadable finds the logs that a later log at a path has to continue if a commit has no readable log there: the last readable version among
// the commit's ancestors or, if several branches were merged, that of each branch. A log that moved away still counts, unless it is a configured
// log. A log whose removal is waived does not count.
func (src *Source) LastReadable(ctx context.Context, commit, path string) ([]*LedgerFile, error) {
	if commit == "" || src.IsFileEntry(path) { // an immutable file that was deleted may come back: the commit that deleted it has the finding
		return nil, nil
	}
	_, n, err := src.loadAncestry(ctx, commit)
	if err != nil {
		return nil, err
	}
	next, err := src.lastVersions(ctx, n, path)
	if err != nil {
		return nil, err
	}
	var out []*LedgerFile
	seen := map[*version]bool{}
	for ; len(next) > 0; next = next[1:] {
		v := next[0]
		if seen[v] {
			continue
		}
		seen[v] = true
		log, err := src.ReaderOf(path).Read(ctx, v.file, nil)
		if err != nil {
			return nil, err
		}
		switch {
		case !log.Readable():
			next = append(slices.Clip(next), v.before...)
		case src.removalWaived(path, log):
		case !slices.Contains(out, log):
			out = append(out, log)
		}
	}
	return out, nil
}

// removalWaived reports whether a waiver allows a log to be gone, so that another may begin at its path.
func (src *Source) removalWaived(path string, log *LedgerFile) bool {
	head := src.Policy.LogFor(path).Head(log.Log.Ledger)
	return slices.ContainsFunc(src.Policy.Waivers, func(w policy.Waiver) bool {
		return w.Edit.Has(ledger.LogEnded) && w.Path == path && w.From != nil && *w.From == head && !w.Expired(src.Now)
	})
}
