package gate_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rules/witnesses"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/witness"
	"github.com/small-gate/small-gate/internal/policy"
)

// exampleNow is the present in which examples are judged.
var exampleNow = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// example is a rule's example or a case, as a history. The conventions are
// those of gate.Example.
type example struct {
	*memoryHistory
	// plain is true if there are only files, and no steps.
	plain bool
	// ids are the commits by step, steps the steps by commit.
	ids, steps map[string]string
	// tip is the last commit.
	tip string
}

// newExample lays an example over the base, step by step.
func newExample(t *testing.T, text string) *example {
	t.Helper()
	e := &example{memoryHistory: newMemoryHistory(), ids: map[string]string{}, steps: map[string]string{}}
	files := map[string][]catalogue.ExampleFile{}
	for _, f := range catalogue.ParseExample(text).Files {
		files[f.Step] = append(files[f.Step], f)
	}
	tree := lay(fileTree{}, catalogue.ParseExample(readFile(t, "testdata/base.txtar")).Files)
	if len(files) == 0 {
		t.Fatal("the example has no files")
	}
	if own, ok := files[""]; ok {
		if len(files) > 1 {
			t.Fatal("some of the example's files name a step and some do not")
		}
		e.plain = true
		e.step("1", lay(tree, own))
		return e
	}
	for n := 1; n == 1 || files[strconv.Itoa(n)] != nil; n++ {
		step := strconv.Itoa(n)
		tree = lay(tree, files[step])
		e.step(step, tree, strconv.Itoa(n-1))
		delete(files, step)
	}
	if files["seen"] != nil {
		e.step("seen", lay(tree, files["seen"]))
		e.step("now", lay(e.trees[e.tip], files["now"]))
		delete(files, "seen")
		delete(files, "now")
	}
	if files["theirs"] != nil {
		fork := e.steps[e.tip]
		e.step("ours", lay(tree, files["ours"]), fork)
		e.step("theirs", lay(tree, files["theirs"]), fork)
		if more := files["again"]; more != nil {
			e.step("again", lay(e.trees[e.tip], more), "theirs")
		}
		if own := files["merge"]; own != nil {
			e.step("merge", lay(e.merged(t, tree, own), own), "ours", "theirs")
		}
		for _, step := range []string{"ours", "theirs", "again", "merge"} {
			delete(files, step)
		}
	}
	for step := range files {
		t.Fatalf("the step %q leads from nowhere", step)
	}
	return e
}

// step adds a step's commit. A parent that is not a step is left out.
func (e *example) step(name string, tree fileTree, parents ...string) {
	var ids []string
	for _, p := range parents {
		if id := e.ids[p]; id != "" {
			ids = append(ids, id)
		}
	}
	by, signed := tree[catalogue.CommitFile]
	delete(tree, catalogue.CommitFile) // each step's is its own
	e.tip = e.commit(tree, ids...)
	if signed {
		e.sign(e.tip, signature(by.data))
	}
	e.ids[name], e.steps[e.tip] = e.tip, name
}

// signature reads what an example says about a commit.
func signature(text string) history.Signature {
	author, message, _ := strings.Cut(text, "\n\n")
	name, email, _ := strings.Cut(strings.TrimPrefix(author, "Author: "), " <")
	return history.Signature{Name: name, Email: strings.TrimSuffix(strings.TrimSpace(email), ">"), Message: message}
}

// lay returns a tree with files laid over it. A path replaces what
// is at it and below it.
func lay(over fileTree, files []catalogue.ExampleFile) fileTree {
	out := maps.Clone(over)
	for _, f := range files {
		maps.DeleteFunc(out, func(path string, _ blobFile) bool {
			return path == f.Path || strings.HasPrefix(path, f.Path+"/")
		})
		if f.Mode != "" {
			out[f.Path] = blobFile{data: f.Content, mode: f.Mode}
		}
	}
	return out
}

// merged is ours with what theirs changed since the fork. What both changed
// must be among the merge's own files.
func (e *example) merged(t *testing.T, fork fileTree, own []catalogue.ExampleFile) fileTree {
	t.Helper()
	ours, theirs := e.trees[e.ids["ours"]], e.trees[e.ids["theirs"]]
	out := maps.Clone(ours)
	both := maps.Clone(fork)
	maps.Copy(both, theirs)
	for path := range both {
		now, there := theirs[path]
		if now == fork[path] {
			continue
		}
		written := slices.ContainsFunc(own, func(f catalogue.ExampleFile) bool { return f.Path == path })
		if ours[path] != fork[path] && ours[path] != now && !written {
			t.Fatalf("ours and theirs both change %s, and merge does not say what becomes of it", path)
		}
		if there {
			out[path] = now
		} else {
			delete(out, path)
		}
	}
	return out
}

