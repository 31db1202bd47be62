//go:build !windows

package ciclients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// witnessRecipe is a file that docs/witness.md links, for a repository to watch.
func witnessRecipe(t *testing.T, name, watched string) string {
	t.Helper()
	text := readFile(t, filepath.Join(root, "docs", "witness", name))
	address := regexp.MustCompile(`WATCHED: .*`)
	if len(address.FindAllString(text, -1)) != 1 {
		t.Fatalf("docs/witness/%s does not name what is watched", name)
	}
	return address.ReplaceAllLiteralString(text, "WATCHED: "+watched)
}

// TestWitness runs the recipes of docs/witness.md in act and gitlab-ci-local: a look that records, and one that finds a forced push.
func TestWitness(t *testing.T) {
	installed(t, "act")
	path := built(t).program + string(os.PathListSeparator) + os.Getenv("PATH")
	for name, c := range map[string]struct {
		recipe, file string
		look         func(t *testing.T, r *gittest.Repo, own string) (string, bool)
	}{
		"github": {"github.yml", ".github/workflows/witness.yml", func(t *testing.T, r *gittest.Repo, _ string) (string, bool) {
			got := act(t, r, "workflow_dispatch", map[string]any{}, "-P", "ubuntu-latest=-self-hosted", "--env", "PATH="+path)
			return got.log, got.job == "success" && got.status == 0
		}},
		"gitlab": {"gitlab.yml", ".gitlab-ci.yml", func(t *testing.T, r *gittest.Repo, own string) (string, bool) {
			said, status := pipeline(t, r, map[string]string{"CI_PIPELINE_SOURCE": "schedule", "PUSH_TO": own, "CI_DEFAULT_BRANCH": "main"},
				"--force-shell-executor", "--shell-isolation", "witness")
			r.Remove(".gitlab-ci-local")
			return said, status == 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			watched, own := dir+"/watched.git", dir+"/own.git"
			log := newConsumer(t, nil)
			log.Git("init", "-q", "--bare", "--initial-branch=main", watched)
			log.Git("push", "-q", watched, "HEAD:refs/heads/main")
			recipe := witnessRecipe(t, c.recipe, watched)
			if name == "github" {
				r := gittest.New(t, gittest.At(t.TempDir()))
				r.Write("witness.yml", recipe)
				if stdout, stderr, status := run(t, r, nil, installed(t, "actionlint"), r.Path("witness.yml")); status != 0 {
					t.Errorf("actionlint: exit status %d\n%s%s", status, stdout, stderr)
				}
				recipe = strings.Replace(recipe, "    container: ghcr.io/small-gate/small-gate:v1\n", "", 1) // there is no container engine
			}
			r := gittest.New(t)
			r.Git("init", "-q", "--bare", "--initial-branch=main", own)
			r.Write(c.file, recipe)
			r.Write(".gitignore", ".gitlab-ci-local\n")
			r.Commit("begin")
			r.Git("branch", "-M", "main")
			r.Git("remote", "add", "origin", own)
			r.Git("push", "-q", "-u", "origin", "main")

			if said, ok := c.look(t, r, own); !ok {
				t.Fatalf("the first look fails:\n%s", said)
			}
			r.Git("pull", "-q")
			if state := readFile(t, r.Path("state/witness.txt")); strings.Count(state, "  \"sha256:") != 1 {
				t.Errorf("it records\n%s", state)
			}
			rewriteEntry(t, log)
			log.Git("push", "-q", "--force", watched, "HEAD:refs/heads/main")
			if said, ok := c.look(t, r, own); ok || !strings.Contains(said, "[witness/rewritten]") {
				t.Errorf("a rewrite passes: %v\n%s", ok, said)
			}
			if ahead := r.Git("ls-remote", "origin", "main"); !strings.HasPrefix(ahead, r.ID("main")) {
				t.Errorf("a finding is recorded: %s", ahead)
			}
		})
	}
}
