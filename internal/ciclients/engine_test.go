//go:build engine && !windows

package ciclients_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gittest"
)

// These tests need root, a Docker Engine at DOCKER_HOST, and the images that scripts/clients builds and names in these variables. They
// never skip: who asks for them by the build tag has all that.
const (
	actionImage = "SMALL_GATE_ACTION_IMAGE"
	gitlabImage = "SMALL_GATE_GITLAB_IMAGE"
	jobImage    = "SMALL_GATE_JOB_IMAGE" // with bash, for a job's own steps
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

// docker runs the client of the engine.
func docker(t *testing.T, args ...string) (said string, status int) {
	t.Helper()
	cmd := exec.Command("docker", args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// foreign gives a repository to a user that exists nowhere.
func foreign(t *testing.T, r *gittest.Repo) {
	t.Helper()
	for dir := r.Dir; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // any user may look
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

// inspect is what the engine knows of an image.
func inspect(t *testing.T, name string) (config struct {
	Size   int
	Config struct {
		User       string
		Entrypoint []string
		Cmd        []string
		Labels     map[string]string
	}
}) {
	t.Helper()
	said, status := docker(t, "image", "inspect", "--format", "{{json .}}", name)
	if err := json.Unmarshal([]byte(said), &config); err != nil || status != 0 {
		t.Fatalf("exit status %d: %v\n%s", status, err, said)
	}
	return config
}

// TestImages looks at what the images are.
func TestImages(t *testing.T) {
	action, gitlab := inspect(t, image(t, actionImage)), inspect(t, image(t, gitlabImage))
	t.Logf("the action's image has %.1f MB", float64(action.Size)/1e6)
	if action.Size > 40e6 {
		t.Errorf("the action's image has %d bytes", action.Size)
	}
	if len(action.Config.Entrypoint) != 1 || !strings.HasSuffix(action.Config.Entrypoint[0], "/small-action") || action.Config.User != "" {
		t.Errorf("the action's image: %+v", action.Config)
	}
	if len(gitlab.Config.Entrypoint) != 0 || len(gitlab.Config.Cmd) != 1 || gitlab.Config.User != "" {
		t.Errorf("the image for GitLab: %+v", gitlab.Config)
	}
	for name, labels := range map[string]map[string]string{"action": action.Config.Labels, "gitlab": gitlab.Config.Labels} {
		for label, want := range map[string]string{"source": "https://github.com/small-gate/small-gate", "licenses": "Apache-2.0", "version": version} {
			if got := labels["org.opencontainers.image."+label]; got != want {
				t.Errorf("%s: the label %s is %q, not %q", name, label, got, want)
			}
		}
	}
}

// TestImageRuns judges a repository of somebody else's, as root and as a user that exists nowhere, with nothing that can be written.
func TestImageRuns(t *testing.T) {
	for _, honest := range []bool{true, false} {
		r := newConsumer(t, nil)
		r.Git("update-ref", "refs/remotes/origin/main", "main")
		change(t, r, honest)
		foreign(t, r)
		for _, user := range []string{"0", "12345:54321"} {
			for name, command := range map[string][]string{
				"action":      {image(t, actionImage), "--base", "origin/main", "--head", "HEAD"},
				"small-hook":  {"--entrypoint", "small-hook", image(t, actionImage), "audit"},
				"gitlab, git": {image(t, gitlabImage), "sh", "-c", "git --version && small-action --reader git --base origin/main --head HEAD"},
				"gitlab":      {image(t, gitlabImage), "sh", "-ec", "small-action --base origin/main --head HEAD; small-hook audit"},
			} {
				t.Run(name+" as "+user+", honest "+strconv.FormatBool(honest), func(t *testing.T) {
					args := append([]string{"run", "--rm", "--network", "none", "--read-only", "--user", user, "-v", r.Dir + ":/repo:ro", "-w", "/repo"}, command...)
					said, status := docker(t, args...)
					if (status == 0) != honest || status > 1 || !honest && !strings.Contains(said, "append-only/modified") {
						t.Errorf("exit status %d\n%s", status, said)
					}
				})
			}
		}
	}
}

// containerMode are the arguments with which act runs jobs in containers.
func containerMode(t *testing.T) []string {
	t.Helper()
	return []string{"-P", "ubuntu-latest=" + image(t, jobImage), "--pull=false", "--container-daemon-socket", "-", "-W", ".github/workflows/gate.yml"}
}

// TestDockerAction has a user's workflow run the Docker action by name, as a release's commit has it, with its image by name.
func TestDockerAction(t *testing.T) {
	release := t.TempDir()
	description := readFile(t, filepath.Join(root, "action.yml"))
	if strings.Count(description, "\n  image: Dockerfile\n") != 1 {
		t.Fatal("action.yml is not built from the Dockerfile")
	}
	text := strings.Replace(description, "  image: Dockerfile", "  image: docker://"+image(t, actionImage), 1)
	if err := os.WriteFile(filepath.Join(release, "action.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
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
	// With -b act mounts the work tree instead of copying it: it stays somebody else's, as a checkout of GitHub's runner is.
	t.Run("somebody else's", func(t *testing.T) {
		r := newConsumer(t, workflow("small-gate/small-gate@v1", ""))
		ev := events["push"].make(t, r, false)
		foreign(t, r)
		args := append([]string{"-b", "--local-repository", "small-gate/small-gate@v1=" + release}, containerMode(t)...)
		own := r.With("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
		act(t, own, ev.name, ev.payload, append(args, ev.args...)...).expect(t, false, "1")
	})
}

// TestGitLabContainer runs the template's job in the image that it is for.
func TestGitLabContainer(t *testing.T) {
	for what, honest := range map[string]bool{"passing": true, "failing": false} {
		t.Run(what, func(t *testing.T) {
			r := newProject(t, gitlabIncludes["include"]+"    inputs:\n      image: "+image(t, gitlabImage)+"\n")
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
