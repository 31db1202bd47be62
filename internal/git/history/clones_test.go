package githistory_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

func TestShallowClone(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testShallowClone)
}

func testShallowClone(t *testing.T, rd reader) {
	t.Parallel()
	origin := gittest.New(t)
	var ids []string
	for _, s := range []string{"1", "2", "3", "4", "5"} {
		ids = append(ids, origin.CommitFile(".small/x", s))
	}
	r := origin.Clone("--depth=3")
	own := r.CommitFile(".small/x", "6")
	if rd.refuses(t, r, "a shallow clone") {
		return
	}
	repo := rd.open(t, r)
	remedies := []string{"git fetch --unshallow", "fetch-depth: 0", `GIT_DEPTH: "0"`}

	t.Run("the needed commits are here", func(t *testing.T) {
		for _, base := range ids[2:] {
			got, err := repo.Commits(t.Context(), []string{own}, []string{base})
			if want := 5 - slices.Index(ids, base); err != nil || len(got) != want {
				t.Errorf("Commits = %v, %v, want %d", got, err, want)
			}
		}
		bases, err := repo.MergeBases(t.Context(), own, ids[3])
		if err != nil || len(bases) != 1 || bases[0] != ids[3] {
			t.Errorf("MergeBases = %v, %v", bases, err)
		}
		for _, pair := range [][2]string{{ids[2], own}, {own, ids[2]}} {
			got, err := repo.IsAncestor(t.Context(), pair[0], pair[1])
			if err != nil || got != (pair[0] == ids[2]) {
				t.Errorf("IsAncestor = %v, %v", got, err)
			}
		}
		wantEqual(t, [][]string{{".small/x - 100644:3"}, {".small/x 100644:3 100644:6"}},
			changes(t, repo, history.Edge{Child: ids[2]}, history.Edge{Parent: ids[2], Child: own}))
	})
	t.Run("the whole history is not", func(t *testing.T) {
		_, err := repo.Commits(t.Context(), []string{own}, nil)
		wantFailure(t, err, append(remedies, ids[2])...)
	})
	t.Run("the base is not", func(t *testing.T) {
		_, err := repo.Commits(t.Context(), []string{own}, []string{ids[0]})
		wantFailure(t, err, ids[0]+" is not in this clone", "git fetch origin "+ids[0])
		_, err = repo.Resolve(t.Context(), ids[0])
		wantFailure(t, err, remedies...)
	})
	t.Run("the base is here and the way to it is not", func(t *testing.T) {
		r.Git("fetch", "-q", "--depth=1", "origin", ids[0])
		repo := rd.open(t, r)
		_, err := repo.Commits(t.Context(), []string{own}, []string{ids[0]})
		wantFailure(t, err, remedies...)
		_, err = repo.IsAncestor(t.Context(), ids[0], own) // git says no
		wantFailure(t, err, remedies...)
		_, err = repo.MergeBases(t.Context(), ids[0], own) // git says none
		wantFailure(t, err, remedies...)
	})
	t.Run("the remedy helps", func(t *testing.T) {
		r.Git("fetch", "-q", "--unshallow")
		repo := rd.open(t, r)
		got, err := repo.Commits(t.Context(), []string{own}, nil)
		if err != nil || len(got) != 6 || repo.Where().Shallow {
			t.Errorf("Commits = %v, %v; shallow: %v", got, err, repo.Where().Shallow)
		}
	})
}

// If the depth ends exactly at the first commit, nothing is hidden.
func TestShallowCloneOfTheWholeHistory(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testShallowCloneOfTheWholeHistory)
}

func testShallowCloneOfTheWholeHistory(t *testing.T, rd reader) {
	t.Parallel()
	origin := gittest.New(t)
	origin.CommitFile("f", "1")
	tip := origin.CommitFile("f", "2")
	r := origin.Clone("--depth=2")
	// Some servers list the root in this file, some do not.
	r.Write(".git/shallow", r.ID(tip+"~1")+"\n")
	if rd.refuses(t, r, "a shallow clone") {
		return
	}
	repo := rd.open(t, r)
	got, err := repo.Commits(t.Context(), []string{tip}, nil)
	if !repo.Where().Shallow || err != nil || len(got) != 2 {
		t.Errorf("Commits = %v, %v", got, err)
	}
}

// The range may seem to begin at a true root only because the excluded side's path to it is hidden.
func TestShallowCloneWithAHiddenLink(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testShallowCloneWithAHiddenLink)
}

func testShallowCloneWithAHiddenLink(t *testing.T, rd reader) {
	t.Parallel()
	origin := gittest.New(t)
	origin.CommitFile("f", "1")
	fork := origin.CommitFile("f", "2")
	origin.CommitFile("f", "3")
	base := origin.CommitFile("f", "4")
	origin.Branch("side", fork)
	head := origin.CommitFile("g", "1")
	r := origin.Clone("--depth=2", "--branch=main")
	r.Git("fetch", "-q", "origin", head)
	if rd.refuses(t, r, "a shallow clone") {
		return
	}
	if got := r.Git("rev-list", "--count", head, "^"+base); got != "3" {
		t.Fatalf("git lists %s commits, so nothing is hidden here", got)
	}
	_, err := rd.open(t, r).Commits(t.Context(), []string{head}, []string{base})
	wantFailure(t, err, "shallow", "fetch-depth: 0")
}

