package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/gittest"
)

// Wherever git finds the repository and its work tree, and whichever index it
// means, so does this reader.
func TestPlaceAsGitFindsIt(t *testing.T) {
	t.Parallel()
	base := func(t *testing.T) *gittest.Repo {
		r := gittest.New(t)
		r.CommitFile(".small/x", "1")
		r.CommitFile("sub/.small/y", "1")
		return r
	}
	for name, make := range map[string]func(t *testing.T) *gittest.Repo{
		"core.worktree elsewhere": func(t *testing.T) *gittest.Repo {
			r := base(t)
			other := filepath.Join(t.TempDir(), "tree")
			if err := os.MkdirAll(filepath.Join(other, "deep"), 0o755); err != nil {
				t.Fatal(err)
			}
			r.Git("config", "core.worktree", other)
			return r
		},
		"core.worktree, relative": func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Git("config", "core.worktree", "../sub")
			return r
		},
		"core.worktree, from inside": func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Git("config", "core.worktree", "../sub")
			return r.In("sub")
		},
		"core.bare in a work tree": func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Git("config", "core.bare", "true")
			return r
		},
		"neither bare nor not": func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Git("config", "--unset", "core.bare")
			return r.In(".git")
		},
		"core.bare and GIT_WORK_TREE": func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Git("config", "core.bare", "true")
			return r.With("GIT_WORK_TREE=" + r.Path("sub"))
		},
		"GIT_WORK_TREE alone, relative": func(t *testing.T) *gittest.Repo {
			r := base(t)
			return r.With("GIT_WORK_TREE=sub")
		},
		"GIT_WORK_TREE of a bare repository": func(t *testing.T) *gittest.Repo {
			r := base(t)
			bare := r.Clone("--bare")
			return bare.With("GIT_WORK_TREE=" + r.Dir)
		},
		"GIT_DIR alone": func(t *testing.T) *gittest.Repo {
			r := base(t)
			return r.In("sub").With("GIT_DIR=../.git")
		},
		"GIT_DIR that is a file": func(t *testing.T) *gittest.Repo {
			r := base(t)
			w := r.Worktree("side")
			return w.With("GIT_DIR=" + w.Path(".git"))
		},
		"relative index, from a subdirectory": func(t *testing.T) *gittest.Repo {
			r := base(t)
			index := r.With("GIT_INDEX_FILE=.git/other")
			index.Git("read-tree", "HEAD~1")
			return index.In("sub")
		},
		"relative index, named git directory": func(t *testing.T) *gittest.Repo {
			r := base(t)
			index := r.With("GIT_INDEX_FILE=.git/other")
			index.Git("read-tree", "HEAD~1")
			return index.In("sub").With("GIT_DIR="+r.Path(".git"), "GIT_WORK_TREE="+r.Dir)
		},
		"relative index, from outside": func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.With("GIT_INDEX_FILE="+r.Path("other")).Git("read-tree", "HEAD~1")
			w := t.TempDir()
			rel, err := filepath.Rel(gittest.New(t, gittest.At(w)).Dir, r.Path("other"))
			if err != nil {
				t.Fatal(err)
			}
			return r.In(w).With("GIT_DIR="+r.Path(".git"), "GIT_WORK_TREE="+r.Dir, "GIT_INDEX_FILE="+rel)
		},
		"git directory of a submodule": func(t *testing.T) *gittest.Repo {
			lib := base(t)
			r := base(t)
			r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.URL(), "lib")
			return r.In(".git/modules/lib")
		},
		"worktreeConfig of a bare repository": func(t *testing.T) *gittest.Repo {
			r := base(t).Clone("--bare")
			r.Git("config", "extensions.worktreeConfig", "true")
			r.Git("config", "--unset", "core.bare")
			r.Git("config", "--worktree", "core.bare", "true")
			return r.Worktree("side")
		},
		"worktreeConfig, itself": func(t *testing.T) *gittest.Repo {
			r := base(t).Clone("--bare")
			r.Git("config", "extensions.worktreeConfig", "true")
			r.Git("config", "--unset", "core.bare")
			r.Git("config", "--worktree", "core.bare", "true")
			return r
		},
		"worktreeConfig, shared core.bare": func(t *testing.T) *gittest.Repo {
			r := base(t).Clone("--bare")
			w := r.Worktree("side")
			r.Git("config", "extensions.worktreeConfig", "true")
			return w
		},
		"sub of a linked work tree": func(t *testing.T) *gittest.Repo {
			w := base(t).Worktree("side")
			w.Write("sub/.small/y", "2")
			w.Git("add", "-A")
			return w.In("sub")
		},
		"a symbolic link for .git": func(t *testing.T) *gittest.Repo {
			r := base(t)
			if err := os.Rename(r.Path(".git"), r.Path("store")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("store", r.Path(".git")); err != nil {
				t.Skipf("SKIPPED: no symbolic links here: %v", err)
			}
			return r
		},
		"a broken .git inside another repository": func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Write("sub/.git/HEAD", "nonsense")
			return r.In("sub")
		},
		"a repository in a repository": func(t *testing.T) *gittest.Repo {
			r := base(t)
			inner := gittest.New(t, gittest.At(r.Path("inner")))
			inner.CommitFile("a/.small/z", "1")
			return inner.In("a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareWithGit(t, make(t))
		})
	}
}

// What few set is left to git.
func TestVariablesThatAreNotServed(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	for _, name := range []string{"GIT_COMMON_DIR", "GIT_IMPLICIT_WORK_TREE"} {
		_, err := Open(t.Context(), r.Dir, r.With(name+"="+r.Path(".git")).Environ())
		wantUnserved(t, err, name)
	}
}

// compareWithGit compares place, HEAD and index with the git reader's.
func compareWithGit(t *testing.T, r *gittest.Repo) {
	t.Helper()
	git, err := githistory.Open(t.Context(), r.Dir, githistory.Options{Environ: r.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := git.Close(); err != nil {
			t.Error(err)
		}
	}()
	own := open(t, r)
	want := git.Where()
	for _, dir := range []*string{&want.GitDir, &want.CommonDir} { // git does not resolve all links
		if *dir, err = filepath.EvalSymlinks(*dir); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, own.Where()); diff != "" {
		t.Errorf("(-git +embedded)\n%s", diff)
	}
	wantHead, err1 := git.Head(t.Context())
	gotHead, err2 := own.Head(t.Context())
	if err1 != nil || err2 != nil || wantHead != gotHead {
		t.Errorf("HEAD: git says %s, %v; embedded %s, %v", wantHead, err1, gotHead, err2)
	}
	wantFiles, err1 := git.List(t.Context(), history.Index, history.Workspaces())
	gotFiles, err2 := own.List(t.Context(), history.Index, history.Workspaces())
	if (err1 == nil) != (err2 == nil) {
		t.Errorf("the index: git says %v, embedded %v", err1, err2)
	}
	if diff := cmp.Diff(wantFiles, gotFiles); diff != "" {
		t.Errorf("the index (-git +embedded)\n%s", diff)
	}
}
