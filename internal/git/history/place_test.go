package githistory

import (
	"path/filepath"
	"testing"

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
