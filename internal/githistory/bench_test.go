package githistory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gittest"
)

// history makes a repository with many files and n commits, of which every
// tenth appends to the log, packed.
func history(b *testing.B, n int) (*gittest.Repo, []gate.Commit) {
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
	repo, err := Open(b.Context(), r.Dir, Options{Environ: r.Environ()})
	if err != nil {
		b.Fatal(err)
	}
	commits, err := repo.Commits(b.Context(), []string{r.ID("HEAD")}, nil, "")
	if err != nil || len(commits) != n {
		b.Fatalf("%d commits, %v", len(commits), err)
	}
	return r, commits
}

// What a hook does when nothing of ours is staged: two processes.
func BenchmarkNothingStaged(b *testing.B) {
	r, commits := history(b, 100)
	r.Write("dir0/file0", "staged")
	r.Git("add", "-A")
	opts := Options{Environ: r.Environ()}
	head := commits[len(commits)-1].ID
	for b.Loop() {
		repo, err := Open(b.Context(), r.Dir, opts)
		if err != nil {
			b.Fatal(err)
		}
		parent, err := repo.Head(b.Context())
		if err != nil || parent != head {
			b.Fatal(parent, err)
		}
		got, err := repo.Changes(b.Context(), []gate.Edge{{Parent: parent, Child: gate.Index}})
		if err != nil || len(got[0]) != 0 {
			b.Fatal(got, err)
		}
		if err := repo.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// For comparison: the one command that a person would type.
func BenchmarkGitDiffCachedQuiet(b *testing.B) {
	r, _ := history(b, 100)
	repo := &Repo{git: "git", dir: r.Dir, environ: r.Environ()}
	for b.Loop() {
		if _, err := repo.output(b.Context(), nil, "diff", "--cached", "--quiet"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommits(b *testing.B) {
	for _, n := range []int{100, 5000} {
		r, commits := history(b, n)
		repo := open(b, r)
		tip := []string{commits[n-1].ID}
		for _, path := range []string{"", ".small"} {
			b.Run(fmt.Sprintf("commits=%d/path=%s", n, path), func(b *testing.B) {
				for b.Loop() {
					if _, err := repo.Commits(b.Context(), tip, nil, path); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkChanges(b *testing.B) {
	for _, n := range []int{100, 5000} {
		r, commits := history(b, n)
		repo := open(b, r)
		var edges []gate.Edge
		for _, c := range commits {
			if len(c.Parents) == 0 {
				edges = append(edges, gate.Edge{Child: c.ID})
			}
			for _, p := range c.Parents {
				edges = append(edges, gate.Edge{Parent: p, Child: c.ID})
			}
		}
		b.Run(fmt.Sprintf("commits=%d", n), func(b *testing.B) {
			for b.Loop() {
				got, err := repo.Changes(b.Context(), edges)
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
		repo := open(b, r)
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			for b.Loop() {
				if blob, err := repo.Blob(b.Context(), id, 1<<30); err != nil || blob.Size != int64(size) {
					b.Fatal(err)
				}
			}
		})
	}
}
