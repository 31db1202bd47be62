package githistory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// longHistory makes a packed repository with many files and n commits, of which every tenth appends to the log.
func longHistory(b *testing.B, n int) (*gittest.Repo, []history.Commit) {
	b.Helper()
	r := gittest.New(b)
	var s strings.Builder
	data := func(text string) { fmt.Fprintf(&s, "data %d\n%s\n", len(text), text) }
	log := "entries:\n"
	for i := range n {
		fmt.Fprintf(&s, "commit refs/heads/main\ncommitter T <t@example.com> %d +0000\n", 1_700_000_000+i)
		data(fmt.Sprint("commit ", i))
		if i == 0 {
			for j := range 1000 {
				fmt.Fprintf(&s, "M 100644 inline dir%d/file%d\n", j%20, j)
				data(fmt.Sprint(j))
			}
		}
		fmt.Fprintf(&s, "M 100644 inline dir%d/file%d\n", i%20, i%1000)
		data(fmt.Sprint("change ", i))
		if i%10 == 0 {
			log += fmt.Sprintf("  - task_id: t%d\n", i)
			s.WriteString("M 100644 inline .small/progress.small.yml\n")
			data(log)
		}
	}
	r.GitInput(s.String(), "fast-import", "--quiet")
	r.Git("reset", "-q", "--hard")
	r.Git("gc", "-q")
	commits, err := readers[0].open(b, r).Commits(b.Context(), []string{r.ID("HEAD")}, nil)
	if err != nil || len(commits) != n {
		b.Fatalf("%d commits, %v", len(commits), err)
	}
	return r, history.InOrder(commits)
}

// eachBenchmark runs a benchmark for each reader, under its name.
func eachBenchmark(b *testing.B, name string, run func(b *testing.B, rd reader)) {
	for _, rd := range readers {
		b.Run(name+"reader="+rd.name, func(b *testing.B) { run(b, rd) })
	}
}

// A hook with nothing of ours staged. The git reader starts two processes.
func BenchmarkNothingStaged(b *testing.B) {
	for _, files := range []int{1000, 50_000} {
		r, _ := longHistory(b, 100)
		var index strings.Builder
		for i := range files {
			fmt.Fprintf(&index, "100644 %s\tmore/%d/%d\x00", r.ID("HEAD:dir0/file0"), i%100, i)
		}
		r.GitInput(index.String(), "update-index", "-z", "--index-info")
		r.Git("commit", "-q", "-m", "more")
		head := r.ID("HEAD")
		r.Write("dir0/file0", "staged")
		r.Git("add", "dir0/file0")
		eachBenchmark(b, fmt.Sprintf("files=%d/", files), func(b *testing.B, rd reader) {
			for b.Loop() {
				repo, err := rd.try(b.Context(), r.Dir, r.Environ())
				if err != nil {
					b.Fatal(err)
				}
				parent, err := repo.Head(b.Context())
				if err != nil || parent != head {
					b.Fatal(parent, err)
				}
				got, err := repo.Diff(b.Context(), []history.Edge{{Parent: parent, Child: history.Index}}, judged)
				if err != nil || len(got[0]) != 0 {
					b.Fatal(got, err)
				}
				if err := repo.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("files=%d/git diff --cached --quiet -- .small", files), func(b *testing.B) {
			// The only command that a person would type, for comparison.
			for b.Loop() {
				if _, err := r.Try("diff", "--cached", "--quiet", "--", ".small"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A hook before a push: the last ten commits and their changes.
func BenchmarkRange(b *testing.B) {
	for _, n := range []int{100, 5000} {
		r, commits := longHistory(b, n)
		tip, base := commits[n-1].ID, commits[n-11].ID
		eachBenchmark(b, fmt.Sprintf("commits=%d/", n), func(b *testing.B, rd reader) {
			for b.Loop() {
				repo, err := rd.try(b.Context(), r.Dir, r.Environ())
				if err != nil {
					b.Fatal(err)
				}
				own, err := repo.Commits(b.Context(), []string{tip}, []string{base})
				if err != nil || len(own) != 10 {
					b.Fatal(own, err)
				}
				var edges []history.Edge
				for _, c := range own {
					edges = append(edges, history.EdgesOf(c.ID, c.Parents)...)
				}
				if _, err := repo.Diff(b.Context(), edges, judged); err != nil {
					b.Fatal(err)
				}
				if err := repo.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCommits(b *testing.B) {
	for _, n := range []int{100, 5000} {
		r, commits := longHistory(b, n)
		tip := []string{commits[n-1].ID}
		eachBenchmark(b, fmt.Sprintf("commits=%d/", n), func(b *testing.B, rd reader) {
			for b.Loop() {
				if _, err := rd.open(b, r).Commits(b.Context(), tip, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkChanges(b *testing.B) {
	for _, n := range []int{100, 5000} {
		r, commits := longHistory(b, n)
		var edges []history.Edge
		for _, c := range commits {
			edges = append(edges, history.EdgesOf(c.ID, c.Parents)...)
		}
		eachBenchmark(b, fmt.Sprintf("commits=%d/", n), func(b *testing.B, rd reader) {
			for b.Loop() {
				got, err := rd.open(b, r).Diff(b.Context(), edges, judged)
				if err != nil || len(got[0]) != 1 || len(got[1]) != 0 || len(got[10]) != 1 {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBlob(b *testing.B) {
	r := gittest.New(b)
	for _, size := range []int{1 << 10, 1 << 20} {
		id := r.GitInput(strings.Repeat("0123456789abcde\n", size/16), "hash-object", "-w", "--stdin")
		eachBenchmark(b, fmt.Sprintf("bytes=%d/", size), func(b *testing.B, rd reader) {
			repo := rd.open(b, r)
			for b.Loop() {
				if blob, err := repo.Blob(b.Context(), id, 1<<30); err != nil || blob.Size != int64(size) {
					b.Fatal(err)
				}
			}
		})
	}
}
