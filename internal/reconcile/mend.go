package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// MendOptions are what to mend.
type MendOptions struct {
	Commit string
	// Source, if any, is a commit whose log counts instead of those of the parents.
	Source string
	// Files are paths that become what they were before the commit.
	Files []string
	// Pushed lets the branch's own upstream have the commit.
	Pushed bool
}

// Mended is what Mend has done.
type Mended struct {
	Restored
	// Old and New are what HEAD was and is; the same if there was nothing to mend. Commits is how many were made again.
	Old, New string
	Commits  int
}

// mending makes a commit that nobody else has, and those after it, again.
type mending struct {
	restoring
	// ids are the new commits by the old ones, and texts the logs of commits.
	ids   map[string]string
	texts map[string][]byte
	// files are what some paths become where they are as the commit has them; "" is nothing.
	files map[string]substitution
}

type substitution struct{ was, is string }

// Mend makes a commit again, in which the log has all that its parents' logs have, and then what came after it up to HEAD, on top of that:
// messages, authors, times, merges and all other files stay. It refuses what others have. The index and the work tree follow, with what is
// not committed.
func (w *Workspace) Mend(ctx context.Context, repo Repository, o MendOptions, environ []string) (out Mended, err error) {
	m := &mending{restoring: restoring{Workspace: w, repo: repo}, ids: map[string]string{}, texts: map[string][]byte{}, files: map[string]substitution{}}
	if m.git, err = openWorkTree(w.Place, environ); err != nil {
		return out, err
	}
	list, err := m.commits(ctx, o.Commit, o.Pushed)
	if err != nil {
		return out, err
	}
	if err := m.substitute(ctx, list[0], o.Source, o.Files); err != nil {
		return out, err
	}
	for i, id := range list {
		instead := ""
		if i == 0 {
			instead = o.Source
		}
		if err := m.again(ctx, id, instead); err != nil {
			return out, err
		}
	}
	out.Old = list[len(list)-1]
	out.New, out.Log = m.ids[out.Old], w.Log()
	if out.New == out.Old {
		return out, nil
	}
	for _, id := range list {
		if m.ids[id] != id {
			out.Commits++
		}
	}
	return out, m.follow(context.WithoutCancel(ctx), &out)
}

// commits lists a commit and those of HEAD that descend from it, parents first.
func (m *mending) commits(ctx context.Context, commit string, pushed bool) ([]string, error) {
	under, err := UnderWay(m.Place.GitDir)
	if err != nil {
		return nil, err
	}
	if under.Command != "" {
		again := "small-hook restore"
		if m.Dir != "" {
			again += " -C " + wording.TopPath(m.Dir)
		}
		again += " --commit " + wording.ShellWord(commit)
		return nil, &failure.Error{Message: "a " + under.Command + " is under way", Remedy: "end it first: " + under.Remedy() + ", then " + wording.Commands(again)}
	}
	id, err := m.repo.Resolve(ctx, commit)
	if err != nil {
		return nil, err
	}
	head, err := m.repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := m.git.run(ctx, nil, "rev-list", "--topo-order", "--reverse", "--ancestry-path", id+"..HEAD", "--")
	if err != nil {
		return nil, err
	}
	list := append([]string{id}, strings.Fields(string(listed))...)
	if list[len(list)-1] != head {
		return nil, &failure.Error{
			Message: history.Short(id) + " is no part of what is checked out", Remedy: "switch to the branch that has it; what was made again has another id: `small-hook audit`",
		}
	}
	return list, m.refuse(ctx, id, pushed)
}

// refuse refuses a commit that others have; if it may be pushed, the branch's own upstream may have it.
func (m *mending) refuse(ctx context.Context, id string, pushed bool) error {
	upstream := ""
	if branch, err := m.repo.CurrentBranch(ctx); err != nil {
		return err
	} else if pushed && branch != "" {
		name, err := m.git.run(ctx, nil, "for-each-ref", "--format=%(upstream)", branch)
		if err != nil {
			return err
		}
		upstream = strings.TrimSpace(string(name))
	}
	refs, err := m.git.run(ctx, nil, "for-each-ref", "--contains="+id, "--format=%(refname)", "refs/remotes/", "refs/tags/")
	for ref := range strings.FieldsSeq(string(refs)) {
		if ref != upstream && err == nil {
			err = &failure.Error{
				Message: fmt.Sprintf("%s has %s: what others have is not made again", wording.Printable(ref), history.Short(id)),
				Remedy:  "see what a person can do: `small-hook audit`",
			}
		}
	}
	return err
}

