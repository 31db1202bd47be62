package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// Results of pressing a pull request's button. A conflict is git's, a rejection the gate's.
const (
	buttonLands      = "lands"
	buttonConflicts  = "conflict"
	buttonRejected   = "rejected"
	buttonNotOffered = "not offered"
)

// forge is a repository with pull requests, as on a server: no merge driver and no hook runs.
type forge struct {
	*gittest.Repo
	t *testing.T
	// minute is the time of the next entry.
	minute int
}

// newForge makes a repository in which each of the directories has a workspace.
func newForge(t *testing.T, dirs ...string) *forge {
	f := &forge{Repo: gittest.New(t), t: t}
	for _, dir := range dirs {
		if err := os.CopyFS(f.Path(dir+"/.small"), os.DirFS("testdata/workspace/.small")); err != nil {
			t.Fatal(err)
		}
	}
	f.Commit("start")
	return f
}

// work commits a piece of work on a branch: code, an entry, and the time that the protocol's program writes with it.
func (f *forge) work(branch, dir string) {
	f.t.Helper()
	f.Switch(branch)
	f.minute++
	log := dir + "/.small/progress.small.yml"
	f.Write(branch+fmt.Sprint(f.minute), "code\n")
	f.Write(log, f.read(log)+fmt.Sprintf("  - task_id: \"task-1\"\n    timestamp: \"2026-03-01T10:%02d:00.000000001Z\"\n    evidence: \"work of %s\"\n", f.minute, branch))
	workspace := dir + "/.small/workspace.small.yml"
	updated := regexp.MustCompile(`(?m)^updated_at:.*$`)
	if !updated.MatchString(f.read(workspace)) {
		f.t.Fatalf("%s has no updated_at", workspace)
	}
	f.Write(workspace, updated.ReplaceAllString(f.read(workspace), fmt.Sprintf("updated_at: \"2026-03-01T10:%02d:00Z\"", f.minute)))
	f.Commit("work of " + branch)
}

