package githistory

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestWorkTree: a repository that is opened in its git directory has no work tree either, but it is not bare.
func TestWorkTree(t *testing.T) {
	r, bare := gittest.New(t), gittest.New(t, gittest.Bare())
	for _, c := range []struct{ dir, want string }{
		{filepath.Join(r.Dir, ".git"), "go to the work tree"},
		{bare.Dir, "a bare repository has no work tree"},
	} {
		repo, err := Open(t.Context(), c.dir, Options{Environ: r.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = repo.WorkTree()
		wantFailure(t, err, c.want)
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCeilings: git ignores a relative ceiling. It resolves the links in a path, unless an empty path is before it in the list.
func TestCeilings(t *testing.T) {
	t.Parallel()
	dir, err := Physical(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("SKIPPED: symbolic links cannot be made here: ", err)
	}
	for _, c := range []struct{ list, want []string }{
		{nil, nil},
		{[]string{"", ""}, nil},
		{[]string{".", link, "x"}, []string{dir}},
		{[]string{link, "", ".", link}, []string{dir, link}},
	} {
		list := strings.Join(c.list, string(os.PathListSeparator))
		if got := ceilings(program.Environ{"GIT_CEILING_DIRECTORIES=" + list}); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, not %q", list, got, c.want)
		}
	}
}
