package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
)

// lineHistory is a gate.History on one line, in which a log grows: every
// version is a beginning of the last one, so that thousands of versions of a
// large log fit into memory.
type lineHistory struct {
	log []byte
	// ends are the log's size in each commit; commit i's parent is i-1.
	ends  []int
	rest  []history.File
	blobs map[string]string
}

// newLineHistory spreads entries evenly over commits.
func newLineHistory(entries, commits int) *lineHistory {
	h := &lineHistory{blobs: map[string]string{}}
	var text strings.Builder
	text.WriteString("small_version: \"1.0.0\"\nowner: agent\nentries:\n")
	ends := make([]int, entries+1)
	ends[0] = text.Len()
	for i := range entries {
		at := firstTime.Add(secondsOf(i)).Format("2006-01-02T15:04:05.000000000Z")
		fmt.Fprintf(&text, `  - task_id: "task-%d"
    timestamp: %q
    replayId: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
    status: "completed"
    evidence: "the importer reads %d rows and stops where it should"
    command: "go test ./importer -run TestRead"
    commit: "%07x"
    notes: |
      === RUN   TestRead
      --- PASS: TestRead (0.02s)
      === RUN   TestReadTwice
      --- PASS: TestReadTwice (0.04s)
      ok  	importer	0.311s, and then the same again with the
      larger export, which took as long as expected; nothing else
      was touched, and the checkpoints are where they were before.
`, i%50, at, i, i)
		ends[i+1] = text.Len()
	}
	h.log = []byte(text.String())
	for i := range commits {
		h.ends = append(h.ends, ends[max(1, entries*(i+1)/commits)])
	}
	for a, data := range artifacts {
		if a == small.Plan {
			var tasks strings.Builder
			for i := range min(50, entries) {
				fmt.Fprintf(&tasks, "  - {id: task-%d, title: a task, status: completed}\n", i)
			}
			data = "small_version: \"1.0.0\"\nowner: agent\ntasks:\n" + tasks.String()
		}
		h.blobs[string(a)] = data
		h.rest = append(h.rest, history.File{Path: a.Path(""), Mode: "100644", Object: string(a)})
	}
	return h
}

func secondsOf(i int) time.Duration { return time.Duration(i) * time.Second }

func commitID(i int) string { return fmt.Sprintf("%040d", i) }

// number is a revision's number; the index comes after the last commit.
func (h *lineHistory) number(revision string) int {
	n, err := strconv.Atoi(revision)
	if err != nil {
		return len(h.ends) - 1
	}
	return n
}

func (h *lineHistory) file(n int) history.File {
	return history.File{Path: small.Progress.Path(""), Mode: "100644", Object: strconv.Itoa(h.ends[n])}
}

func (h *lineHistory) Commits(_ context.Context, include, _ []string) ([]history.Commit, error) {
	var out []history.Commit
	for i := range h.number(include[0]) + 1 {
		c := history.Commit{ID: commitID(i)}
		if i > 0 {
			c.Parents = []string{commitID(i - 1)}
		}
		out = append(out, c)
	}
	return out, nil
}

func (h *lineHistory) Diff(_ context.Context, edges []history.Edge, _ history.Filter) ([][]history.Change, error) {
	out := make([][]history.Change, len(edges))
	for i, e := range edges {
		now := h.file(h.number(e.Child))
		if e.Parent == "" {
			out[i] = []history.Change{{Path: now.Path, New: now}}
			continue
		}
		if before := h.file(h.number(e.Parent)); before != now {
			out[i] = []history.Change{{Path: now.Path, Old: before, New: now}}
		}
	}
	return out, nil
}

func (h *lineHistory) List(_ context.Context, revision string, f history.Filter) ([]history.File, error) {
	if !f.Workspaces {
		return nil, nil
	}
	return append([]history.File{h.file(h.number(revision))}, h.rest...), nil
}

func (h *lineHistory) Blob(_ context.Context, object string, _ int64) (history.Blob, error) {
	if data, known := h.blobs[object]; known {
		return history.Blob{Size: int64(len(data)), Data: []byte(data)}, nil
	}
	end, err := strconv.Atoi(object)
	return history.Blob{Size: int64(end), Data: h.log[:end:end]}, err
}

// mustPass stops a benchmark that measures anything other than a pass.
func mustPass(b *testing.B, r *finding.Report) {
	b.Helper()
	if r.Verdict != finding.Pass {
		b.Fatalf("verdict %s, %v, %+v", r.Verdict, r.Failure, r.Findings)
	}
}

var benchOptions = run.Options{Mode: "bench", Now: now, MaxFileSize: 1 << 30}

// BenchmarkCheck judges one snapshot, all rules, as `check` does.
func BenchmarkCheck(b *testing.B) {
	for _, entries := range []int{10, 1000, 20000} {
		h := newLineHistory(entries, 1)
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			b.SetBytes(int64(len(h.log)))
			for b.Loop() {
				mustPass(b, gate.Check(context.Background(), h, commitID(0), "", benchOptions))
			}
		})
	}
}

// BenchmarkPending judges an index with one more entry than HEAD, as
// `pre-commit` does.
func BenchmarkPending(b *testing.B) {
	for _, entries := range []int{10, 1000, 20000} {
		h := newLineHistory(entries, entries)
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			b.SetBytes(int64(len(h.log)))
			for b.Loop() {
				mustPass(b, gate.Pending(context.Background(), h, []string{commitID(entries - 2)}, benchOptions))
			}
		})
	}
}

// BenchmarkAudit judges a whole history, whose log ends with so many entries.
func BenchmarkAudit(b *testing.B) {
	for _, entries := range []int{10, 1000, 20000} {
		for _, commits := range []int{100, 5000} {
			h := newLineHistory(entries, commits)
			b.Run(fmt.Sprintf("entries=%d/commits=%d", entries, commits), func(b *testing.B) {
				for b.Loop() {
					mustPass(b, gate.Audit(context.Background(), h, commitID(commits-1), benchOptions))
				}
			})
		}
	}
}

// Signature is the same for every commit.
func (h *lineHistory) Signature(context.Context, string) (history.Signature, error) {
	return history.Signature{Name: "Ada", Email: "ada@example.com", Message: "append\n"}, nil
}

func (h *lineHistory) MergeBases(_ context.Context, _, _ string) ([]string, error) {
	return nil, errors.New("a line of commits has no branches")
}

// BenchmarkReplaced judges an index in which every entry is another one on the
// same tasks: nothing is equal, and all of it has to be explained.
func BenchmarkReplaced(b *testing.B) {
	for _, entries := range []int{10, 1000, 20000} {
		log := string(newLineHistory(entries, 1).log)
		other := strings.NewReplacer(`timestamp: "2026`, `timestamp: "2025`, "the importer", "it", "go test", "make", "PASS", "FAIL",
			`commit: "`, `commit: "f`).Replace(log)
		h := newMemoryHistory()
		head := h.commit(fileTree{logPath(""): {data: log}})
		h.stage(fileTree{logPath(""): {data: other}})
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			for b.Loop() {
				r := gate.Pending(context.Background(), h, []string{head}, benchOptions)
				if n := r.Count().Errors; n < entries {
					b.Fatalf("%d findings, %v", n, r.Failure)
				}
			}
		})
	}
}