// substitute finds out what becomes of files of a commit, and of those of the workspace that it takes away together with the log.
func (m *mending) substitute(ctx context.Context, id, source string, files []string) error {
	parents, err := m.git.parents(ctx, id)
	if err != nil || len(parents) == 0 && source == "" {
		return err
	}
	before := cmp.Or(source, parents[0])
	gone, err := m.entry(ctx, id, m.Log())
	if err != nil {
		return err
	}
	if gone == "" {
		for _, a := range small.Artifacts {
			files = append(files, a.Path(m.Dir))
		}
	}
	for _, path := range files {
		if path == m.Log() {
			continue
		}
		var s substitution
		if s.was, err = m.entry(ctx, id, path); err == nil {
			s.is, err = m.entry(ctx, before, path)
		}
		if err != nil {
			return err
		}
		if s.is != "" && s.is != s.was {
			m.files[path] = s
		}
	}
	return nil
}

// entry is a path's mode and object in a commit; empty if there is none.
func (m *mending) entry(ctx context.Context, id, path string) (string, error) {
	line, err := m.git.run(ctx, nil, "ls-tree", "--full-tree", "-z", id, "--", path)
	if fields := strings.Fields(string(line)); len(fields) > 2 { // mode, kind, object
		return fields[0] + " " + fields[2], nil
	}
	return "", err
}

// text is the log of a commit; nil if it has none that can be read as a file.
func (m *mending) text(ctx context.Context, id string) ([]byte, error) {
	if text, known := m.texts[id]; known {
		return text, nil
	}
	entry, err := m.entry(ctx, id, m.Log())
	mode, object, _ := strings.Cut(entry, " ")
	if err == nil && strings.HasPrefix(mode, "100") {
		m.texts[id], err = m.git.run(ctx, nil, "cat-file", "blob", object)
	}
	return m.texts[id], err
}

// again makes a commit again, if anything changes.
func (m *mending) again(ctx context.Context, id, source string) error {
	old, err := m.git.parents(ctx, id)
	if err != nil {
		return err
	}
	parents := make([]string, len(old))
	for i, p := range old {
		parents[i] = cmp.Or(m.ids[p], p)
	}
	text, gone, err := m.log(ctx, id, old, parents, source)
	if err == nil && len(gone) > 0 && len(m.ids) == 0 {
		err = m.adopt(ctx, id, old, gone)
	}
	if err != nil {
		return err
	}
	var changes []change
	if text != nil {
		blob, err := m.git.store(ctx, text)
		if err != nil {
			return err
		}
		changes = append(changes, change{path: m.Log(), mode: "100644", blob: blob})
	}
	for path, s := range m.files {
		is, err := m.entry(ctx, id, path)
		if err != nil {
			return err
		}
		if is == s.was {
			mode, blob, _ := strings.Cut(s.is, " ")
			changes = append(changes, change{path: path, mode: mode, blob: blob})
		}
	}
	m.ids[id] = id
	if len(changes) > 0 || !slices.Equal(old, parents) {
		m.ids[id], err = m.commit(ctx, id, parents, changes)
	}
	if text != nil {
		m.texts[m.ids[id]] = text
	}
	return err
}

// adopt has the plan of the first commit keep the tasks of entries that are back.
func (m *mending) adopt(ctx context.Context, id string, parents []string, gone []ledger.Entry) error {
	path := small.Plan.Path(m.Dir)
	was, err := m.entry(ctx, id, path)
	if _, already := m.files[path]; err != nil || already || !strings.HasPrefix(was, "100") {
		return err
	}
	before, _, err := githistory.ReadFile(ctx, m.repo, id, path, m.Limits.FileSize())
	if err != nil {
		return err
	}
	sides := make([]side, len(parents))
	for i, p := range parents {
		sides[i] = side{name: history.Short(p), id: p}
	}
	plan, err := m.adopted(ctx, before, sides, gone)
	if err != nil || bytes.Equal(plan, before) {
		return err
	}
	blob, err := m.git.store(ctx, plan)
	mode, _, _ := strings.Cut(was, " ")
	m.files[path] = substitution{was: was, is: mode + " " + blob}
	return err
}

