package repository

import (
	"os"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Suite{M: m}.Run()) }

// Which reader is chosen, and why. The names of files are enough to make a repository large: nothing reads them.
func TestAuto(t *testing.T) {
	t.Parallel()
	const pack = ".git/objects/pack/pack-1111111111111111111111111111111111111111"
	const reflog = "what only git reads"
	for name, tt := range map[string]struct {
		mode        string
		make        func(r *gittest.Repo) *gittest.Repo
		reader, why string
	}{
		"a hook":         {"pre-commit", nil, "go-git", "no other program has to be started"},
		"a linked tree":  {"pre-push", func(r *gittest.Repo) *gittest.Repo { return r.Worktree("side") }, "go-git", "no other program"},
		"a long command": {"range", nil, "git", "git walks through history faster"},
		"a server":       {"pre-receive", nil, "git", "git walks through history faster"},
		"many objects": {"pre-commit", func(r *gittest.Repo) *gittest.Repo {
			r.Write(pack+".idx", strings.Repeat("x", 801<<10))
			return r
		}, "git", "index are 801 KB"},
		"a large index": {"pre-commit", func(r *gittest.Repo) *gittest.Repo {
			r.Write(".git/other", strings.Repeat("x", 201<<10))
			return r.With("GIT_INDEX_FILE=.git/other")
		}, "git", "index are 804 KB"},
		"not plain": {"pre-commit", func(r *gittest.Repo) *gittest.Repo { return r.Clone("--depth=1") }, "git", "it is a shallow clone"},
		"a damaged pack": {"pre-commit", func(r *gittest.Repo) *gittest.Repo {
			r.Git("repack", "-q", "-a", "-d")
			r.Write(pack+".idx", "damaged")
			r.Write(pack+".pack", "damaged")
			return r
		}, "git", "cannot be read"},
		reflog: {"pre-commit", nil, "git", `the revision "HEAD@{0}" is an abbreviated id, or`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.CommitFile("f", "1")
			r.CommitFile("f", "2")
			if tt.make != nil {
				r = tt.make(r)
			}
			revision := "HEAD"
			if name == reflog {
				revision = "HEAD@{0}"
			}
			var last string
			reader, err := Source{Dir: r.Dir, Environ: r.Environ(), Mode: tt.mode}.Do(t.Context(), func(repo Repository, why string) error {
				last = why
				id, err := repo.Resolve(t.Context(), revision)
				if err == nil && id != r.ID("HEAD") {
					t.Errorf("HEAD is %s", id)
				}
				return err
			})
			if err != nil || reader != tt.reader || !strings.Contains(last, tt.why) {
				t.Errorf("%s: %q, %v; want %s: %q", reader, last, err, tt.reader, tt.why)
			}
		})
	}
}