// stepWords names the commit of a finding as cases do.
func (e *example) stepWords(commit string) string {
	if e.plain || commit == "" {
		return ""
	}
	return catalogue.ExampleFile{Step: e.steps[commit]}.StepName()
}

// policy is the configuration in the tree that is trusted: that of ours if
// there are two sides, that of HEAD for the index, else the tip's.
func (e *example) policy(t *testing.T, index bool) *policy.Policy {
	t.Helper()
	revision := e.tip
	switch id := e.ids["ours"]; {
	case id != "":
		revision = id
	case e.ids["seen"] != "":
		revision = e.ids["seen"]
	case index:
		revision = e.commits[e.tip].Parents[0]
	}
	f, ok := e.trees[revision][policy.File]
	if !ok {
		return nil
	}
	schemas := &policy.SchemaFiles{Read: func(path string) ([]byte, bool, error) {
		f, ok := e.trees[revision][path]
		return []byte(f.data), ok, nil
	}}
	p, err := policy.ParseWhole(policy.File, []byte(f.data), catalogue.Known(), schemas)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// judge judges an example as its kind demands: without steps as a directory, a
// line of commits by an audit, two branches as a request to merge, a merge by
// an audit and as what is to become of ours. If the last step is the index, it
// is judged as a commit about to be made.
func (e *example) judge(t *testing.T, s settings) foundList {
	t.Helper()
	opts := run.Options{Mode: "check", Strict: s.strict, EachCommit: s.each, Kinds: s.kinds, Now: exampleNow, Policy: e.policy(t, s.index), Agent: s.agent, Branch: s.branch}
	opts.Reach = e.reach
	ctx := context.Background()
	var reports []*finding.Report
	switch {
	case e.plain:
		reports = append(reports, gate.Check(ctx, e, e.tip, "", opts))
	case s.index:
		e.stage(e.trees[e.tip])
		e.sign(history.Index, e.signatures[e.tip])
		reports = append(reports, gate.Pending(ctx, e, e.commits[e.tip].Parents, opts))
	case e.ids["now"] != "":
		reports = append(reports, e.witness(t, opts))
	case e.ids["merge"] != "":
		reports = append(reports, gate.Audit(ctx, e, e.tip, opts), gate.Range(ctx, e, e.ids["ours"], e.tip, opts))
	case e.ids["theirs"] != "":
		reports = append(reports, gate.Range(ctx, e, e.ids["ours"], e.tip, opts))
	default:
		reports = append(reports, gate.Audit(ctx, e, e.tip, opts))
	}
	var out foundList
	for _, r := range reports {
		if r.Verdict == finding.Error {
			t.Fatalf("it could not be judged: %v", r.Failure)
		}
		checkFixes(t, r)
		for _, f := range r.Findings {
			if strings.HasPrefix(f.Rule, "workflow/") {
				needsFix(t, f)
			}
			out = append(out, found{
				place:    fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column),
				severity: string(f.Severity), rule: f.Rule, step: e.stepWords(f.Commit), message: f.Message, fix: f.Fix,
			})
		}
	}
	return out
}

// reach finds a commit among all that there are.
func (e *example) reach(_ context.Context, id string, _ []string) (history.Reach, error) {
	for commit := range e.trees {
		if strings.HasPrefix(commit, id) {
			return history.Reach{Commit: commit, Reached: true}, nil
		}
	}
	return history.Reach{}, nil
}

// witness compares what is there now with what a witness has seen. The old commit is still in its clone.
func (e *example) witness(t *testing.T, opts run.Options) *finding.Report {
	here := func(string) (bool, error) { return true, nil }
	first, seen := look(e, []witnesses.Witnessed{{Seen: witness.Ref{Name: "refs/heads/main"}, Tip: e.ids["seen"], Here: here}}, nil, opts)
	if first.Verdict != finding.Pass || len(seen) != 1 {
		t.Fatalf("a first look: %v, %v", first, seen)
	}
	report, _ := look(e, []witnesses.Witnessed{{Seen: seen[0], Tip: e.ids["now"], Here: here}}, nil, opts)
	return report
}