func TestShallowBoundaryInAnotherFile(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testShallowBoundaryInAnotherFile)
}

func testShallowBoundaryInAnotherFile(t *testing.T, rd reader) {
	t.Parallel()
	origin := gittest.New(t)
	first := origin.CommitFile("f", "1")
	tip := origin.CommitFile("f", "2")
	r := origin.Clone()
	r.Write(".git/other", tip+"\n")
	for _, name := range []string{r.Path(".git/other"), ".git/other"} {
		if rd.refuses(t, r.With("GIT_SHALLOW_FILE="+name), "GIT_SHALLOW_FILE") {
			continue
		}
		repo := rd.open(t, r.With("GIT_SHALLOW_FILE="+name))
		_, err := repo.Commits(t.Context(), []string{tip}, nil)
		wantFailure(t, err, "shallow", tip)
	}
	if got, err := rd.open(t, r).Commits(t.Context(), []string{tip}, []string{first}); err != nil || len(got) != 1 {
		t.Errorf("Commits = %v, %v", got, err)
	}
}

// git fetches what a partial clone left out.
func TestPartialClone(t *testing.T) {
	gittest.Long(t)
	rd := readers[0]
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			t.Parallel()
			origin := gittest.New(t)
			origin.Git("config", "uploadpack.allowFilter", "true")
			origin.Git("config", "uploadpack.allowAnySHA1InWant", "true")
			a := origin.CommitFile(".small/x", "1")
			b := origin.CommitFile(".small/x", "2")
			r := origin.Clone("--filter="+filter, "--no-checkout")
			clones := []*gittest.Repo{r, r.In(r.Dir)}
			repo := rd.open(t, clones[0])

			// The commit history needs no file. Without trees, git fetches them.
			got, err := repo.Diff(t.Context(), []history.Edge{{Child: a}, {Parent: a, Child: b}}, judged)
			if err != nil || len(got) != 2 || len(got[0]) != 1 || len(got[1]) != 1 {
				t.Fatalf("Changes = %v, %v", got, err)
			}
			old, second := got[1][0].Old.Object, got[1][0].New.Object
			if text := content(t, repo, old); text != "1" {
				t.Errorf("the fetched blob is %q", text)
			}

			// Without the remote, fetched objects are here and others are an error.
			if err := os.Rename(origin.Dir, origin.Dir+".away"); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := os.Rename(origin.Dir+".away", origin.Dir); err != nil {
					t.Error(err)
				}
			}()
			if text := content(t, repo, old); text != "1" {
				t.Errorf("the fetched blob is %q", text)
			}
			for range 2 {
				_, err = repo.Blob(t.Context(), second, 100)
				wantFailure(t, err, second, "partial clone", "could not be fetched", "git fetch")
			}
			_, _, err = githistory.ReadFile(t.Context(), repo, b, ".small/x", 100)
			wantFailure(t, err, second, "partial clone")
			if text := content(t, repo, old); text != "1" {
				t.Errorf("after a failure the blob is %q", text)
			}
		})
	}
}

// The go-git reader refuses a clone that lacks objects by design.
func TestPartialCloneIsNotServed(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	origin := gittest.New(t)
	origin.Git("config", "uploadpack.allowFilter", "true")
	origin.CommitFile(".small/x", "1")
	for _, filter := range []string{"blob:none", "tree:0"} {
		r := origin.Clone("--filter="+filter, "--no-checkout")
		readers[1].refuses(t, r, "a partial clone")
		readers[1].refuses(t, r.Worktree("side"), "a partial clone")
	}
}

func TestPartialCloneWithoutTreesOrRemote(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	rd := readers[0]
	origin := gittest.New(t)
	origin.Git("config", "uploadpack.allowFilter", "true")
	a := origin.CommitFile(".small/x", "1")
	b := origin.CommitFile(".small/x", "2")
	r := origin.Clone("--filter=tree:0", "--no-checkout")
	origin.Remove(".")
	repo := rd.open(t, r)
	if got, err := repo.Commits(t.Context(), []string{b}, nil); err != nil || len(got) != 2 {
		t.Errorf("Commits = %v, %v", got, err)
	}
	_, err := repo.Diff(t.Context(), []history.Edge{{Parent: a, Child: b}}, judged)
	wantFailure(t, err)
	_, err = repo.Diff(t.Context(), []history.Edge{{Child: a}}, judged)
	wantFailure(t, err)
	_, err = repo.List(t.Context(), b, history.Workspaces())
	wantFailure(t, err)
	_, err = repo.List(t.Context(), b, history.Workspaces(""))
	wantFailure(t, err)
}

func TestAlternates(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testAlternates)
}

