package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/apply"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// moving is the last step: it moves branch, index and work tree from the commit head to the commit goal. Uncommitted changes of logs and workspaces'
// files are combined with goal's: uncommitted entries then stand last. Other uncommitted changes stay; if goal changes the same file, the move is
// refused.
type moving struct {
	*publishing
	head, goal string
	// changed are the files of goal where it differs from head, by path.
	changed map[string]change
	// index are files to stage before git moves the index. disk maps paths to the content to write to the work tree.
	index []apply.File
	disk  map[string][]byte
	// trackedInTheWay and untrackedInTheWay are files that the move would overwrite.
	trackedInTheWay, untrackedInTheWay []string
	// notes say what was changed in uncommitted entries, and where copies of staged ones are.
	notes []string
	// halfWritten are files of which a killed git wrote only the beginning.
	halfWritten []string
}

// change is a file of goal, as git diff-tree prints it: mode and object are zeros if goal has no such file. added is true if head has none.
type change struct {
	mode, object string
	added        bool
}

// checkMove returns an error if the last step cannot be done.
func (p *publishing) checkMove(ctx context.Context, head, goal string) error {
	m := &moving{publishing: p, head: head, goal: goal}
	return m.plan(ctx)
}

// move does the last step. again is true if somebody has committed meanwhile: then there is more to push, and nothing is moved.
func (p *publishing) move(ctx context.Context, head, goal string) (again bool, err error) {
	if head == goal {
		return false, nil
	}
	err = p.opts.Locked(ctx, func(ctx context.Context) error {
		ctx = context.WithoutCancel(ctx)
		done, err := p.git.runYesNo(ctx, "symbolic-ref", "-q", "HEAD")
		if err == nil {
			err = p.readRefs(ctx)
		}
		switch {
		case err != nil:
			return err
		case trimLine(string(done.Out)) != p.branch:
			return &failure.Error{
				Message: wording.Printable(short(p.branch)) + " is no longer checked out, so it was not moved to " + p.remoteName(),
				Remedy:  "`git switch " + wording.ShellWord(short(p.branch)) + "`, then " + p.git.again,
			}
		case p.refs[p.branch] != head:
			again = true
			return nil
		}
		m := &moving{publishing: p, head: head, goal: goal}
		return m.run(ctx)
	})
	if err != nil || again {
		return again, err
	}
	return false, p.forgetMove(ctx)
}

// run moves branch, index and work tree. If it is killed, the next sync finishes the move.
func (m *moving) run(ctx context.Context) error {
	if err := m.plan(ctx); err != nil {
		return err
	}
	var files []apply.File
	for _, path := range m.halfWritten {
		files = append(files, apply.File{File: history.File{Path: path}, Removed: true})
	}
	for _, f := range m.index {
		f.Content = m.disk[f.Path]
		files = append(files, f)
	}
	_, err := m.place().Do(ctx, staging{m.git}, files, &apply.Move{Ref: m.branch, From: m.head, To: m.goal, Reason: "sync: to " + m.remoteName(), Trees: true})
	if err != nil {
		return err
	}
	m.refs[m.branch] = m.goal
	for _, note := range m.notes {
		m.say("%s", note)
	}
	return nil
}

func (m *moving) place() apply.Place {
	return apply.Place{Top: m.git.Dir, Kept: m.git.gitDir, Again: "run " + m.git.again + " again"}
}

