package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/wording"
)

// moving is the last step: it brings branch, index and work tree from one commit to another. Uncommitted entries, and what else is
// uncommitted in the workspaces' files, come after what the new commit has. All else that is uncommitted stays, or is in the way.
type moving struct {
	*publishing
	head, goal string
	// changed are the entries of the new commit by path, in the form of git update-index --index-info, where the commits differ.
	changed map[string]entry
	// index are those that the index is to have before git moves it, and disk the files that are written.
	index []string
	disk  map[string][]byte
	// inTheWay are files that would be overwritten.
	inTheWay []string
}

// entry is a file of a commit; mode and object are zeros if it has none. added is true if the other commit has none.
type entry struct {
	mode, object string
	added        bool
}

// movable fails if the last step could not be done.
func (p *publishing) movable(ctx context.Context, head, goal string) error {
	m := &moving{publishing: p, head: head, goal: goal}
	if err := m.plan(ctx); err != nil {
		return err
	}
	index, err := m.git.run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return err
	}
	apart := filepath.Join(m.git.gitDir, ownDir, "index")
	data, err := os.ReadFile(index)
	if err == nil {
		err = os.WriteFile(apart, data, 0o600)
	}
	if err != nil {
		return cannotWrite(err)
	}
	err = m.moveIndex(ctx, m.git.with("GIT_INDEX_FILE="+apart), "-n")
	if failed := os.Remove(apart); err == nil && failed != nil {
		err = cannotWrite(failed)
	}
	return err
}

// move is the last step. again is true if somebody has committed meanwhile, so that there is more to push.
func (p *publishing) move(ctx context.Context, head, goal string) (again bool, err error) {
	if head == goal {
		return false, nil
	}
	err = p.opts.Locked(ctx, func(ctx context.Context) error {
		ctx = context.WithoutCancel(ctx)
		done, err := p.git.ask(ctx, "symbolic-ref", "-q", "HEAD")
		if err == nil {
			err = p.look(ctx)
		}
		switch {
		case err != nil:
			return err
		case trimmed(done.out) != p.branch:
			return &failure.Error{
				Message: wording.Printable(short(p.branch)) + " is not checked out any more, so it was not brought to " + p.name(),
				Remedy:  "`git switch " + wording.ShellWord(short(p.branch)) + "`, then `small-hook sync`",
			}
		case p.refs[p.branch] != head:
			again = true
			return nil
		}
		m := &moving{publishing: p, head: head, goal: goal}
		return m.do(ctx)
	})
	return again, err
}

// do moves all. Killed at any point, it leaves what the next sync ends: each file is as it was, or as it will be.
func (m *moving) do(ctx context.Context) error {
	if err := m.plan(ctx); err != nil {
		return err
	}
	for path, text := range m.disk {
		file := filepath.Join(m.git.Dir, filepath.FromSlash(path))
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil {
			err = wholefile.WriteVia(m.git.gitDir, file, text)
		}
		if err != nil {
			return cannotWrite(err)
		}
	}
	if err := m.moveIndex(ctx, m.git); err != nil {
		return err
	}
	lines := fmt.Sprintf("update %s %s %s\n", m.branch, m.goal, m.head) + m.forgetting()
	if _, err := m.git.tell(ctx, lines, "update-ref", "-m", "sync: to "+m.name(), "--stdin"); err != nil {
		return err
	}
	m.refs[m.branch] = m.goal
	delete(m.refs, m.from())
	delete(m.refs, m.to())
	return nil
}