func testAlternates(t *testing.T, rd reader) {
	t.Parallel()
	origin := gittest.New(t)
	id := origin.CommitFile(".small/x", "1")
	shared := filepath.Join(t.TempDir(), "shared")
	origin.Git("clone", "-q", "--shared", origin.Dir, shared)
	second := filepath.Join(t.TempDir(), "second")
	origin.Git("clone", "-q", "--shared", shared, second)
	for _, dir := range []string{shared, second} {
		if rd.refuses(t, origin.In(dir), "borrows objects") {
			continue
		}
		wantEqual(t, []string{".small/x 100644:1"}, files(t, rd.open(t, origin.In(dir)), id))
	}
}

// In a pre-receive hook the new objects are in a quarantine that only git's variables name.
func TestQuarantine(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testQuarantine)
}

func testQuarantine(t *testing.T, rd reader) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the hook that records its environment is a shell script")
	}
	for _, unpackLimit := range []string{"1", "1000"} {
		server := gittest.New(t, gittest.Bare())
		server.Git("config", "receive.unpackLimit", unpackLimit)
		client := gittest.New(t)
		a := client.CommitFile(".small/x", "1")
		client.Git("push", "-q", server.URL(), "main")
		b := client.CommitFile(".small/x", "2")

		// The hook waits at a pipe while the test reads the quarantine.
		dir := t.TempDir()
		env, goOn := filepath.Join(dir, "env"), filepath.Join(dir, "go")
		if err := mkfifo(env, goOn); err != nil {
			t.Skipf("SKIPPED: no named pipes here, the quarantine is NOT tested: %v", err)
		}
		server.Write("hooks/pre-receive", "#!/bin/sh\nenv >'"+env+"'\ncat '"+goOn+"' >/dev/null\n")
		if err := os.Chmod(server.Path("hooks/pre-receive"), 0o755); err != nil {
			t.Fatal(err)
		}
		pushed := make(chan error, 1)
		go func() {
			_, err := client.Try("push", "-q", server.URL(), "main")
			pushed <- err
			unblock(env) // if the hook never ran
		}()
		vars, err := os.ReadFile(env)
		if err != nil {
			t.Fatal(err)
		}
		environ := append(strings.Split(strings.TrimSpace(string(vars)), "\n"), server.Environ()...)
		repo, openErr := rd.try(t.Context(), server.Dir, environ)
		var got [][]history.Change
		var commits []history.Commit
		var blob history.Blob
		var readErr error
		if openErr == nil {
			got, readErr = repo.Diff(t.Context(), []history.Edge{{Parent: a, Child: b}}, judged)
			var commitsErr, blobErr error
			commits, commitsErr = repo.Commits(t.Context(), []string{b}, []string{a})
			if readErr == nil && len(got[0]) == 1 {
				blob, blobErr = repo.Blob(t.Context(), got[0][0].New.Object, 100)
			}
			readErr = errors.Join(readErr, commitsErr, blobErr, repo.Close())
		}
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := <-pushed; err != nil {
			t.Error(err)
		}
		if rd.name == "go-git" {
			wantUnserved(t, openErr, "GIT_QUARANTINE_PATH")
		} else if openErr != nil || readErr != nil || len(commits) != 1 || string(blob.Data) != "2" {
			t.Errorf("unpackLimit %s: %v, %v, %v, %v, %q", unpackLimit, openErr, readErr, commits, got, blob.Data)
		}
		if !strings.Contains(string(vars), "GIT_QUARANTINE_PATH=") {
			t.Errorf("git set up no quarantine:\n%s", vars)
		}
	}
}

func TestReftable(t *testing.T) { eachReader(t, testReftable) }

func testReftable(t *testing.T, rd reader) {
	t.Parallel()
	base := gittest.New(t)
	dir := filepath.Join(t.TempDir(), "reftable")
	if _, err := base.Try("init", "-q", "-b", "main", "--ref-format=reftable", dir); err != nil {
		t.Skipf("SKIPPED: this git cannot make a reftable repository, so reading one is NOT tested: %v", err)
	}
	r := base.In(dir)
	if rd.refuses(t, r, "extensions.refstorage", "reftable") {
		return
	}
	if head, err := rd.open(t, r).Head(t.Context()); err != nil || head != "" {
		t.Errorf("Head = %q, %v", head, err)
	}
	id := r.CommitFile(".small/x", "1")
	repo := rd.open(t, r)
	if head, err := repo.Head(t.Context()); err != nil || head != id {
		t.Errorf("Head = %q, %v", head, err)
	}
	got, err := githistory.DefaultBranch(t.Context(), repo, "")
	if err != nil || got != (githistory.Branch{"refs/heads/main", id}) {
		t.Errorf("DefaultBranch = %v, %v", got, err)
	}
	r.Branch("side", "")
	tip := r.CommitFile("f", "1")
	r.Switch("main")
	r.Git("merge", "-q", "--no-commit", "--no-ff", "side")
	heads, err := workgit.MergeHeads(t.Context(), rd.open(t, r))
	if err != nil || len(heads) != 1 || heads[0] != tip {
		t.Errorf("MergeHeads = %v, %v", heads, err)
	}
}
