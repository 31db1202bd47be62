package gate_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// countingHistory notes what was listed of a revision, except attributes.
type countingHistory struct {
	*memoryHistory
	listed []history.Filter
}

func (h *countingHistory) List(ctx context.Context, revision string, f history.Filter) ([]history.File, error) {
	if !reflect.DeepEqual(f, history.Attributes([]string{""})) {
		h.listed = append(h.listed, f)
	}
	return h.memoryHistory.List(ctx, revision, f)
}

// TestCheckListsOnce: in a repository without workflows, the tree is not listed
// a second time for them.
func TestCheckListsOnce(t *testing.T) {
	tree := lay(fileTree{}, catalogue.ParseExample(readFile(t, "testdata/base.txtar")).Files)
	for name, check := range map[string]func(history.Tree, string) *finding.Report{
		"check": func(tree history.Tree, revision string) *finding.Report {
			return gate.Check(t.Context(), tree, revision, "", testOptions())
		},
		"check --recursive": func(tree history.Tree, revision string) *finding.Report {
			return gate.CheckAll(t.Context(), tree, revision, "", testOptions())
		},
	} {
		h := &countingHistory{memoryHistory: newMemoryHistory()}
		report := check(h, h.commit(tree))
		if report.Verdict != finding.Pass {
			t.Errorf("%s: %s, %v, %v", name, report.Verdict, report.Failure, report.Findings)
		}
		if len(h.listed) != 1 {
			t.Errorf("%s: listed %+v", name, h.listed)
		}
	}
}

// TestWorkflowsOnlyWhereConfigured: without the section workflow files are not looked
// for, whatever a change does; with it, those that a change touches are read.
func TestWorkflowsOnlyWhereConfigured(t *testing.T) {
	const at, broken = "workflows/job/workflow.md", "no front matter"
	before := lay(fileTree{}, catalogue.ParseExample(readFile(t, "testdata/base.txtar")).Files)
	after := lay(fileTree{}, catalogue.ParseExample(readFile(t, "testdata/base.txtar")).Files)
	before["agents/a.md"], after[at], after["other/"+at] = blobFile{data: "1"}, blobFile{data: broken}, blobFile{data: broken}
	configured := testOptions()
	p, err := policy.Parse("the test", []byte("version: 1\nworkflows: {}\n"), catalogue.Known())
	if err != nil {
		t.Fatal(err)
	}
	configured.Policy = p
	for name, c := range map[string]struct {
		opts     run.Options
		findings int
	}{"without the section": {testOptions(), 0}, "with it": {configured, 2}} {
		h := &countingHistory{memoryHistory: newMemoryHistory()}
		base := h.commit(before)
		head := h.commit(after, base)
		h.stage(after)
		reports := map[string]*finding.Report{
			"range": gate.Range(t.Context(), h, base, head, c.opts), "pending": gate.Pending(t.Context(), h, []string{base}, c.opts),
			"audit": gate.Audit(t.Context(), h, head, c.opts), "check --recursive": gate.CheckAll(t.Context(), h, head, "", c.opts),
			"push": gate.Push(t.Context(), h, history.Update{Ref: "refs/heads/main", Old: base, New: head}, c.opts),
		}
		for mode, r := range reports {
			if r.Failure != nil || len(r.Findings) != c.findings || r.Examined.Workflows != c.findings {
				t.Errorf("%s, %s: %v, %d workflows, %v", name, mode, r.Failure, r.Examined.Workflows, r.Findings)
			}
		}
		for _, f := range h.listed {
			if c.findings == 0 && len(f.Patterns) > 0 {
				t.Errorf("%s: somebody looked for %q", name, f.Patterns)
			}
		}
	}
}
