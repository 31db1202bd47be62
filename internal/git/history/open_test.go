package githistory_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

type place = githistory.Place

func TestOpenFindsTheRepository(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testOpenFindsTheRepository)
}

func testOpenFindsTheRepository(t *testing.T, rd reader) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T) (where *gittest.Repo, want place)
	}{
		{"root", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			return r, place{Top: r.Dir, GitDir: r.Path(".git"), CommonDir: r.Path(".git")}
		}},
		{"subdirectory", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			r.CommitFile("a/b/file", "x")
			return r.In("a/b"), place{Top: r.Dir, GitDir: r.Path(".git"), CommonDir: r.Path(".git")}
		}},
		{"linked work tree", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			r.CommitFile("file", "x")
			w := r.Worktree("side")
			return w, place{Top: w.Dir, GitDir: r.Path(".git/worktrees/tree"), CommonDir: r.Path(".git")}
		}},
		{"subdirectory of a linked work tree", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			r.CommitFile("a/b/file", "x")
			w := r.Worktree("side")
			return w.In("a/b"), place{Top: w.Dir, GitDir: r.Path(".git/worktrees/tree"), CommonDir: r.Path(".git")}
		}},
		{"hook in a linked work tree", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			r.CommitFile("file", "x")
			w := r.Worktree("side")
			gitDir := r.Path(".git/worktrees/tree")
			// git gives GIT_DIR and no GIT_WORK_TREE: the work tree is here.
			return w.With("GIT_DIR="+gitDir, "GIT_INDEX_FILE="+gitDir+"/index"),
				place{Top: w.Dir, GitDir: gitDir, CommonDir: r.Path(".git")}
		}},
		{"git directory and work tree named", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			elsewhere := t.TempDir()
			return r.In(elsewhere).With("GIT_DIR="+r.Path(".git"), "GIT_WORK_TREE="+r.Dir),
				place{Top: r.Dir, GitDir: r.Path(".git"), CommonDir: r.Path(".git")}
		}},
		{"bare", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t, gittest.Bare())
			return r, place{GitDir: r.Dir, CommonDir: r.Dir, Bare: true}
		}},
		{"hook in a bare repository", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t, gittest.Bare())
			return r.With("GIT_DIR=."), place{GitDir: r.Dir, CommonDir: r.Dir, Bare: true}
		}},
		{"bare, inside another's work tree", func(t *testing.T) (*gittest.Repo, place) {
			outer := gittest.New(t)
			r := gittest.New(t, gittest.Bare(), gittest.At(outer.Path("inner.git")))
			return r, place{GitDir: r.Dir, CommonDir: r.Dir, Bare: true}
		}},
		{"inside the git directory", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			return r.In(".git"), place{GitDir: r.Path(".git"), CommonDir: r.Path(".git")}
		}},
		{"work tree of a bare repository", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			r.CommitFile("file", "x")
			bare := r.Clone("--bare")
			w := bare.Worktree("side")
			return w, place{Top: w.Dir, GitDir: bare.Path("worktrees/tree"), CommonDir: bare.Dir}
		}},
		{"submodule", func(t *testing.T) (*gittest.Repo, place) {
			lib := gittest.New(t)
			lib.CommitFile("file", "x")
			r := gittest.New(t)
			r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.URL(), "lib")
			return r.In("lib"), place{Top: r.Path("lib"), GitDir: r.Path(".git/modules/lib"), CommonDir: r.Path(".git/modules/lib")}
		}},
		{"extensions.worktreeConfig", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			r.CommitFile("file", "x")
			r.Git("sparse-checkout", "set", "nothing")
			return r, place{Top: r.Dir, GitDir: r.Path(".git"), CommonDir: r.Path(".git")}
		}},
		{"separate git directory", func(t *testing.T) (*gittest.Repo, place) {
			gitDir := filepath.Join(t.TempDir(), "store")
			r := gittest.New(t, gittest.Init("--separate-git-dir="+gitDir))
			store := r.In(gitDir).Dir
			return r, place{Top: r.Dir, GitDir: store, CommonDir: store}
		}},
		{"shallow", func(t *testing.T) (*gittest.Repo, place) {
			r := gittest.New(t)
			r.CommitFile("file", "1")
			r.CommitFile("file", "2")
			c := r.Clone("--depth=1")
			return c, place{Top: c.Dir, GitDir: c.Path(".git"), CommonDir: c.Path(".git"), Shallow: true}
		}},
		{"a path with everything", func(t *testing.T) (*gittest.Repo, place) {
			if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
				t.Skipf("SKIPPED: file names on %s cannot hold these bytes", runtime.GOOS)
			}
			r := gittest.New(t, gittest.At(filepath.Join(t.TempDir(), "two words\n--flag\ttrue\n'\"Grün\xff*")))
			r.CommitFile("a/file", "x")
			return r.In("a"), place{Top: r.Dir, GitDir: r.Path(".git"), CommonDir: r.Path(".git")}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			where, want := tt.make(t)
			if slices.Contains(notPlain, tt.name) && rd.refuses(t, where) {
				return
			}
			wantEqual(t, want, rd.open(t, where).Where())
		})
	}
}

