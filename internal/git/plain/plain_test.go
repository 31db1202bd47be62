package plain

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Either a repository is plain, and place, HEAD and index agree with git, or it is refused with these words.
func TestPlain(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	with := func(variable string) func(*testing.T, *gittest.Repo) *gittest.Repo {
		return func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.With(variable) }
	}
	write := func(name, text string) func(*testing.T, *gittest.Repo) *gittest.Repo {
		return func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
			r.Write(name, text)
			return r
		}
	}
	asLink := func(name string) func(*testing.T, *gittest.Repo) *gittest.Repo {
		return func(t *testing.T, r *gittest.Repo) *gittest.Repo {
			if err := os.Rename(r.Path(name), r.Path("store")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(r.Path("store"), r.Path(name)); err != nil {
				t.Skipf("SKIPPED: no symbolic links here: %v", err)
			}
			return r
		}
	}
	elsewhere := func(t *testing.T, r *gittest.Repo) *gittest.Repo {
		r.With("GIT_INDEX_FILE="+r.Path("other")).Git("read-tree", "HEAD~1")
		return r.With("GIT_INDEX_FILE=other")
	}
	for name, tt := range map[string]struct {
		make    func(*testing.T, *gittest.Repo) *gittest.Repo
		refused string
	}{
		"itself":           {with("X=y"), ""},
		"a subdirectory":   {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.In("sub") }, ""},
		"packed":           {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { r.Git("gc", "-q"); return r }, ""},
		"an index":         {elsewhere, ""},
		"an index, inside": {func(t *testing.T, r *gittest.Repo) *gittest.Repo { return elsewhere(t, r).In("sub") }, ""},
		"linked":           {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.Worktree("side") }, ""},
		"linked, a subdirectory": {func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
			w := r.Worktree("side")
			w.Write("sub/.small/y", "2")
			w.Git("add", "-A")
			return w.In("sub")
		}, ""},
		"a hook in a linked work tree": {func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
			w := r.Worktree("side")
			return w.With("GIT_DIR="+w.Git("rev-parse", "--absolute-git-dir"), "GIT_INDEX_FILE="+w.Git("rev-parse", "--absolute-git-dir")+"/index")
		}, ""},
		"GIT_DIR that is a file":    {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.Worktree("side").With("GIT_DIR=.git") }, ""},
		"of a bare repository":      {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.Clone("--bare").Worktree("side") }, ""},
		"a repository in it":        {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return gittest.New(t, gittest.At(r.Path("inner"))) }, ""},
		"GIT_DIR of another":        {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.In("sub").With("GIT_DIR=../.git") }, "GIT_DIR"},
		"another GIT_DIR":           {with("GIT_DIR=" + gittest.New(t).Path(".git")), "GIT_DIR"},
		"a bare one":                {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.Clone("--bare") }, "a bare repository"},
		"inside .git":               {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.In(".git") }, "a git directory"},
		"quarantine":                {with("GIT_QUARANTINE_PATH=x"), "GIT_QUARANTINE_PATH"},
		"objects elsewhere":         {with("GIT_OBJECT_DIRECTORY=x"), "GIT_OBJECT_DIRECTORY"},
		"more objects":              {with("GIT_ALTERNATE_OBJECT_DIRECTORIES=x"), "GIT_ALTERNATE_OBJECT_DIRECTORIES"},
		"another list":              {with("GIT_SHALLOW_FILE="), "GIT_SHALLOW_FILE"},
		"other grafts":              {with("GIT_GRAFT_FILE=x"), "GIT_GRAFT_FILE"},
		"other replace refs":        {with("GIT_REPLACE_REF_BASE=refs/x/"), "GIT_REPLACE_REF_BASE"},
		"git -c":                    {with("GIT_CONFIG_PARAMETERS='a.b'='c'"), "GIT_CONFIG_PARAMETERS"},
		"configuration by variable": {with("GIT_CONFIG_COUNT=0"), "GIT_CONFIG_COUNT"},
		"GIT_COMMON_DIR":            {with("GIT_COMMON_DIR=.git"), "GIT_COMMON_DIR"},
		"GIT_WORK_TREE":             {with("GIT_WORK_TREE=."), "GIT_WORK_TREE"},
		"an empty GIT_INDEX_FILE":   {with("GIT_INDEX_FILE="), "GIT_INDEX_FILE"},
		"shallow":                   {func(_ *testing.T, r *gittest.Repo) *gittest.Repo { return r.Clone("--depth=1") }, "a shallow clone"},
		"grafts":                    {write(".git/info/grafts", "\n"), "grafts"},
		"a sparse checkout":         {write(".git/config", "[core]\n\tsparseCheckout = true\n"), "core.sparsecheckout is set"},
		"alternates":                {write(".git/objects/info/alternates", "/x\n"), "borrows objects"},
		"a replaced object": {func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
			r.Git("replace", "HEAD", "HEAD~1")
			return r
		}, "replace refs"},
		"one, packed": {func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
			r.Git("replace", "HEAD", "HEAD~1")
			r.Git("pack-refs", "--all")
			return r
		}, "replace refs"},
		"a link for .git":    {asLink(".git"), ".git is neither"},
		"a link for objects": {asLink(".git/objects"), "objects is a symbolic link"},
		"a link for packs":   {asLink(".git/objects/pack"), "pack is a symbolic link"},
		"a link for refs":    {asLink(".git/refs"), "refs is a symbolic link"},
		"a submodule": {func(t *testing.T, r *gittest.Repo) *gittest.Repo {
			lib := gittest.New(t)
			lib.CommitFile("f", "1")
			r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.URL(), "lib")
			return r.In("lib")
		}, "as in a submodule"},
		"a .git that is none": {func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
			r.Write("sub/.git/HEAD", "nonsense")
			return r.In("sub")
		}, "cannot open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.CommitFile(".small/x", "1")
			r.CommitFile("sub/.small/y", "1")
			r = tt.make(t, r)
			if tt.refused == "" {
				compareWithGit(t, r)
				return
			}
			_, err := Open(t.Context(), r.Dir, r.Environ())
			wantUnserved(t, err, tt.refused)
		})
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
		t.Errorf("(-git +go-git)\n%s", diff)
	}
	wantHead, err1 := git.Head(t.Context())
	gotHead, err2 := own.Head(t.Context())
	if err1 != nil || err2 != nil || wantHead != gotHead {
		t.Errorf("HEAD: git says %s, %v; go-git %s, %v", wantHead, err1, gotHead, err2)
	}
	wantFiles, err1 := git.List(t.Context(), history.Index, history.Workspaces())
	gotFiles, err2 := own.List(t.Context(), history.Index, history.Workspaces())
	if diff := cmp.Diff(wantFiles, gotFiles); diff != "" || err1 != nil || err2 != nil {
		t.Errorf("the index: git says %v, go-git %v (-git +go-git)\n%s", err1, err2, diff)
	}
}
