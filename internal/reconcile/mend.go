package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
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
	// first is the commit to mend, ids are the new commits by the old ones, and texts the logs of commits.
	first string
	// own are all commits of HEAD that nobody else has, parents first.
	own   []string
	ids   map[string]string
	texts map[string][]byte
	// files are what some paths become where they are as the commit has them; "" is nothing.
	files map[string]substitution
}

type substitution struct{ was, is string }

// Mend makes a commit again, in which the log has all that its parents' logs have, and then what came after it or beside it up to HEAD, on
// top of that: messages, authors, times, merges and all other files stay. It refuses what others have. The index and the work tree follow, with what is
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
	if err := m.substitute(ctx, m.first, o.Source, o.Files); err != nil {
		return out, err
	}
	for _, id := range list {
		instead := ""
		if id == m.first {
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

// commits lists a commit and those of HEAD that its parents lack and nobody else has, parents first.
func (m *mending) commits(ctx context.Context, commit string, pushed bool) ([]string, error) {
	under, err := UnderWay(m.Place.GitDir)
	if err != nil {
		return nil, err
	}
	if under.Command != "" {
		return nil, &failure.Error{Message: "a " + under.Command + " is under way", Remedy: "end it first: " + under.Remedy() + ", then " + m.command(commit)}
	}
	if m.first, err = m.repo.Resolve(ctx, commit); err != nil {
		return nil, err
	}
	others, err := m.others(ctx, pushed)
	if err != nil {
		return nil, err
	}
	own := func(not ...string) ([]string, error) {
		listed, err := m.git.run(ctx, nil, slices.Concat([]string{"rev-list", "--topo-order", "--reverse", "HEAD", "--not"}, others, not)...)
		return strings.Fields(string(listed)), err
	}
	list, err := own(m.first + "^@")
	if err != nil {
		return nil, err
	}
	if slices.Contains(list, m.first) {
		m.own, err = own()
		return list, err
	}
	refs, err := m.git.run(ctx, nil, "for-each-ref", "--contains="+m.first, "--format=%(refname)", "refs/remotes/", "refs/tags/")
	switch has := strings.Join(strings.Fields(string(refs)), ", "); {
	case err != nil:
		return nil, err
	case has != "":
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s is in %s: what others have is not made again", history.Short(m.first), wording.Printable(has)),
			Remedy:  "see what a person can do: `small-hook audit`",
		}
	}
	return nil, &failure.Error{
		Message: history.Short(m.first) + " is no part of what is checked out", Remedy: "switch to the branch that has it; what was made again has another id: `small-hook audit`",
	}
}

// command is what mends a commit, to be typed.
func (m *mending) command(commit string) string {
	in := ""
	if m.Dir != "" {
		in = " -C " + wording.TopPath(m.Dir)
	}
	return wording.Commands("small-hook restore" + in + " --commit " + wording.ShellWord(commit))
}

// cannot is the failure of a merge that cannot be made again, because a side of it has lost something before what is mended. If nobody else
// has the commit that did that, it is to be mended, and what was to be mended with it.
func (m *mending) cannot(ctx context.Context, id string, err error) error {
	out := &failure.Error{
		Message: history.Short(id) + " cannot be made again: " + failure.Of(err).Message,
		Remedy:  "see which side is at fault, and what a person can do: `small-hook audit`", Err: err,
	}
	earlier, err := m.earlier(ctx, id)
	if err != nil {
		return err
	}
	if earlier != "" {
		out.Remedy = "begin with the first commit that lost something: " + m.command(history.Short(earlier))
	}
	return out
}

// earlier is a commit that nobody else has, is not made again before another one, and has lost something; empty if there is none.
func (m *mending) earlier(ctx context.Context, than string) (string, error) {
	defer func(logs []*ledger.Ledger) { m.logs = logs }(m.logs)
	for _, id := range m.own {
		if _, again := m.ids[id]; again || id == than {
			continue
		}
		old, err := m.git.parents(ctx, id)
		if err != nil {
			return "", err
		}
		if _, _, sound, err := m.look(ctx, id, old, old); err != nil || !sound {
			return id, err
		}
	}
	return "", nil
}

// others are the refs whose commits others have, as git takes them; if it may be pushed, the branch's own upstream is none.
func (m *mending) others(ctx context.Context, pushed bool) ([]string, error) {
	out := []string{"--remotes", "--tags"}
	branch, err := m.repo.CurrentBranch(ctx)
	if err != nil || !pushed || branch == "" {
		return out, err
	}
	upstream, err := m.git.run(ctx, nil, "for-each-ref", "--format=%(upstream:lstrip=2)", branch)
	return append([]string{"--exclude=" + strings.TrimSpace(string(upstream))}, out...), err
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
	if err == nil && len(gone) > 0 && id == m.first {
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
