package install

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestDoctorSaysWhatKindOfRepositoryItIs(t *testing.T) {
	gittest.Long(t)
	origin := newRepo(t)
	git(t, origin, "config", "uploadpack.allowFilter", "true")
	dir := realTemp(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	git(t, origin, "worktree", "add", "-q", "--detach", in("linked"))
	git(t, dir, "clone", "-q", "--depth=1", "--filter=blob:none", "file://"+origin, in("part"))
	git(t, in("part"), "sparse-checkout", "set", "one")
	git(t, dir, "clone", "-q", "--bare", origin, in("bare"))
	git(t, dir, "init", "-q", "--object-format=sha256", in("long"))
	git(t, dir, "clone", "-q", "file://"+origin, in("whole"))
	git(t, in("whole"), "config", "remote.origin.promisor", "Off")
	git(t, in("whole"), "config", "core.sparseCheckout", "true")
	git(t, in("whole"), "config", "--add", "core.sparseCheckout", "no")
	for repo, want := range map[string][]string{
		origin:       {"work tree"},
		in("linked"): {"linked work tree"},
		in("part"):   {"work tree", "shallow", "partial clone", "sparse checkout"},
		in("bare"):   {"bare"},
		in("whole"):  {"work tree"},
		in("long"):   {"work tree", "sha256"},
	} {
		if diff := cmp.Diff(want, diagnose(t, repo).Repository.Kind); diff != "" {
			t.Errorf("%s: %s", repo, diff)
		}
	}
}