// plan finds out what has to be done before git can move the index and the work tree. It is an error if something is in the way.
func (m *moving) plan(ctx context.Context) error {
	if _, err := m.git.run(ctx, "update-index", "-q", "--refresh"); err != nil {
		return err
	}
	_, refused := m.git.run(ctx, "read-tree", "-m", "-u", "-n", m.head, m.goal)
	if refused == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	dirty, err := m.git.runPaths(ctx, "diff-index", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z", m.head, "--")
	if err == nil {
		err = m.compare(ctx)
	}
	if err == nil {
		err = m.errHidden(ctx)
	}
	if err != nil {
		return err
	}
	return m.opts.Combining(ctx, m.goal, m.head, func(c *reconcile.Combiner) error {
		var files []string
		for _, path := range slices.Sorted(maps.Keys(m.changed)) {
			found, err := m.findObstacle(path)
			isDirty := slices.Contains(dirty, path)
			switch {
			case err != nil:
				return err
			case !isDirty && (!m.changed[path].added || found == ""), m.changed[path].mode == history.ModeSubmodule: // git leaves submodules alone
			case c.Merges(path):
				files = append(files, path)
			default:
				if err := m.planCode(ctx, path, found, isDirty); err != nil {
					return err
				}
			}
		}
		switch {
		case len(m.trackedInTheWay)+len(m.untrackedInTheWay) > 0:
			return m.errInTheWay()
		case len(files)+len(m.index)+len(m.halfWritten) == 0:
			return refused
		}
		return m.planMerged(ctx, c, files)
	})
}

// compare finds the files in which head and goal differ.
func (m *moving) compare(ctx context.Context) error {
	fields, err := m.git.runPaths(ctx, "diff-tree", "-r", "-z", "--no-renames", m.head, m.goal)
	m.changed = map[string]change{}
	for pair := range slices.Chunk(fields, 2) { // :mode mode object object status, path
		if info := strings.Fields(pair[0]); len(pair) == 2 && len(info) == 5 {
			m.changed[pair[1]] = change{mode: info[1], object: info[3], added: info[4] == "A"}
		}
	}
	return err
}

// findObstacle finds what stands in the work tree where a path is to be written: a file or directory at that path, or a file in place of a
// directory above it. It is
// empty if nothing stands there, or only what git is about to remove.
func (m *moving) findObstacle(path string) (string, error) {
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '/' {
			continue
		}
		at := path[:end]
		info, err := os.Lstat(m.fullPath(at))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case err != nil:
			return "", &failure.Error{Message: "cannot look at " + wording.Printable(path) + ": " + wording.Printable(err.Error()), Err: err}
		case info.IsDir() && at == path:
			for other := range m.changed {
				if strings.HasPrefix(other, at+"/") {
					return "", nil
				}
			}
			return at, nil
		case !info.IsDir() && at != path && m.changed[at].mode != "":
			return "", nil
		case !info.IsDir() || at == path:
			return at, nil
		}
	}
	return "", nil
}

func (m *moving) fullPath(path string) string {
	return filepath.Join(m.git.Dir, filepath.FromSlash(path))
}

// stageNew plans to stage goal's file at a path.
func (m *moving) stageNew(path string) {
	m.index = append(m.index, apply.File{File: history.File{Path: path, Mode: m.changed[path].mode, Object: m.changed[path].object}})
}

// planCode plans for a file that git merges, where the work tree differs from head. A killed sync may have left it as goal has it, or half
// written; otherwise it is in the way. found is the result of findObstacle. dirty is true if git knows the file and it differs from head; else it is
// an untracked one.
func (m *moving) planCode(ctx context.Context, path, found string, dirty bool) error {
	same, begins := found == "" && strings.Trim(m.changed[path].mode, "0") == "", false
	if info, err := os.Lstat(m.fullPath(path)); found == path && err == nil && info.Mode().IsRegular() {
		data, err := os.ReadFile(m.fullPath(path))
		if err != nil {
			return &failure.Error{Message: "cannot read " + wording.Printable(path) + ": " + wording.Printable(err.Error()), Err: err}
		}
		whole, err := m.git.Run(ctx, nil, "cat-file", "--filters", "--path="+path, m.changed[path].object) // the status is not 0 if goal has no such file
		if err != nil {
			return err
		}
		same = whole.Status == 0 && bytes.Equal(whole.Out, data)
		begins = whole.Status == 0 && bytes.HasPrefix(whole.Out, data) && m.finishingEarlier
	}
	switch {
	case same:
		m.stageNew(path)
	case begins:
		m.halfWritten = append(m.halfWritten, path)
	case dirty:
		m.trackedInTheWay = append(m.trackedInTheWay, path)
	case !slices.Contains(m.untrackedInTheWay, found):
		m.untrackedInTheWay = append(m.untrackedInTheWay, found)
	}
	return nil
}