func (f *forge) read(path string) string {
	f.t.Helper()
	data, err := os.ReadFile(f.Path(path))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func (f *forge) request() session.Request {
	return session.Request{Dir: f.Dir, Environ: f.Environ(), Now: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
}

// reconcile merges main into a branch, as its author does by hand.
func (f *forge) reconcile(branch string) {
	f.t.Helper()
	f.Switch(branch)
	if out, err := f.Try("merge", "-q", "--no-commit", "main"); err == nil {
		f.t.Fatalf("main merges into %s without a conflict: %s", branch, out)
	}
	if _, err := edit.Reconcile(f.t.Context(), f.request(), edit.Locking{}, reconcile.Options{}); err != nil {
		f.t.Fatal(err)
	}
	f.Commit("merge main into " + branch)
}

// rebase puts a branch on top of main, as its author does by hand.
func (f *forge) rebase(branch string) {
	f.t.Helper()
	f.Switch(branch)
	_, err := f.Try("rebase", "-q", "main")
	if err == nil {
		f.t.Fatalf("%s can be rebased onto main without a conflict", branch)
	}
	for stops := 0; err != nil; stops++ {
		if stops > 5 {
			f.t.Fatal(err)
		}
		if _, failed := edit.Reconcile(f.t.Context(), f.request(), edit.Locking{}, reconcile.Options{}); failed != nil {
			f.t.Fatal(failed)
		}
		_, err = f.Try("rebase", "--continue")
	}
}

// merged is the tree of a merge as a server makes it; empty if git finds a conflict.
func (f *forge) merged(ours, theirs string) string {
	tree, err := f.Try("merge-tree", "--write-tree", "--no-messages", ours, theirs)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(tree)
}

// commit makes a commit that is on no branch yet.
func (f *forge) commit(tree string, parents ...string) string {
	f.t.Helper()
	args := []string{"commit-tree", tree, "-m", "landed"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return f.Git(args...)
}

// land judges the commit that a button made, as CI does for a push to main, and moves main there if it passes.
func (f *forge) land(branch, from, to string) string {
	f.t.Helper()
	report := judge.Range(f.t.Context(), f.request(), from+".."+to)
	switch report.Verdict {
	case finding.Pass:
		f.Git("update-ref", "refs/heads/"+branch, to)
		return buttonLands
	case finding.Fail:
		return buttonRejected
	}
	f.t.Fatalf("%s..%s could not be judged: %v", from, to, report.Failure)
	return ""
}

// buttons are what servers offer for pull requests. Each takes the branches of one or two.
var buttons = []struct {
	name  string
	press func(f *forge, pulls ...string) string
}{
	{"Merge commit", func(f *forge, pulls ...string) string {
		return f.mergeInto("main", pulls[0])
	}},
	{"Squash and merge", func(f *forge, pulls ...string) string {
		tree := f.merged("main", pulls[0])
		if tree == "" {
			return buttonConflicts
		}
		return f.land("main", f.ID("main"), f.commit(tree, f.ID("main")))
	}},
	{"Rebase and merge", func(f *forge, pulls ...string) string {
		f.Git("checkout", "-q", "-B", "rebased", pulls[0])
		if _, err := f.Try("rebase", "-q", "main"); err != nil {
			f.Git("rebase", "--abort")
			return buttonConflicts
		}
		return f.land("main", f.ID("main"), f.ID("rebased"))
	}},
	{"Fast-forward", func(f *forge, pulls ...string) string {
		if _, err := f.Try("merge-base", "--is-ancestor", "main", pulls[0]); err != nil {
			return buttonNotOffered
		}
		return f.land("main", f.ID("main"), f.ID(pulls[0]))
	}},
	{"Update branch (merge)", func(f *forge, pulls ...string) string {
		return f.mergeInto(pulls[0], "main")
	}},
	{"Merge queue, the second of two", func(f *forge, pulls ...string) string {
		if first := f.mergeInto("main", pulls[0]); first != buttonLands {
			return first
		}
		return f.mergeInto("main", pulls[1])
	}},
	{"Revert", func(f *forge, pulls ...string) string {
		f.Switch("main")
		from := f.ID("main")
		f.Merge("-X", "theirs", pulls[0])
		f.Git("revert", "--no-edit", "-m", "1", "HEAD")
		return f.land("main", from, f.ID("main"))
	}},
}

// mergeInto merges a branch into another with a merge commit.
func (f *forge) mergeInto(branch, theirs string) string {
	f.t.Helper()
	tree := f.merged(branch, theirs)
	if tree == "" {
		return buttonConflicts
	}
	from := f.ID(branch)
	return f.land(branch, from, f.commit(tree, from, f.ID(theirs)))
}

// states are the situations of pull requests when a button is pressed. Each makes the branches pull-1 and pull-2.
var states = []struct {
	name string
	make func(t *testing.T) *forge
}{
	{"one log, the first to land", func(t *testing.T) *forge {
		f := newForge(t, "")
		f.pulls("", "")
		return f
	}},
	{"one log, another landed before", func(t *testing.T) *forge {
		f := newForge(t, "")
		f.pulls("", "")
		f.work("main", "")
		return f
	}},
	{"one log, reconciled since", func(t *testing.T) *forge {
		f := newForge(t, "")
		f.pulls("", "")
		f.work("main", "")
		f.reconcile("pull-1")
		f.reconcile("pull-2")
		return f
	}},
	{"one log, rebased since", func(t *testing.T) *forge {
		f := newForge(t, "")
		f.pulls("", "")
		f.work("main", "")
		f.rebase("pull-1")
		f.rebase("pull-2")
		return f
	}},
	{"one workspace per agent", func(t *testing.T) *forge {
		f := newForge(t, "agent-0", "agent-1", "agent-2")
		f.pulls("agent-1", "agent-2")
		f.work("main", "agent-0")
		return f
	}},
}

// pulls makes the branches of two pull requests that work in the workspaces of two directories.
func (f *forge) pulls(dirs ...string) {
	for i, dir := range dirs {
		branch := fmt.Sprintf("pull-%d", i+1)
		f.Branch(branch, "main")
		f.work(branch, cmp.Or(dir, "."))
		f.work(branch, cmp.Or(dir, "."))
	}
	f.Switch("main")
}

// TestButtons presses every button in every state, and compares the table in docs/agents.md with the results.
func TestButtons(t *testing.T) {
	gittest.Long(t)
	header := "| button |"
	for _, s := range states {
		header += " " + s.name + " |"
	}
	table := header + "\n|" + strings.Repeat(" --- |", len(states)+1) + "\n"
	for _, b := range buttons {
		table += "| " + b.name + " |"
		for _, s := range states {
			f := s.make(t)
			f.Git("checkout", "-q", "--detach")
			table += " " + b.press(f, "pull-1", "pull-2") + " |"
		}
		table += "\n"
	}
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n"+table) {
		t.Errorf("docs/agents.md needs this table:\n%s", table)
	}
}
