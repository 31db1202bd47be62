package gate_test

import (
	"context"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
)

// countingHistory counts how often somebody looks at a whole revision.
type countingHistory struct {
	*memoryHistory
	listings, surveys int
}

func (h *countingHistory) Files(ctx context.Context, revision string, dirs ...string) ([]gate.File, error) {
	h.listings++
	return h.memoryHistory.Files(ctx, revision, dirs...)
}

func (h *countingHistory) Glob(ctx context.Context, revision string, patterns ...string) ([]gate.File, error) {
	h.listings++
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