// log is what the log of a commit becomes, nil if it stays, and entries that are back and of which it had no version.
func (m *mending) log(ctx context.Context, id string, old, parents []string, source string) ([]byte, []ledger.Entry, error) {
	if source != "" {
		parents = []string{source}
	}
	file, err := m.text(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	sides, err := m.sidesOf(ctx, id, old, parents)
	if err != nil {
		return nil, nil, err
	}
	m.logs = nil
	for _, v := range append([]splice.Version{sides.Ours}, sides.Theirs...) {
		if log, _ := ledger.ReadLog(v.Data, m.Limits); log != nil {
			m.logs = append(m.logs, log.Ledger)
		}
	}
	log, _ := ledger.ReadLog(file, m.Limits)
	switch {
	case log != nil && m.accepts(nil, log.Ledger), log == nil && len(m.logs) == 0:
		return nil, nil, nil
	case file == nil && len(m.ids) > 0 && m.texts[old[0]] != nil:
		return nil, nil, &failure.Error{Message: fmt.Sprintf("%s takes %s away: what came before cannot be mended", history.Short(id), m.Log()), Remedy: "mend that commit first: `small-hook audit`"}
	}
	var back splice.PutBack
	for _, sides.Unmarked = range []bool{true, false} { // the merge's own entry explains it again, or else a new one
		text := []byte(splice.Empty)
		if len(m.logs) > 0 {
			resolved, err := sides.Resolve()
			if err != nil {
				return nil, nil, err
			}
			text = resolved.Text
		}
		if back, err = splice.PutBackOf(text, file, func(_, _ *ledger.Ledger) bool { return false }, m.Now, m.Limits); err != nil {
			return nil, nil, &failure.Error{Message: fmt.Sprintf("%s of a parent of %s cannot be read: %v", m.Log(), history.Short(id), err), Err: err}
		}
		if log, _ := ledger.ReadLog(back.Text, m.Limits); log != nil && m.accepts(nil, log.Ledger) {
			break
		}
	}
	return back.Text, back.Gone, nil
}

// sidesOf are the logs of a commit's new parents, to be combined when the commit was made.
func (m *mending) sidesOf(ctx context.Context, id string, old, parents []string) (c splice.Case, err error) {
	c = splice.Case{Path: m.Log(), Limits: m.Limits, Comparer: read.NewLogComparer(m.Policy, m.Log(), m.Now)}
	made, err := m.git.run(ctx, nil, "show", "-s", "--format=%ct", id)
	if err != nil {
		return c, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(made)), 10, 64)
	if err != nil {
		return c, err
	}
	c.Now = time.Unix(seconds, 0)
	for i, p := range parents {
		v := splice.Version{Name: history.Short(p), ID: p}
		if v.Data, err = m.text(ctx, p); err != nil {
			return c, err
		}
		if i == 0 {
			c.Ours = v
			continue
		}
		bases, err := m.repo.MergeBases(ctx, old[0], old[i])
		if err != nil {
			return c, err
		}
		for _, id := range bases {
			data, err := m.text(ctx, cmp.Or(m.ids[id], id))
			if err != nil {
				return c, err
			}
			v.Bases = append(v.Bases, splice.Version{ID: id, Data: data})
		}
		c.Theirs = append(c.Theirs, v)
	}
	return c, nil
}

// commit makes a commit with other parents and some other files. A signature was one of the old commit: it goes.
func (m *mending) commit(ctx context.Context, id string, parents []string, changes []change) (string, error) {
	raw, err := m.git.run(ctx, nil, "cat-file", "commit", id)
	if err != nil {
		return "", err
	}
	tree, err := m.tree(ctx, id, changes)
	if err != nil {
		return "", err
	}
	head, message, _ := bytes.Cut(raw, []byte("\n\n"))
	lines := []string{"tree " + tree}
	for _, p := range parents {
		lines = append(lines, "parent "+p)
	}
	dropped := false
	for line := range strings.SplitSeq(string(head), "\n") {
		if !strings.HasPrefix(line, " ") { // else it continues the one before
			name, _, _ := strings.Cut(line, " ")
			dropped = slices.Contains([]string{"tree", "parent", "gpgsig", "gpgsig-sha256"}, name)
		}
		if !dropped {
			lines = append(lines, line)
		}
	}
	made, err := m.git.run(ctx, strings.NewReader(strings.Join(lines, "\n")+"\n\n"+string(message)), "hash-object", "-t", "commit", "-w", "--stdin")
	return strings.TrimSpace(string(made)), err
}

