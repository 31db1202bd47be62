//go:build !windows

// Package ciclients_test runs the action and the GitLab template with substitutes for GitHub and GitLab: act and gitlab-ci-local.
// SMALL_GATE_CI_CLIENTS names their folder; scripts/ci-setup fetches them and prints the variable's value. Tests with containers have the
// build tag engine, and are run by scripts/clients.
package ciclients_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// parts are the parts of this repository that the tests use, built.
type parts struct {
	// program is the directory with small-action and small-hook.
	program string
	// release is a copy of the action's files in a release's commit; mirror has its release's files.
	release, mirror string
}

// root is the repository's root.
var root string

const version = "v0.0.1-test"

func TestMain(m *testing.M) {
	var err error
	if root, err = filepath.Abs(filepath.Join("..", "..", "..")); err != nil {
		panic(err)
	}
	// Variables from a CI server around the tests are not meant for what they run.
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		for _, prefix := range []string{"GITHUB_", "RUNNER_", "INPUT_", "ACTIONS_", "ACT", "GITLAB_", "CI"} {
			if strings.HasPrefix(name, prefix) {
				if err := os.Unsetenv(name); err != nil {
					panic(err)
				}
			}
		}
	}
	os.Exit(gittest.Suite{M: m}.Run())
}

// built are the parts, built on first use.
func built(t *testing.T) parts {
	t.Helper()
	p, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var build = sync.OnceValues(func() (parts, error) {
	dir, err := gittest.HeldDir()
	if err != nil {
		return parts{}, err
	}
	p := parts{program: filepath.Join(dir, "bin"), release: filepath.Join(dir, "release"), mirror: filepath.Join(dir, "mirror")}
	cmd := exec.Command("go", "build", "-o", p.program+string(filepath.Separator), "./cmd/small-action", "./cmd/small-hook")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return parts{}, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return p, p.makeRelease()
})

// makeRelease makes the action of a release's commit, and the one file that it would fetch.
func (p parts) makeRelease() error {
	program, err := os.ReadFile(filepath.Join(p.program, "small-action"))
	if err != nil {
		return err
	}
	name := "small-action_" + runtime.GOOS + "_" + runtime.GOARCH
	if err := os.MkdirAll(filepath.Join(p.mirror, version), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.mirror, version, name), program, 0o644); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(p.release, "composite"), os.DirFS(filepath.Join(root, "composite"))); err != nil {
		return err
	}
	said := fmt.Sprintf("version %s\n%x  %s\n", version, sha256.Sum256(program), name)
	return os.WriteFile(filepath.Join(p.release, "composite", "release.txt"), []byte(said), 0o644)
}

// installed is a program that scripts/ci-setup fetched. It skips the test if it is missing.
func installed(t *testing.T, program string) string {
	t.Helper()
	dir := os.Getenv("SMALL_GATE_CI_CLIENTS")
	if dir == "" {
		t.Skip("act and gitlab-ci-local are not here: export SMALL_GATE_CI_CLIENTS=\"$(scripts/ci-setup)\" in the repository's root gets them")
	}
	return filepath.Join(dir, program)
}

// run runs a program in a repository and returns its output on both streams, and its exit status.
func run(t *testing.T, repo *gittest.Repo, env []string, program string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = repo.Dir, append(repo.Environ(), env...), &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", program, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

const progress = ".small/progress.small.yml"

// newConsumer is a repository with a valid workspace, whose first commit is on main. Its remote is only a name.
func newConsumer(t *testing.T, files map[string]string) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Git("remote", "add", "origin", "git@gitlab.example.com:team/consumer.git")
	if err := os.CopyFS(r.Dir, os.DirFS(filepath.Join(root, "cmd", "small-hook", "testdata", "workspace"))); err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		r.Write(path, text)
	}
	r.Commit("start")
	return r
}

// append adds an entry to the log and commits it.
func appendEntry(t *testing.T, r *gittest.Repo, hour int, evidence string) string {
	t.Helper()
	text := readFile(t, r.Path(progress))
	text += fmt.Sprintf("  - task_id: \"task-1\"\n    timestamp: \"2026-03-01T%02d:00:00.000000001Z\"\n    status: \"in_progress\"\n    evidence: %q\n", hour, evidence)
	return r.CommitFile(progress, text)
}

// rewriteEntry changes the log's first entry, and commits that.
func rewriteEntry(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	const said = `evidence: "workspace created`
	text := readFile(t, r.Path(progress))
	if strings.Count(text, said) != 1 {
		t.Fatalf("the log does not begin as expected:\n%s", text)
	}
	return r.CommitFile(progress, strings.Replace(text, said, said+"!", 1))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// goEnv is a setting of the Go command.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
