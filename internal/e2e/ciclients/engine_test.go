//go:build engine && !windows

package ciclients_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// These tests need root, a Docker Engine at DOCKER_HOST, and the images that scripts/clients builds and names in these variables. They
// never skip: the build tag means that all of this exists. scripts/try-image tests the image itself.
const (
	gateImage = "SMALL_GATE_IMAGE"
	jobImage  = "SMALL_GATE_JOB_IMAGE" // with bash, for a job's own steps
)

func init() { ownEvents = 4 }

func image(t *testing.T, variable string) string {
	t.Helper()
	name := os.Getenv(variable)
	if name == "" {
		t.Fatalf("%s is not set: run scripts/clients", variable)
	}
	return name
}

// foreign gives a repository to a user that does not exist.
func foreign(t *testing.T, r *gittest.Repo) {
	t.Helper()
	for dir := r.Dir; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // readable for any user
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(r.Dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 1001, 1001)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// trusted is a repository that git accepts, whoever owns it.
func trusted(r *gittest.Repo) *gittest.Repo {
	return r.With("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
}

// containerMode are the arguments with which act runs jobs in containers.
func containerMode(t *testing.T) []string {
	t.Helper()
	return []string{"-P", "ubuntu-latest=" + image(t, jobImage), "--pull=false", "--container-daemon-socket", "-", "-W", ".github/workflows/gate.yml"}
}

// newRelease is the Docker action in a release's commit, with its image by name.
func newRelease(t *testing.T) string {
	t.Helper()
	release := t.TempDir()
	description := readFile(t, filepath.Join(root, "action.yml"))
	if strings.Count(description, "\n  image: Dockerfile\n") != 1 {
		t.Fatal("action.yml is not built from the Dockerfile")
	}
	text := strings.Replace(description, "  image: Dockerfile", "  image: docker://"+image(t, gateImage), 1)
	if err := os.WriteFile(filepath.Join(release, "action.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return release
}

// TestDockerAction has a user's workflow run the Docker action by name.
func TestDockerAction(t *testing.T) {
	release := newRelease(t)
	for name, e := range events {
		for what, honest := range map[string]bool{"passing": true, "failing": false} {
			t.Run(name+", "+what, func(t *testing.T) {
				r := newConsumer(t, workflow("small-gate/small-gate@v1", ""))
				ev := e.make(t, r, honest)
				args := append([]string{"--local-repository", "small-gate/small-gate@v1=" + release}, containerMode(t)...)
				act(t, r, ev.name, ev.payload, append(args, ev.args...)...).expect(t, honest, e.commits)
			})
		}
	}
	// With -b act mounts the work tree instead of copying it: it stays another user's, like a checkout by GitHub's runner.
	t.Run("somebody else's", func(t *testing.T) {
		r := newConsumer(t, workflow("small-gate/small-gate@v1", ""))
		ev := events["push"].make(t, r, false)
		foreign(t, r)
		args := append([]string{"-b", "--local-repository", "small-gate/small-gate@v1=" + release}, containerMode(t)...)
		act(t, trusted(r), ev.name, ev.payload, append(args, ev.args...)...).expect(t, false, "1")
	})
}

// TestDockerActionFetches runs the Docker action on a forced push whose old tip only the server still has, as after a checkout.
func TestDockerActionFetches(t *testing.T) {
	release := newRelease(t)
	for _, branch := range []string{"work", "main"} {
		for what, honest := range map[string]bool{"passing": true, "failing": false} {
			t.Run(branch+", "+what, func(t *testing.T) {
				r := newConsumer(t, workflow("small-gate/small-gate@v1", ""))
				r.Branch("old", "main")
				appendEntry(t, r, 11, "already pushed")
				r.Branch("topic", "main")
				r.CommitFile("readme", "rebased\n")
				if honest {
					appendEntry(t, r, 11, "already pushed")
				}
				r.Git("remote", "set-url", "origin", serve(t, r, "")+"/team/consumer.git")
				ev := push(r, branch, "old", "topic", true)
				r.Git("branch", "-D", "old", "topic")
				r.Git("reflog", "expire", "--expire=now", "--all")
				r.Git("prune", "--expire=now")
				foreign(t, r)
				args := append([]string{"-b", "--local-repository", "small-gate/small-gate@v1=" + release}, containerMode(t)...)
				got := act(t, trusted(r), ev.name, ev.payload, append(args, ev.args...)...)
				want, verdict := "success", "pass"
				if !honest {
					want, verdict = "failure", "fail"
				}
				if got.job != want || got.outputs["verdict"] != verdict || honest == strings.Contains(got.summary, "append-only/deleted") {
					t.Errorf("job %q, verdict %q\n%s\n%s", got.job, got.outputs["verdict"], got.summary, got.log)
				}
				if !strings.Contains(got.log, "fetched: ") {
					t.Errorf("nothing was fetched\n%s", got.log)
				}
			})
		}
	}
}

// TestGitLabContainer runs the template's job in its own image.
func TestGitLabContainer(t *testing.T) {
	for what, honest := range map[string]bool{"passing": true, "failing": false} {
		t.Run(what, func(t *testing.T) {
			r := newProject(t, gitlabIncludes["include"]+"    inputs:\n      image: "+image(t, gateImage)+"\n")
			before := r.ID("main")
			change(t, r, honest)
			variables := map[string]string{
				"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
				"CI_MERGE_REQUEST_DIFF_BASE_SHA": before,
			}
			said, status := pipeline(t, r, maps.Clone(variables), "--pull-policy", "if-not-present", "--network", "none", "small-gate")
			if (status == 0) != honest || !strings.Contains(said, "judged:          1 commit") {
				t.Errorf("exit status %d\n%s", status, said)
			}
			expectReports(t, r, "small-gate-reports", honest)
		})
	}
}