// planMerged plans to combine the uncommitted changes in files that reconcile merges with goal's files. As in a rebase, ours is goal and theirs is the work
// tree.
func (m *moving) planMerged(ctx context.Context, c *reconcile.Combiner, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	theirs := reconcile.Side{Name: "the work tree", ID: reconcile.WorkTreeID, Picked: true}
	head, err := c.Files(ctx, m.head)
	if err == nil {
		theirs.Files, err = c.FilesOnDisk(ctx, paths, head)
	}
	if err != nil {
		return err
	}
	ours := reconcile.Side{Name: m.remoteName(), ID: m.goal}
	if ours.Files, err = c.Files(ctx, m.goal); err != nil {
		return err
	}
	base := reconcile.Side{Name: history.Short(m.head), ID: m.head, Files: head}
	lackEntriesOfHead, err := c.LogsLacking(ctx, theirs.Files, head, paths)
	if err != nil {
		return err
	}
	if len(lackEntriesOfHead) > 0 {
		// A killed sync may have written goal's logs already: then the work tree is compared with goal.
		lackEntriesOfGoal, err := c.LogsLacking(ctx, theirs.Files, ours.Files, paths)
		if err != nil {
			return err
		}
		if len(lackEntriesOfGoal) > 0 {
			return &failure.Error{
				Message: listPaths(lackEntriesOfHead) + " in the work tree lacks entries that are committed",
				Remedy:  "put them back: `small-hook restore`, then " + m.git.again,
			}
		}
		base = reconcile.Side{Name: m.remoteName(), ID: m.goal, Files: ours.Files}
	}
	theirs.Bases = []reconcile.Side{base}
	merged, _, err := c.Combine(ctx, ours, theirs)
	if err != nil {
		f := *failure.Of(err)
		words := topPaths(wholeWorkspaces(paths))
		// git commit alone refuses a path that git does not know yet.
		f.Remedy = "commit it: `git add -- " + words + "`, `git commit -q -m 'Record the workspace' -- " + words + "`, then " + m.git.again
		return &f
	}
	if merged, m.notes, err = c.ReplaceCommitIDs(ctx, merged, ours.Files, m.newIDs); err == nil {
		err = m.keepStaged(ctx, c, theirs.Files, paths)
	}
	if err != nil {
		return err
	}
	m.disk = map[string][]byte{}
	for _, path := range paths {
		m.stageNew(path)
		f, ok := merged[path]
		if !ok || f == theirs.Files[path] {
			continue
		}
		if m.disk[path], err = c.CheckedOut(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// keepStaged keeps copies of the staged logs, among paths, that have entries which the work tree's logs lack: the index gets goal's logs.
func (m *moving) keepStaged(ctx context.Context, c *reconcile.Combiner, onDisk reconcile.Files, paths []string) error {
	staged, err := c.Files(ctx, history.Index)
	if err != nil {
		return err
	}
	lacking, err := c.LogsLacking(ctx, onDisk, staged, paths)
	for _, path := range lacking {
		var text []byte
		var name string
		if text, err = c.CheckedOut(ctx, staged[path]); err == nil {
			name, err = apply.Place{Kept: filepath.Join(m.git.gitDir, ownDir), Again: m.place().Again}.Keep(path, text)
		}
		if err != nil {
			return err
		}
		m.notes = append(m.notes, fmt.Sprintf("%s: entries were staged that the work tree's log lacks; a copy of what was staged: %s", wording.Printable(path), wording.Printable(name)))
	}
	return err
}

// errHidden returns the failure of a move that would overwrite files that have changed on disk and are marked skip-worktree or assume-unchanged; nil if
// there are none.
func (m *moving) errHidden(ctx context.Context) error {
	lines, err := m.git.runPaths(ctx, "ls-files", "-v", "-z", "--full-name", ":/")
	var paths []string
	var commands string
	for _, line := range lines {
		mark := githistory.ParseMark(line)
		if _, changes := m.changed[mark.Path]; !changes || len(mark.Names()) == 0 {
			continue
		}
		whole, err := m.git.Run(ctx, nil, "cat-file", "--filters", m.head+":"+mark.Path)
		if err != nil {
			return err
		}
		if data, readErr := os.ReadFile(m.fullPath(mark.Path)); !errors.Is(readErr, fs.ErrNotExist) && !bytes.Equal(whole.Out, data) {
			paths = append(paths, mark.Path)
			commands += finding.HiddenLog{Path: mark.Path, Marks: mark.Names(), Root: m.git.Dir}.Fix() + ", then "
		}
	}
	if err != nil || len(paths) == 0 {
		return err
	}
	return &failure.Error{
		Message: fmt.Sprintf("git was told to ignore changes of %s on disk, and %s changes it too", listPaths(paths), m.remoteName()),
		Remedy:  "have git look at their changes again: " + commands + m.git.again,
	}
}

// wholeWorkspaces replaces workspaces' files by their .small folders: the hooks refuse a part of a new workspace.
func wholeWorkspaces(paths []string) (out []string) {
	for _, path := range paths {
		if dir, _, inside := small.SplitPath(path); inside {
			path = small.InDir(dir, "")
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// errInTheWay returns the failure of a move that would overwrite uncommitted files.
func (m *moving) errInTheWay() error {
	var commands string
	for _, path := range m.untrackedInTheWay {
		to := m.fullPath(path) + ".own"
		for _, err := os.Lstat(to); err == nil; _, err = os.Lstat(to) {
			to += ".own"
		}
		commands += "`mv -- " + wording.ShellWord(m.fullPath(path)) + " " + wording.ShellWord(to) + "`, then "
	}
	if len(m.trackedInTheWay) > 0 {
		commands += "`git commit -m 'Work in progress' -- " + topPaths(m.trackedInTheWay) + "`, then "
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s is not committed, and %s changes it too", listPaths(slices.Concat(m.untrackedInTheWay, m.trackedInTheWay)), m.remoteName()),
		Remedy:  commands + m.git.again,
	}
}