// notPlain are those of the places above that the go-git reader refuses.
var notPlain = []string{
	"git directory and work tree named", "bare", "hook in a bare repository", "bare, inside another's work tree", "inside the git directory",
	"submodule", "extensions.worktreeConfig", "separate git directory", "shallow",
}

func TestOpenThroughASymbolicLink(t *testing.T) { eachReader(t, testOpenThroughASymbolicLink) }

func testOpenThroughASymbolicLink(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile("a/.small/x", "1")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(r.Dir, link); err != nil {
		t.Skipf("SKIPPED: no symbolic links here: %v", err)
	}
	repo, err := rd.try(t.Context(), filepath.Join(link, "a"), r.Environ())
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, place{Top: r.Dir, GitDir: r.Path(".git"), CommonDir: r.Path(".git")}, repo.Where())
}

func TestOpenOutsideARepository(t *testing.T) { eachReader(t, testOpenOutsideARepository) }

func testOpenOutsideARepository(t *testing.T, rd reader) {
	t.Parallel()
	env := gittest.New(t).Environ()
	outside := t.TempDir()
	_, err := rd.try(t.Context(), outside, env)
	wantFailure(t, err, "is not in a git repository", "git init")
	if !errors.Is(err, githistory.ErrNotRepository) {
		t.Errorf("%v is not githistory.ErrNotRepository", err)
	}

	t.Run("below a ceiling", func(t *testing.T) {
		r := gittest.New(t)
		r.Write("a/b/file", "x")
		ceiling := r.With("GIT_CEILING_DIRECTORIES=" + r.Dir)
		_, err := rd.try(t.Context(), r.Path("a/b"), ceiling.Environ())
		if !errors.Is(err, githistory.ErrNotRepository) {
			t.Errorf("%v is not githistory.ErrNotRepository", err)
		}
	})
}

// The user may have told git not to use bare repositories, since their configuration can name programs. None of these run here.
func TestOpenABareRepositoryThatGitWouldNotLookFor(t *testing.T) {
	eachReader(t, testOpenABareRepositoryThatGitWouldNotLookFor)
}

func testOpenABareRepositoryThatGitWouldNotLookFor(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t, gittest.Bare())
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("[safe]\n\tbareRepository = explicit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = r.With("GIT_CONFIG_GLOBAL=" + config)
	if _, err := r.Try("rev-parse", "--git-dir"); err == nil {
		t.Skip("SKIPPED: this git does not know safe.bareRepository, so ignoring it is NOT tested")
	}
	if rd.refuses(t, r, "a bare repository") {
		return
	}
	if !rd.open(t, r).Where().Bare {
		t.Error("not a bare repository")
	}
}

// A repository that cannot be read is never "no repository", which would be outcome 0.
func TestOpenWhatCannotBeJudged(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testOpenWhatCannotBeJudged)
}

