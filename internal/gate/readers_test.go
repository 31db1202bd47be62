package gate_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/plain"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var repositories = flag.Int("repositories", gittest.Cases(4, 12), "how many random histories are judged in real repositories too")

// TestReaders puts random histories into real repositories and judges them
// there with each reader. Both give the same report as for the history
// in memory, and its verdict is the naive model's.
// A long run: go test ./internal/gate -run TestReaders -repositories=10000 -timeout 0.
func TestReaders(t *testing.T) {
	gittest.Long(t)
	const batches = 4
	for batch := range min(batches, *repositories) {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			t.Parallel()
			for i := batch; i < *repositories; i += batches {
				n := *firstSeed + uint64(i)
				w := buildWorld(&tape{bytes: randomTape(n)})
				ok := t.Run(fmt.Sprintf("seed=%d", n), func(t *testing.T) { judgeInRepository(t, w) })
				if !ok {
					t.Fatalf("seed %d:\n%s", n, w.draw())
				}
			}
		})
	}
}

// whole compares what is not exported too.
var whole = gocmp.Exporter(func(reflect.Type) bool { return true })

// judgeInRepository judges a world in memory and with both readers.
func judgeInRepository(t *testing.T, w *world) {
	repo := gittest.New(t)
	ids := w.write(repo)
	memory, memoryIDs := w.history()
	m := w.model()
	git, err := githistory.Open(t.Context(), repo.Dir, githistory.Options{Environ: repo.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	own, err := plain.Open(t.Context(), repo.Dir, repo.Environ())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, err := range []error{git.Close(), own.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	}()
	compare := func(what string, want modelVerdict, judge func(h history.History, ids []string) *finding.Report) {
		t.Helper()
		byGit, byOwn, inMemory := judge(git, ids), judge(own, ids), judge(memory, memoryIDs)
		if diff := gocmp.Diff(byGit, byOwn, whole); diff != "" {
			t.Errorf("%s: the readers' reports differ (-git +go-git)\n%s", what, diff)
		}
		if diff := gocmp.Diff(outline(inMemory, memoryIDs), outline(byOwn, ids)); diff != "" {
			t.Errorf("%s: the report is not that of the history in memory (-memory +go-git)\n%s", what, diff)
		}
		if byOwn.Verdict == finding.Error || want != unsure && refuses(byOwn) != (want == bad) {
			t.Errorf("%s is %s in the model, %s in the repository: %v", what, want, byOwn.Verdict, byOwn.Failure)
		}
	}
	last := len(ids) - 1
	compare("the audit", m.judgeAudit(last), func(h history.History, ids []string) *finding.Report {
		return gate.Audit(context.Background(), h, ids[last], w.options())
	})
	for _, pair := range w.pairs {
		compare(fmt.Sprintf("range c%d..c%d", pair[0], pair[1]), m.judgeRange(pair[0], pair[1]), func(h history.History, ids []string) *finding.Report {
			return gate.Range(context.Background(), h, ids[pair[0]], ids[pair[1]], w.options())
		})
		compare(fmt.Sprintf("push of c%d over c%d", pair[1], pair[0]), m.judgePush(pair[0], pair[1]), func(h history.History, ids []string) *finding.Report {
			return gate.Push(context.Background(), h, history.Update{Ref: "refs/heads/b", Old: ids[pair[0]], New: ids[pair[1]]}, w.options())
		})
	}
	for c := last; c >= 0; c -= 3 {
		repo.Git("read-tree", "--reset", ids[c])
		memory.stage(w.commits[c].tree())
		compare(fmt.Sprintf("c%d as the index", c), m.judgeCommit(c), func(h history.History, ids []string) *finding.Report {
			return gate.Pending(context.Background(), h, pick(ids, w.commits[c].parents), w.options())
		})
	}
}

// write makes the world's commits in a repository and returns their ids.
func (w *world) write(repo *gittest.Repo) []string {
	var script strings.Builder
	for i, c := range w.commits {
		fmt.Fprintf(&script, "commit refs/heads/c%d\nmark :%d\ncommitter T <t@example.com> %d +0000\ndata 1\nx\n", i, i+1, 1_700_000_000+i)
		for k, p := range c.parents {
			word := "merge"
			if k == 0 {
				word = "from"
			}
			fmt.Fprintf(&script, "%s :%d\n", word, p+1)
		}
		script.WriteString("deleteall\n")
		tree := c.tree()
		for _, path := range slices.Sorted(maps.Keys(tree)) {
			f := tree[path]
			fmt.Fprintf(&script, "M %s inline %s\ndata %d\n%s\n", cmp.Or(f.mode, "100644"), path, len(f.data), f.data)
		}
		script.WriteString("\n")
	}
	repo.GitInput(script.String(), "fast-import", "--quiet", "--force")
	var ids []string
	for i := range w.commits {
		ids = append(ids, repo.ID(fmt.Sprintf("refs/heads/c%d", i)))
	}
	return ids
}

// outline is what a report says, with numbers for the names of commits. If two
// findings say the same about one place, such as the loss of a log that two
// parents have, the one with the lesser id is reported; hence neither parents
// nor digests are here.
func outline(r *finding.Report, ids []string) []string {
	var lines []string
	for _, list := range [][]finding.Finding{r.Findings, r.Waived} {
		for _, f := range list {
			lines = append(lines, fmt.Sprintf("%s %s c%d %s:%d:%d", f.Severity, f.Rule, slices.Index(ids, f.Commit), f.Path, f.Line, f.Column))
		}
		slices.Sort(lines) // findings at one place are in order of their commits' ids
		lines = append(lines, "")
	}
	var numbers []string
	for i, id := range ids {
		numbers = append(numbers, id, fmt.Sprint("c", i)) // a log's entries name the branch that brought them
	}
	return append(lines, strings.NewReplacer(numbers...).Replace(fmt.Sprint(r.Verdict, r.Examined.Commits, r.Examined.Workspaces, r.Ledgers)))
}
