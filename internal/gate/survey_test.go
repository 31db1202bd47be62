package gate_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate"
)

// countingHistory counts how often somebody looks at a whole revision.
type countingHistory struct {
	*memoryHistory
	listings, surveys int
	globbed           []string // the patterns
}

func (h *countingHistory) Files(ctx context.Context, revision string, dirs ...string) ([]gate.File, error) {
	h.listings++
	return h.memoryHistory.Files(ctx, revision, dirs...)
}

func (h *countingHistory) Glob(ctx context.Context, revision string, patterns ...string) ([]gate.File, error) {
	h.listings++
	h.globbed = append(h.globbed, patterns...)
	return h.memoryHistory.Glob(ctx, revision, patterns...)
}

func (h *countingHistory) Survey(ctx context.Context, revision string, dirs, patterns []string) (workspaces, matched []gate.File, err error) {
	h.surveys++
	return h.memoryHistory.Survey(ctx, revision, dirs, patterns)
}

// TestCheckListsOnce: in a repository without workflows, nobody pays for those
// with a second look at the tree.
func TestCheckListsOnce(t *testing.T) {
	tree := lay(fileTree{}, gate.ParseExample(readFile(t, "testdata/base.txtar")).Files)
	for name, check := range map[string]func(gate.Tree, string) *gate.Report{
		"check": func(tree gate.Tree, revision string) *gate.Report {
			return gate.Check(t.Context(), tree, revision, "", testOptions())
		},
		"check --recursive": func(tree gate.Tree, revision string) *gate.Report {
			return gate.CheckAll(t.Context(), tree, revision, testOptions())
		},
	} {
		h := &countingHistory{memoryHistory: newMemoryHistory()}
		report := check(h, h.commit(tree))
		if report.Verdict != gate.Pass {
			t.Errorf("%s: %s, %v, %v", name, report.Verdict, report.Failure, report.Findings)
		}
		if h.surveys != 1 || h.listings != 0 {
			t.Errorf("%s: %d surveys and %d listings", name, h.surveys, h.listings)
		}
	}
}

// TestRangeLooksNearby: a change that takes nothing away has nobody look for
// workflows, and one that does has somebody look in the folders on the way to
// what it takes; in the whole tree only where an agent's file may be meant that
// is named from elsewhere.
func TestRangeLooksNearby(t *testing.T) {
	for name, change := range map[string]struct {
		path string
		adds bool
		want []string
	}{
		"a new file":              {path: "code/x/a.go", adds: true},
		"a deleted file":          {path: "code/[x]/a.go", want: []string{"workflows/*/workflow.md", "code/workflows/*/workflow.md", `code/\[x\]/workflows/*/workflow.md`}},
		"a file at the root":      {path: "a.go", want: []string{"workflows/*/workflow.md"}},
		"a file that agents have": {path: "code/agents/x/a.go", want: []string{"**/workflows/*/workflow.md"}},
	} {
		with, without := lay(fileTree{}, gate.ParseExample(readFile(t, "testdata/base.txtar")).Files), lay(fileTree{}, gate.ParseExample(readFile(t, "testdata/base.txtar")).Files)
		with[change.path] = blobFile{data: "package a"}
		if change.adds {
			with, without = without, with
		}
		h := &countingHistory{memoryHistory: newMemoryHistory()}
		base := h.commit(with)
		report := gate.Range(t.Context(), h, base, h.commit(without, base), testOptions())
		if report.Verdict != gate.Pass || report.NoWorkspace {
			t.Errorf("%s: %s, %v, %v, no workspace: %t", name, report.Verdict, report.Failure, report.Findings, report.NoWorkspace)
		}
		if diff := cmp.Diff(change.want, h.globbed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTakes: who opened a path before may not find there what was found.
func TestTakes(t *testing.T) {
	file, program := gate.File{Mode: "100644", Object: "1"}, gate.File{Mode: "100755", Object: "2"}
	link, elsewhere := gate.File{Mode: "120000", Object: "1"}, gate.File{Mode: "120000", Object: "2"}
	module, other := gate.File{Mode: "160000", Object: "1"}, gate.File{Mode: "160000", Object: "2"}
	none, conflict := gate.File{}, gate.File{Unmerged: true}
	for _, c := range []struct {
		old, now gate.File
		want     bool
	}{
		{none, file, false}, {none, link, false}, {none, conflict, false}, {file, program, false}, {program, file, false},
		{file, conflict, false}, {link, conflict, false}, {module, other, false},
		{file, none, true}, {link, none, true}, {module, none, true}, {file, link, true}, {program, module, true},
		{link, file, true}, {link, elsewhere, true}, {module, file, true},
	} {
		if got := (gate.Change{Old: c.old, New: c.now}).Takes(); got != c.want {
			t.Errorf("from %v to %v: %t", c.old, c.now, got)
		}
	}
}