// tree is the tree of a commit with some other files, made in an index of its own.
func (m *mending) tree(ctx context.Context, id string, changes []change) (string, error) {
	dir, err := os.MkdirTemp(m.Kept, "mend-*")
	if err != nil {
		return "", &failure.Error{Message: "cannot write into the git directory: " + err.Error(), Remedy: "make room in it, then run the command again", Err: err}
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is scratch
	apart := *m.git
	apart.git.Environ = append(slices.Clone(apart.git.Environ), "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
	if _, err := apart.run(ctx, nil, "read-tree", id); err != nil {
		return "", err
	}
	if err := apart.stage(ctx, changes); err != nil {
		return "", err
	}
	out, err := apart.run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// follow brings the work tree, the index and the branch to the new commits, in this order: whatever is killed in between is done again by
// the same command, and loses nothing. What is not committed stays.
func (m *mending) follow(ctx context.Context, out *Mended) error {
	head, err := m.text(ctx, out.New)
	if err != nil {
		return err
	}
	var staged []change
	if parent, _ := ledger.ReadLog(head, m.Limits); parent != nil {
		m.logs = []*ledger.Ledger{parent.Ledger}
		index, err := m.staged(ctx, out.Old, head)
		if err == nil {
			err = m.followLog(ctx, head, out)
		}
		if err != nil {
			return err
		}
		staged = append(staged, change{path: m.Log(), mode: "100644", blob: index})
	}
	for path, s := range m.files {
		if dirty, err := m.git.dirty(ctx, path); err != nil {
			return err
		} else if dirty {
			continue // what somebody works on stays
		}
		mode, blob, _ := strings.Cut(s.is, " ")
		data, err := m.git.checkedOut(ctx, path, blob)
		if err == nil {
			err = m.write(path, data)
		}
		if err != nil {
			return err
		}
		staged = append(staged, change{path: path, mode: mode, blob: blob})
	}
	if err := m.git.stage(ctx, staged); err != nil {
		return err
	}
	_, err = m.git.run(ctx, nil, "update-ref", "-m", "small-hook restore --commit", "HEAD", out.New, out.Old)
	return err
}

// staged is the blob that the index gets for the log: the new head's, and after it what was staged and is not committed.
func (m *mending) staged(ctx context.Context, old string, head []byte) (string, error) {
	was, err := m.entry(ctx, old, m.Log())
	if err != nil {
		return "", err
	}
	line, err := m.git.run(ctx, nil, "ls-files", "--stage", "-z", "--", m.Log())
	if fields := strings.Fields(string(line)); err == nil && len(fields) > 1 && fields[0]+" "+fields[1] != was {
		var data []byte
		if data, err = m.git.run(ctx, nil, "cat-file", "blob", fields[1]); err != nil {
			return "", err
		}
		back, err := splice.PutBackOf(head, data, m.accepts, m.Now, m.Limits)
		if err != nil {
			return "", err
		}
		if head = data; back.Text != nil {
			head = back.Text
		}
	}
	if err != nil {
		return "", err
	}
	return m.git.store(ctx, head)
}

// followLog has the log in the work tree continue the new one, with what is recorded there and not committed.
func (m *mending) followLog(ctx context.Context, head []byte, out *Mended) error {
	link, err := m.moveLink()
	if err != nil {
		return err
	}
	blob, err := m.git.store(ctx, head)
	if err != nil {
		return err
	}
	if head, err = m.git.checkedOut(ctx, m.Log(), blob); err != nil {
		return err
	}
	var file []byte
	if out.Restored, file, err = m.lost(head, m.accepts); err == nil && out.Text != nil {
		err = m.put(&out.Restored, file)
	}
	out.File = cmp.Or(out.File, link)
	return err
}