func testOpenWhatCannotBeJudged(t *testing.T, rd reader) {
	gone := []string{"not a git repository"}
	newer := map[string]string{"git": "newer git", "go-git": "--reader git"}[rd.name]
	for _, tt := range []struct {
		name  string
		where func(t *testing.T) *gittest.Repo
		words []string
	}{
		{"no HEAD", func(t *testing.T) *gittest.Repo {
			r := gittest.New(t)
			r.Remove(".git/HEAD")
			return r
		}, gone},
		{"work tree whose repository has gone", func(t *testing.T) *gittest.Repo {
			r := gittest.New(t)
			r.CommitFile("file", "x")
			w := r.Worktree("side")
			r.Remove(".git")
			return w
		}, gone},
		{"GIT_DIR names nothing", func(t *testing.T) *gittest.Repo {
			r := gittest.New(t)
			return r.With("GIT_DIR=" + filepath.Join(t.TempDir(), "none"))
		}, gone},
		{"GIT_DIR is empty", func(t *testing.T) *gittest.Repo { return gittest.New(t).With("GIT_DIR=") }, gone},
		{"GIT_COMMON_DIR is empty", func(t *testing.T) *gittest.Repo { return gittest.New(t).With("GIT_COMMON_DIR=") }, gone},
		{"GIT_OBJECT_DIRECTORY is empty", func(t *testing.T) *gittest.Repo { return gittest.New(t).With("GIT_OBJECT_DIRECTORY=") }, gone},
		{"GIT_WORK_TREE is empty", func(t *testing.T) *gittest.Repo { return gittest.New(t).With("GIT_WORK_TREE=") }, nil},
		{"unknown extension", func(t *testing.T) *gittest.Repo {
			r := gittest.New(t)
			r.Git("config", "core.repositoryFormatVersion", "1")
			r.Git("config", "extensions.fromTheFuture", "true")
			return r
		}, []string{"fromthefuture", newer}},
		{"version of the future", func(t *testing.T) *gittest.Repo {
			r := gittest.New(t)
			r.Git("config", "core.repositoryFormatVersion", "7")
			return r
		}, []string{"7", newer}},
		{"damaged configuration", func(t *testing.T) *gittest.Repo {
			r := gittest.New(t)
			r.Write(".git/config", "[core\n\x1b[31m")
			return r
		}, []string{"bad config line"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tt.where(t)
			_, err := rd.try(t.Context(), r.Dir, r.Environ())
			if rd.name == "go-git" && slices.Equal(tt.words, gone) {
				tt.words = nil // its message says what it did not find
			}
			wantFailure(t, err, tt.words...)
			if f := new(failure.Error); !errors.As(err, &f) || f.Remedy == "" {
				t.Errorf("no remedy: %v", err)
			}
			if errors.Is(err, githistory.ErrNotRepository) {
				t.Errorf("%v is githistory.ErrNotRepository", err)
			}
		})
	}
	t.Run("no directory", func(t *testing.T) {
		_, err := rd.try(t.Context(), filepath.Join(t.TempDir(), "none"), nil)
		wantFailure(t, err, "none")
	})
	t.Run("cancelled", func(t *testing.T) {
		r := gittest.New(t)
		_, err := rd.try(cancelled(t), r.Dir, r.Environ())
		wantCancelled(t, err)
	})
}

func TestOpenAnotherUsersRepository(t *testing.T) { eachReader(t, testOpenAnotherUsersRepository) }

func testOpenAnotherUsersRepository(t *testing.T, rd reader) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a repository to another user; ownership is NOT tested in this run")
	}
	for _, bare := range []bool{false, true} {
		opts := []gittest.Option{gittest.At(filepath.Join(t.TempDir(), "an'other\nuser\"s repo"))}
		if bare {
			opts = append(opts, gittest.Bare())
		}
		r := gittest.New(t, opts...)
		err := filepath.WalkDir(r.Dir, func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, 12345, 12345))
		})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := r.Try("rev-parse", "--git-dir"); err == nil {
			t.Fatalf("git reads another user's repository by itself, so nothing is shown here: %s", out)
		}
		if bare && rd.refuses(t, r, "a bare repository") {
			continue
		}
		if repo := rd.open(t, r); repo.Where().Bare != bare {
			t.Errorf("Bare = %v, want %v", repo.Where().Bare, bare)
		}
		if !bare {
			if err := os.Mkdir(r.Path("sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			rd.open(t, r.In("sub"))
		}
	}
}

