package githistory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestMarks finds the two marks of files on disk, in every form of an index, and none of what a sparse checkout keeps out.
func TestMarks(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testMarks)
}

func testMarks(t *testing.T, rd reader) {
	t.Parallel()
	const logFile, other, away = "a/.small/x", "a/.small/y", "b/.small/x"
	for name, setUp := range map[string]string{
		"version 3": "status", "version 4": "update-index --index-version=4", "split": "update-index --split-index",
		"sparse": "sparse-checkout set --cone a", "sparse index": "sparse-checkout set --cone --sparse-index a", "SHA-256": "status",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var options []gittest.Option
			if name == "SHA-256" {
				options = append(options, gittest.SHA256())
			}
			r := gittest.New(t, options...)
			for _, path := range []string{logFile, other, away} {
				r.Write(path, "1")
			}
			r.Commit("first")
			r.Git(strings.Fields(setUp)...)
			if strings.HasPrefix(name, "sparse") && rd.refuses(t, r, "extensions.worktreeconfig") || name == "SHA-256" && rd.refuses(t, r, "extensions.objectformat") {
				return
			}
			want := func(want ...githistory.Mark) {
				t.Helper()
				got, err := rd.open(t, r).Marks(t.Context(), history.Workspaces())
				if name == "split" && rd.name == "go-git" {
					wantUnserved(t, err, "index")
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(want, got) {
					t.Errorf("%v instead of %v", got, want)
				}
			}
			want()
			r.Git("update-index", "--assume-unchanged", logFile)
			want(githistory.Mark{Path: logFile, AssumeUnchanged: true})
			if strings.HasPrefix(name, "sparse") {
				return // git ignores the other mark on a file that is there
			}
			r.Git("update-index", "--skip-worktree", logFile)
			r.Git("update-index", "--skip-worktree", away)
			r.Remove("b")
			want(githistory.Mark{Path: logFile, SkipWorktree: true, AssumeUnchanged: true})
			r.Git("update-index", "--no-assume-unchanged", logFile)
			want(githistory.Mark{Path: logFile, SkipWorktree: true})
			r.Git("update-index", "--no-skip-worktree", logFile)
			want()
		})
	}
}

// TestMarksAsGit compares the marks in random indexes with what git ls-files -v says.
func TestMarksAsGit(t *testing.T) {
	gittest.Long(t)
	rnd := rand.New(rand.NewPCG(gittest.Seed(1), 42))
	r := gittest.New(t)
	blob := r.GitInput("x", "hash-object", "-w", "--stdin")
	for round := range gittest.Rounds(4, 60) {
		r.Git("read-tree", "--empty")
		var list strings.Builder
		for range 1 + rnd.IntN(40) {
			var path []string
			for range 1 + rnd.IntN(3) {
				path = append(path, strings.Repeat(string(rune('a'+rnd.IntN(4))), 1+rnd.IntN(4)*rnd.IntN(60)))
			}
			fmt.Fprintf(&list, "100644 %s\t%s.f\n", blob, strings.Join(path, "/"))
		}
		r.GitInput(list.String(), "update-index", "--add", "--replace", "--index-info")
		paths := strings.Fields(r.Git("ls-files"))
		for _, mark := range []string{"--skip-worktree", "--assume-unchanged"} {
			for range rnd.IntN(4) {
				r.Git("update-index", mark, paths[rnd.IntN(len(paths))])
			}
		}
		if rnd.IntN(2) == 0 {
			r.Git("update-index", "--index-version=4")
		}
		var want []githistory.Mark
		for line := range strings.Lines(r.Git("ls-files", "-v") + "\n") {
			letter, path, _ := strings.Cut(strings.TrimSpace(line), " ")
			if letter != "H" {
				want = append(want, githistory.Mark{Path: path, SkipWorktree: strings.EqualFold(letter, "S"), AssumeUnchanged: letter == strings.ToLower(letter)})
			}
		}
		got, err := githistory.MarksIn(r.Path(".git/index"), githistory.SHA1)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("round %d: %v, %v, but git says %v", round, got, err, want)
		}
		data, err := os.ReadFile(r.Path(".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		cut := rnd.IntN(len(data))
		r.Write("cut", string(data[:cut]))
		if _, err := githistory.MarksIn(r.Path("cut"), githistory.SHA1); err != nil && !errors.Is(err, githistory.ErrIndexForm) {
			t.Fatalf("cut to %d bytes: %v", cut, err)
		}
		r.Remove("cut")
	}
}
