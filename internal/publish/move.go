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
	// inTheWay are files that would be overwritten, and unknown those of which git does not know.
	inTheWay, unknown []string
	// half are files of which a git that was killed has written only the beginning.
	half []string
}

// entry is a file of a commit; mode and object are zeros if it has none. added is true if the other commit has none.
type entry struct {
	mode, object string
	added        bool
}

// movable fails if the last step could not be done.
func (p *publishing) movable(ctx context.Context, head, goal string) error {
	m := &moving{publishing: p, head: head, goal: goal}
	return m.plan(ctx)
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
		case trimmed(string(done.Out)) != p.branch:
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
	if err != nil || again {
		return again, err
	}
	return false, p.forget(ctx)
}

// do moves all. Killed at any point, it leaves what the next sync ends: each file is as it was, or as it will be.
func (m *moving) do(ctx context.Context) error {
	if err := m.plan(ctx); err != nil {
		return err
	}
	for _, path := range m.half {
		if err := os.Remove(m.file(path)); err != nil {
			return cannotWrite(err)
		}
	}
	for path, text := range m.disk {
		file := m.file(path)
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil {
			err = wholefile.WriteVia(m.git.gitDir, file, text)
		}
		if err != nil {
			return cannotWrite(err)
		}
	}
	if len(m.index) > 0 {
		if _, err := m.git.tell(ctx, strings.Join(m.index, ""), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if err := m.readTree(ctx); err != nil {
		return err
	}
	_, err := m.git.run(ctx, "update-ref", "-m", "sync: to "+m.name(), m.branch, m.goal, m.head)
	m.refs[m.branch] = m.goal
	return err
}

// readTree has git bring index and work tree there, or, with -n, say whether it can.
func (m *moving) readTree(ctx context.Context, flags ...string) error {
	_, err := m.git.run(ctx, slices.Concat([]string{"read-tree", "-m", "-u"}, flags, []string{m.head, m.goal})...)
	return err
}

// plan finds out what the last step has to do besides git: nothing, where git can do it. It fails if something is in the way.
func (m *moving) plan(ctx context.Context) error {
	if _, err := m.git.run(ctx, "update-index", "-q", "--refresh"); err != nil {
		return err
	}
	refused := m.readTree(ctx, "-n")
	if refused == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	dirty, err := m.git.paths(ctx, "diff-index", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z", m.head, "--")
	if err == nil {
		err = m.compare(ctx)
	}
	if err != nil {
		return err
	}
	return m.opts.Combining(ctx, m.goal, m.head, func(c *reconcile.Combiner) error {
		var files []string
		for _, path := range slices.Sorted(maps.Keys(m.changed)) {
			there, err := m.found(path)
			known := slices.Contains(dirty, path)
			switch {
			case err != nil:
				return err
			case !known && (!m.changed[path].added || there == ""), m.changed[path].mode == history.ModeSubmodule: // git leaves submodules alone
			case c.Merges(path):
				files = append(files, path)
			default:
				if err := m.other(ctx, path, there, known); err != nil {
					return err
				}
			}
		}
		switch {
		case len(m.inTheWay)+len(m.unknown) > 0:
			return m.blocked()
		case len(files)+len(m.index)+len(m.half) == 0:
			return refused
		}
		return m.workspaces(ctx, c, files)
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

// found is what stands at a path of the work tree, or in the place of a directory above it; empty if that is nothing, or if git is about
// to take it away.
func (m *moving) found(path string) (string, error) {
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '/' {
			continue
		}
		at := path[:end]
		info, err := os.Lstat(m.file(at))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case err != nil:
			return "", &failure.Error{Message: "cannot look at " + wording.Printable(path) + ": " + err.Error(), Err: err}
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

func (m *moving) file(path string) string { return filepath.Join(m.git.Dir, filepath.FromSlash(path)) }

// stage has the index take a path as the new commit has it.
func (m *moving) stage(path string) {
	m.index = append(m.index, fmt.Sprintf("%s %s\t%s\x00", m.changed[path].mode, m.changed[path].object, path))
}

// other looks at a file of no workspace that is not as the old commit has it. A sync that was killed may have left it as the new one has
// it, or half written; else it is in the way. there is what was found at its path, known is true if git knows the file.
func (m *moving) other(ctx context.Context, path, there string, known bool) error {
	same, begins := there == "" && strings.Trim(m.changed[path].mode, "0") == "", false
	if info, err := os.Lstat(m.file(path)); there == path && err == nil && info.Mode().IsRegular() {
		data, err := os.ReadFile(m.file(path))
		if err != nil {
			return &failure.Error{Message: "cannot read " + wording.Printable(path) + ": " + err.Error(), Err: err}
		}
		whole, err := m.git.Run(ctx, nil, "cat-file", "--filters", "--path="+path, m.changed[path].object) // nothing, where the file is to go
		if err != nil {
			return err
		}
		same = whole.Status == 0 && bytes.Equal(whole.Out, data)
		begins = whole.Status == 0 && bytes.HasPrefix(whole.Out, data) && m.finishing
	}
	switch {
	case same:
		m.stage(path)
	case begins:
		m.half = append(m.half, path)
	case known:
		m.inTheWay = append(m.inTheWay, path)
	case !slices.Contains(m.unknown, there):
		m.unknown = append(m.unknown, there)
	}
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

// blocked is the failure of a move with something in the way.
func (m *moving) blocked() error {
	var commands string
	for _, path := range m.unknown {
		to := m.file(path) + ".own"
		for _, err := os.Lstat(to); err == nil; _, err = os.Lstat(to) {
			to += ".own"
		}
		commands += "`mv -- " + wording.ShellWord(m.file(path)) + " " + wording.ShellWord(to) + "`, then "
	}
	if len(m.inTheWay) > 0 {
		commands += "`git commit -m 'Work in progress' -- " + topPaths(m.inTheWay) + "`, then "
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s is not committed, and %s changes it too", list(slices.Concat(m.unknown, m.inTheWay)), m.name()),
		Remedy:  commands + "`small-hook sync`",
	}
}
