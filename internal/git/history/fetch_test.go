package githistory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// A shallow clone becomes complete, a complete one stays so, and only objects and the requested refs are written.
func TestFetch(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	origin := gittest.New(t)
	origin.CommitFile("file", "1")
	origin.CommitFile("file", "2")
	origin.Git("tag", "v1")
	origin.Git("branch", "other")
	for _, guarded := range []bool{false, true} {
		clone := gittest.New(t)
		clone.Git("remote", "add", "origin", "file://"+filepath.ToSlash(origin.Dir))
		clone.Git("fetch", "-q", "--no-tags", "--depth=1", "origin", "+refs/heads/main:refs/remotes/origin/main")
		clone.Git("update-ref", "refs/remotes/origin/stale", "refs/remotes/origin/main")
		clone.Git("config", "fetch.prune", "true")
		if err := os.Remove(clone.Path(".git/FETCH_HEAD")); err != nil {
			t.Fatal(err)
		}
		for _, shallow := range []bool{true, false} {
			repo := open(t, clone)
			if repo.Shallow != shallow {
				t.Fatalf("shallow: %t, not %t", repo.Shallow, shallow)
			}
			if err := repo.Fetch(t.Context(), "origin", "+refs/heads/main:refs/remotes/origin/main", guarded); err != nil {
				t.Fatal(err)
			}
		}
		if got := clone.Git("rev-list", "--count", "refs/remotes/origin/main"); got != "2" {
			t.Errorf("there are %s commits", got)
		}
		if got, want := clone.Git("for-each-ref", "--format=%(refname)"), "refs/remotes/origin/main\nrefs/remotes/origin/stale"; got != want {
			t.Errorf("the refs are %q, not %q", got, want)
		}
		if MayExist(clone.Path(".git/FETCH_HEAD")) {
			t.Error("FETCH_HEAD was written")
		}
	}
}

// A name that is no remote, or no refspec, does not reach git, which might take it for an option; git's errors are reported.
func TestFetchRefuses(t *testing.T) {
	t.Parallel()
	repo := open(t, gittest.New(t))
	for _, c := range [][2]string{{"--upload-pack=x", "main"}, {"origin", "--upload-pack=x"}, {"origin", ""}, {"", "main"}, {"ext::x", "main"}} {
		if err := repo.Fetch(t.Context(), c[0], c[1], false); err == nil {
			t.Errorf("%q was taken", c)
		} else {
			wantFailure(t, err, "cannot fetch")
		}
	}
	wantFailure(t, repo.Fetch(t.Context(), "origin", "main", false), "cannot fetch main from origin", "git fetch")
}