// moveIndex moves the index, and with it the files that are as it has them. Another git that is at work for a moment is waited for.
func (m *moving) moveIndex(ctx context.Context, git *commandLine, flags ...string) error {
	commands := [][]string{slices.Concat([]string{"read-tree", "-m", "-u"}, flags, []string{m.head, m.goal})}
	if len(m.index) > 0 {
		commands = append([][]string{{"update-index", "-z", "--index-info"}}, commands...)
	}
	for _, command := range commands {
		const tries = 40
		for n := range tries {
			_, err := git.tell(ctx, strings.Join(m.index, ""), command...)
			if err == nil {
				break
			}
			if _, held := os.Lstat(filepath.Join(git.gitDir, "index.lock")); held != nil || n == tries-1 {
				return m.blocked(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

// plan finds out what the last step has to do besides git. It fails if something is in the way.
func (m *moving) plan(ctx context.Context) error {
	if _, err := m.git.run(ctx, "update-index", "-q", "--refresh"); err != nil {
		return err
	}
	dirty, err := m.git.paths(ctx, "diff-index", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z", m.head, "--")
	if err == nil {
		err = m.compare(ctx)
	}
	if err != nil {
		return err
	}
	var mine []string
	var there map[string]bool
	for path, e := range m.changed {
		if !e.added && !slices.Contains(dirty, path) {
			continue
		}
		if there == nil {
			there = map[string]bool{}
		}
		if there[path], err = m.exists(path); err != nil {
			return err
		}
		if there[path] || !e.added {
			mine = append(mine, path)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	slices.Sort(mine)
	return m.opts.Combining(ctx, m.goal, m.head, func(c *reconcile.Combiner) error {
		for _, path := range mine {
			if !c.Merges(path) {
				if err := m.other(ctx, path, there[path]); err != nil {
					return err
				}
			}
		}
		if len(m.inTheWay) > 0 {
			return m.blocked(nil)
		}
		return m.workspaces(ctx, c, slices.DeleteFunc(mine, func(path string) bool { return !c.Merges(path) }))
	})
}

// compare lists what differs between the commits.
func (m *moving) compare(ctx context.Context) error {
	fields, err := m.git.paths(ctx, "diff-tree", "-r", "-z", "--no-renames", m.head, m.goal)
	m.changed = map[string]entry{}
	for pair := range slices.Chunk(fields, 2) { // :mode mode object object status, path
		if about := strings.Fields(pair[0]); len(pair) == 2 && len(about) == 5 {
			m.changed[pair[1]] = entry{mode: about[1], object: about[3], added: about[4] == "A"}
		}
	}
	return err
}

// exists reports whether there is a file at a path of the work tree, or one in the place of a directory above it.
func (m *moving) exists(path string) (bool, error) {
	_, err := os.Lstat(filepath.Join(m.git.Dir, filepath.FromSlash(path)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err == nil, errors.Is(err, syscall.ENOTDIR):
		return true, nil
	}
	return false, &failure.Error{Message: "cannot look at " + wording.Printable(path) + ": " + err.Error(), Err: err}
}

// stage has the index take a path as the new commit has it.
func (m *moving) stage(path string) {
	m.index = append(m.index, fmt.Sprintf("%s %s\t%s\x00", m.changed[path].mode, m.changed[path].object, path))
}

// other looks at a file of no workspace that is not as the old commit has it. It may be as the new one has it already: then a sync was
// killed here.
func (m *moving) other(ctx context.Context, path string, there bool) error {
	e := m.changed[path]
	gone := strings.Trim(e.mode, "0") == ""
	switch {
	case e.mode == "160000": // a submodule, which git leaves alone
		return nil
	case there && !gone:
		done, err := m.git.try(ctx, "hash-object", "--path="+path, "--", filepath.Join(m.git.Dir, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		if trimmed(done.out) == e.object {
			m.stage(path)
			return nil
		}
	case !there && gone:
		m.stage(path)
		return nil
	}
	m.inTheWay = append(m.inTheWay, path)
	return nil
}

// workspaces combines what is uncommitted in the files of workspaces with what the new commit has.
func (m *moving) workspaces(ctx context.Context, c *reconcile.Combiner, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	theirs := reconcile.Side{Name: "the work tree", ID: reconcile.WorkTreeID, Picked: true}
	head, err := c.Files(ctx, m.head)
	if err == nil {
		theirs.Files, err = c.OnDisk(ctx, paths, head)
	}
	if err != nil {
		return err
	}
	ours := reconcile.Side{Name: m.name(), ID: m.goal}
	if ours.Files, err = c.Files(ctx, m.goal); err != nil {
		return err
	}
	base := reconcile.Side{Name: history.Short(m.head), ID: m.head, Files: head}
	lacking, err := c.Lacks(ctx, theirs.Files, head, paths)
	if err != nil {
		return err
	}
	if len(lacking) > 0 { // unless a sync that was killed has brought the log there already
		moved, err := c.Lacks(ctx, theirs.Files, ours.Files, paths)
		if err != nil {
			return err
		}
		if len(moved) > 0 {
			return &failure.Error{
				Message: list(lacking) + " in the work tree lacks entries that are committed",
				Remedy:  "put them back: `small-hook restore`, then `small-hook sync`",
			}
		}
		base = reconcile.Side{Name: m.name(), ID: m.goal, Files: ours.Files}
	}
	theirs.Bases = []reconcile.Side{base}
	merged, _, err := c.Combine(ctx, ours, theirs)
	if err != nil {
		f := *failure.Of(err)
		f.Remedy = "commit it: `git commit -q -m 'Record the workspace' -- " + topPaths(paths) + "`, then `small-hook sync`"
		return &f
	}
	m.disk = map[string][]byte{}
	for _, path := range paths {
		m.stage(path)
		f, there := merged[path]
		if !there || f == theirs.Files[path] {
			continue
		}
		if m.disk[path], err = c.CheckedOut(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// blocked is the failure of a move with something in the way; cause is what git says, if it was git that has found it.
func (m *moving) blocked(cause error) error {
	if len(m.inTheWay) == 0 {
		return cause
	}
	var add []string
	var commands string
	for _, path := range m.inTheWay {
		if !m.changed[path].added {
			add = append(add, path)
			continue
		}
		file := filepath.Join(m.git.Dir, filepath.FromSlash(path))
		commands += "`mv -- " + wording.ShellWord(file) + " " + wording.ShellWord(file+".own") + "`, then "
	}
	if len(add) > 0 {
		commands += "`git commit -m 'Work in progress' -- " + topPaths(add) + "`, then "
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s is not committed, and %s changes it too", list(m.inTheWay), m.name()),
		Remedy:  commands + "`small-hook sync`", Err: cause,
	}
}
