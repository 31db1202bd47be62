package worktree_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/git/worktree"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Suite{M: m}.Run()) }

// diff is the changes of the work tree since HEAD, in the form of git diff-index --raw, with either reader.
func diff(t *testing.T, r *gittest.Repo, reader string) []string {
	t.Helper()
	var out []string
	source := repository.Source{Dir: r.Dir, Environ: r.Environ(), Reader: reader, Mode: "check"}
	_, err := source.Do(t.Context(), func(repo repository.Repository, _ string) error {
		h, err := worktree.Open(repo, r.Dir, 1<<20)
		if err != nil {
			return err
		}
		head, err := repo.Head(t.Context())
		if err != nil {
			return err
		}
		changes, err := h.Diff(t.Context(), []history.Edge{{Parent: head, Child: history.WorkTree}}, history.Filter{All: true})
		if err != nil {
			return err
		}
		for _, c := range changes[0] {
			kind := "M"
			switch {
			case c.Old.Mode == "":
				kind = "A"
			case c.New.Mode == "":
				kind = "D"
			case c.Old.Mode[:2] != c.New.Mode[:2]:
				kind = "T"
			}
			out = append(out, kind+" "+c.Path)
			if c.New.Mode != "" {
				blob, err := h.Blob(context.Background(), c.New.Object, 1<<20)
				if err != nil {
					return err
				}
				if want, err := os.ReadFile(r.Path(c.Path)); err == nil && kind != "T" && string(blob.Data) != string(want) {
					t.Errorf("%s is read as %q, not %q", c.Path, blob.Data, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDiffIsGits changes files and the index at random, and demands git's own diff.
func TestDiffIsGits(t *testing.T) {
	gittest.Long(t)
	for seed := range uint64(gittest.Cases(6, 40)) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(gittest.Seed(seed), 0))
			var options []gittest.Option
			if seed%3 == 2 {
				options = append(options, gittest.SHA256())
			}
			r := gittest.New(t, options...)
			paths := []string{"a", "b/c", "b/d", ".small/progress.small.yml", "e f/g"}
			for _, p := range paths[:4] {
				r.Write(p, "text of "+p)
			}
			r.Commit("one")
			for range 8 {
				change(r, rnd, paths)
				want := strings.Split(r.Git("diff-index", "--name-status", "HEAD"), "\n")
				for i := range want {
					want[i] = strings.Trim(strings.ReplaceAll(want[i], "\t", " "), `"`)
				}
				tracked := strings.Split(r.Git("ls-files"), "\n")
				other := func(line string) bool { // git calls it deleted
					_, path, _ := strings.Cut(line, " ")
					_, err := os.Lstat(r.Path(path))
					return line == "" || err == nil && !slices.Contains(tracked, path)
				}
				want = slices.DeleteFunc(want, other)
				readers := []string{repository.Git, repository.Embedded}
				if seed%3 == 2 {
					readers = readers[:1]
				}
				for _, reader := range readers {
					if d := cmp.Diff(want, slices.DeleteFunc(diff(t, r, reader), other), cmpopts.EquateEmpty()); d != "" {
						t.Errorf("%s (-git +ours):\n%s", reader, d)
					}
				}
			}
		})
	}
}

// change changes one file, or its entry in the index.
func change(r *gittest.Repo, rnd *rand.Rand, paths []string) {
	path := paths[rnd.IntN(len(paths))]
	switch rnd.IntN(6) {
	case 0, 1:
		r.Write(path, fmt.Sprint("another text ", rnd.IntN(3)))
	case 2:
		r.Remove(path)
	case 3:
		r.Git("add", "-A")
	case 4:
		r.Git("reset", "-q")
		r.Git("checkout", "-q", "--", ".")
	case 5:
		r.Git("checkout", "-q", "HEAD", "--", ".")
		r.Git("update-index", "--skip-worktree", "a")
		r.Remove("a")
		r.Git("status")
		r.Git("update-index", "--no-skip-worktree", "a")
	}
}

// TestDiffLeavesOut demands that a file counts as present even if only the work tree still has it, and if the index keeps it out of the
// work tree.
func TestDiffLeavesOut(t *testing.T) {
	for _, reader := range []string{repository.Git, repository.Embedded} {
		r := gittest.New(t)
		r.Write("a", "1")
		r.Write("b", "1")
		r.Commit("one")
		for i := range 201 { // more than are asked for one by one
			r.Write(fmt.Sprint("many/", i), "1")
		}
		r.Git("add", "many")
		r.Commit("two")
		r.Git("rm", "-q", "--cached", "a")
		r.GitInput(r.Git("ls-files", "many")+"\nb\n", "update-index", "--skip-worktree", "--stdin")
		r.Remove("b")
		if err := os.RemoveAll(r.Path("many")); err != nil {
			t.Fatal(err)
		}
		if got := diff(t, r, reader); len(got) > 0 {
			t.Errorf("%s: %v", reader, got)
		}
		r.Write("a", "2")
		if got := diff(t, r, reader); !slices.Equal(got, []string{"M a"}) {
			t.Errorf("%s: %v", reader, got)
		}
	}
}

// TestDiffAcrossLinks demands that a directory that became a symbolic link, even one that leads to itself, holds no files.
func TestDiffAcrossLinks(t *testing.T) {
	for _, reader := range []string{repository.Git, repository.Embedded} {
		r := gittest.New(t)
		r.Write("a/x", "1")
		r.Write("b/x", "1")
		r.Commit("one")
		for _, dir := range []string{"a", "b"} {
			if err := os.RemoveAll(r.Path(dir)); err != nil {
				t.Fatal(err)
			}
		}
		r.Write("c/x", "1")
		if err := errors.Join(os.Symlink("a", r.Path("a")), os.Symlink("c", r.Path("b"))); err != nil {
			t.Skip("SKIPPED: symbolic links cannot be made here: ", err)
		}
		if got := diff(t, r, reader); !slices.Equal(got, []string{"D a/x", "D b/x"}) {
			t.Errorf("%s: %v", reader, got)
		}
	}
}

// TestDiffOfFilesWithoutID demands the repository's hash for files that have no id in the index, one in conflict and one outside it, and for the one
// in conflict the mode that it had.
func TestDiffOfFilesWithoutID(t *testing.T) {
	r := gittest.New(t, gittest.SHA256())
	const log, moved = ".small/progress.small.yml", "new/.small/progress.small.yml"
	r.Write(log, "1")
	r.Write("f", "1")
	r.Git("add", ".")
	r.Git("update-index", "--chmod=+x", "f")
	r.Git("commit", "-q", "-m", "one")
	blob := r.Git("rev-parse", "HEAD:f")
	r.GitInput("0 "+strings.Repeat("0", 64)+"\tf\n100755 "+blob+" 1\tf\n100755 "+blob+" 2\tf\n", "update-index", "--index-info")
	r.Remove(log)
	r.Write(moved, "1")
	source := repository.Source{Dir: r.Dir, Environ: r.Environ(), Reader: repository.Git, Mode: "check"}
	_, err := source.Do(t.Context(), func(repo repository.Repository, _ string) error {
		h, err := worktree.Open(repo, r.Dir, 1<<20)
		if err != nil {
			return err
		}
		head := r.Git("rev-parse", "HEAD")
		changes, err := h.Diff(t.Context(), []history.Edge{{Parent: head, Child: history.WorkTree}}, history.Filter{All: true})
		if err != nil {
			return err
		}
		was := history.File{Path: log, Mode: history.ModePlain, Object: blob}
		is := history.File{Path: moved, Mode: history.ModePlain, Object: blob}
		want := []history.Change{{Path: log, Old: was}, {Path: moved, New: is}}
		if d := cmp.Diff(want, changes[0]); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDiffFindsMoves demands that files outside the index count once a log is missing.
func TestDiffFindsMoves(t *testing.T) {
	r := gittest.New(t)
	r.Write(".small/progress.small.yml", "1")
	r.Commit("one")
	r.Write("new/.small/progress.small.yml", "1")
	r.Write("tree/.git", "gitdir: as in a linked work tree") // what another work tree has is no move
	r.Write("tree/sub/.small/progress.small.yml", "1")
	gittest.New(t, gittest.At(r.Path("nested"))).Write(".small/progress.small.yml", "1")
	if got := diff(t, r, repository.Auto); len(got) > 0 {
		t.Errorf("%v", got)
	}
	r.Remove(".small/progress.small.yml")
	if got := diff(t, r, repository.Auto); !slices.Equal(got, []string{"D .small/progress.small.yml", "A new/.small/progress.small.yml"}) {
		t.Errorf("%v", got)
	}
}