func TestHead(t *testing.T) { eachReader(t, testHead) }

func testHead(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	head := func(want string) {
		t.Helper()
		got, err := rd.open(t, r).Head(t.Context())
		if err != nil || got != want {
			t.Errorf("Head() = %q, %v, want %q", got, err, want)
		}
	}
	head("")
	r.Write("HEAD", "a file of that name") // rev-parse would take HEAD for a path
	head("")
	first := r.Commit("first")
	head(first)
	r.Git("checkout", "-q", "--orphan", "other")
	head("")
	r.Git("checkout", "-q", "--detach", first)
	head(first)
	r.Git("pack-refs", "--all", "--prune")
	r.Switch("main")
	head(first)
}

// A crash can leave an empty ref behind. That is not a branch without commits.
func TestHeadOfADamagedBranch(t *testing.T) { eachReader(t, testHeadOfADamagedBranch) }

func testHeadOfADamagedBranch(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("first")
	for _, damage := range []string{"", "not an id\n"} {
		r.Write(".git/refs/heads/main", damage)
		_, err := rd.open(t, r).Head(t.Context())
		wantFailure(t, err, "HEAD")
	}
}

// Nothing named in the repository or the environment may run, or change git's answers.
func TestHostileConfigurationAndEnvironment(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testHostileConfigurationAndEnvironment)
}

func testHostileConfigurationAndEnvironment(t *testing.T, rd reader) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the trap is a shell script")
	}
	r := gittest.New(t)
	r.CommitFile(".small/x", "1")
	r.Write(".small/x", "2")
	r.Git("add", "-A")
	want := changes(t, rd.open(t, r), history.Edge{Parent: r.ID("HEAD"), Child: history.Index})

	sprung := filepath.Join(t.TempDir(), "sprung")
	trap := filepath.Join(t.TempDir(), "trap")
	if err := gittest.WriteProgram(trap, "#!/bin/sh\necho \"$0 $*\" >>'"+sprung+"'\nexit 1\n"); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "diff.external", "core.hooksPath", "pager.diff-tree", "core.sshCommand"} {
		r.Git("config", key, trap)
	}
	for key, value := range map[string]string{
		"diff.ignoreSubmodules": "all", "diff.relative": "true", "diff.renames": "copies", "core.quotePath": "true",
		"diff.noprefix": "true", "log.showSignature": "true", "color.ui": "always", "core.abbrev": "4",
		"diff.orderFile": r.Path("order"), "core.bigFileThreshold": "1",
	} {
		r.Git("config", key, value)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	hostile := r.With("GIT_EXTERNAL_DIFF="+trap, "GIT_PAGER="+trap, "GIT_TRACE="+trace, "GIT_TRACE2_EVENT="+trace,
		"GIT_LITERAL_PATHSPECS=1", "GIT_ICASE_PATHSPECS=1", "GIT_NOGLOB_PATHSPECS=1", "GIT_DIFF_OPTS=-u9",
		"GIT_ATTR_SOURCE=nonsense", "LC_ALL=de_DE.UTF-8", "LANGUAGE=de", "GIT_PREFIX=nowhere/", "GIT_NAMESPACE=x")
	repo := rd.open(t, hostile)
	wantEqual(t, want, changes(t, repo, history.Edge{Parent: r.ID("HEAD"), Child: history.Index}))
	wantEqual(t, []string{".small/x 100644:2"}, files(t, repo, history.Index))
	for _, name := range []string{sprung, trace} {
		if data, err := os.ReadFile(name); err == nil {
			t.Errorf("something was run or written:\n%s", data)
		}
	}
}

func TestVersion(t *testing.T) { eachReader(t, testVersion) }

func testVersion(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	repo := rd.open(t, r)
	version, err := repo.Version(t.Context())
	if err != nil || rd.name == "git" && (!strings.Contains(r.Git("version"), version) || version == "") {
		t.Errorf("Version() = %q, %v; git says %q", version, err, r.Git("version"))
	}
	if repo.Reader() != rd.name {
		t.Errorf("Reader() = %q", repo.Reader())
	}
}
