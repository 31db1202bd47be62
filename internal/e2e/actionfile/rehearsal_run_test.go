//go:build rehearsal

package actionfile_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// leftOut are steps that the rehearsal skips, and why.
var leftOut = map[string]string{
	"bash .ci/run":      "it takes long, and every change has passed it",
	"bash .ci/long":     "it takes an hour",
	"build and try out": "it needs a container engine: scripts/clients does it",
}

// world is everything that a release changes: a server, and folders in place of the rest.
type world struct {
	t   *testing.T
	dir string
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := gittest.WriteProgram(w.path(name), text); err != nil {
		w.t.Fatal(err)
	}
}

// remove removes an existing file.
func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.Remove(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// read is a file's text without surrounding white space, empty if there is no file.
func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// files are the names in a folder of the world.
func (w *world) files(dir string) []string {
	w.t.Helper()
	all, err := os.ReadDir(w.path(dir))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	var names []string
	for _, file := range all {
		names = append(names, file.Name())
	}
	return names
}

// git runs git in a folder of the world, or another one.
func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	if cmd.Dir = dir; !filepath.IsAbs(dir) {
		cmd.Dir = w.path(dir)
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=somebody", "GIT_"+who+"_EMAIL=somebody@example.com")
	}
	cmd.Env = append(os.Environ(), cmd.Env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// event writes down what happened to a release.
func (w *world) event(said string) error {
	f, err := os.OpenFile(w.path("events"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(said); err != nil {
		return err
	}
	return f.Close()
}

// absolute is a path from the file system's root.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// job is one attempt of a job.
type job struct {
	*world
	version, dir string
	env          []string
	values       map[string]string // the values of expressions
	path         []string          // what the steps have added to PATH
	log          strings.Builder
}

// job is a new machine for a release's job. Expressions have the given values.
func (w *world) job(version string, values map[string]string) *job {
	dir := w.t.TempDir()
	j := &job{world: w, version: version, dir: dir, path: []string{absolute(w.t, filepath.Join("testdata", "rehearsal"))}, values: map[string]string{
		"inputs.version": version, "github.token": "secret", "github.actor": "somebody", "github.workspace": dir, "env.IMAGE": imageName,
	}}
	maps.Copy(j.values, values)
	j.env = append(os.Environ(), "WORLD="+w.dir, "GITHUB_REPOSITORY=small-gate/small-gate", "GITHUB_REF=refs/heads/main",
		"RUNNER_TEMP="+w.t.TempDir(), "DOCKER_CONFIG="+w.t.TempDir(), "IMAGE="+imageName, "VERSION="+version,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+w.path("origin.git")+".insteadOf",
		"GIT_CONFIG_VALUE_0=https://x-access-token:secret@github.com/small-gate/small-gate.git")
	return j
}

const imageName = "ghcr.io/small-gate/small-gate"

// expand puts values in place of expressions.
func (j *job) expand(text string) string {
	j.t.Helper()
	for {
		before, rest, ok := strings.Cut(text, "${{ ")
		if !ok {
			return text
		}
		name, after, _ := strings.Cut(rest, " }}")
		value, ok := j.values[name]
		if !ok {
			j.t.Fatalf("the rehearsal does not know the expression %s", name)
		}
		text = before + value + after
	}
}

// run runs the steps of a job until one fails, and returns the name of that one.
func (j *job) run(name string, what workflowJob) (failed string) {
	j.t.Helper()
	for variable, value := range what.Env {
		j.values["env."+variable] = j.expand(value)
		j.env = append(j.env, variable+"="+j.expand(value))
	}
	for _, step := range what.Steps {
		what := step.name()
		if why, ok := leftOut[what]; ok {
			j.t.Logf("LEFT OUT: %s: %s", what, why)
			continue
		}
		if step.If != "" {
			j.t.Fatalf("%s: the rehearsal does not know the condition %s", what, step.If)
		}
		began := time.Now()
		err := j.step(step)
		j.t.Logf("%s: %s (%.0f s)", name, what, time.Since(began).Seconds())
		if err != nil {
			j.t.Logf("%s: %v\n%s", what, err, tail(j.log.String()))
			return what
		}
	}
	return ""
}

func tail(text string) string {
	return text[max(0, len(text)-1500):]
}

// name is a step's name.
func (s workflowStep) name() string {
	for _, name := range []string{s.Name, s.Uses, s.Run} {
		if name != "" {
			return name
		}
	}
	return ""
}

func (j *job) step(step workflowStep) error {
	action, _, _ := strings.Cut(step.Uses, "@")
	switch action {
	case "":
		return j.script(step)
	case "actions/checkout":
		return j.checkout()
	case "actions/setup-go", "actions/setup-node":
		return nil
	case "actions/attest":
		return j.attest(step)
	case "pypa/gh-action-pypi-publish":
		return j.pypi(j.expand(step.With["packages-dir"]), step.With["skip-existing"] == "true")
	}
	return fmt.Errorf("the rehearsal does not know the action %s", action)
}

func (j *job) checkout() error {
	j.git(".", "clone", "-q", "--branch", "main", "origin.git", j.dir)
	j.env = append(j.env, "GITHUB_SHA="+strings.TrimSpace(j.git(j.dir, "rev-parse", "HEAD")))
	// Tools are fetched once. Git ignores the folder, but must be told so for a link.
	if err := os.WriteFile(filepath.Join(j.dir, ".git", "info", "exclude"), []byte("/bin\n"), 0o644); err != nil {
		return err
	}
	bin := filepath.Join(absolute(j.t, root), "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	return os.Symlink(bin, filepath.Join(j.dir, "bin"))
}

// script runs the lines of a step as GitHub does.
func (j *job) script(step workflowStep) error {
	files := map[string]string{"GITHUB_OUTPUT": "output", "GITHUB_PATH": "path"}
	env := append(slices.Clone(j.env), "PATH="+strings.Join(j.path, ":")+":"+os.Getenv("PATH"), "STUBS="+j.path[0])
	for name, value := range step.Env {
		env = append(env, name+"="+j.expand(value))
	}
	folder := j.t.TempDir()
	for name, file := range files {
		env = append(env, name+"="+filepath.Join(folder, file))
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", j.expand(step.Run))
	cmd.Dir, cmd.Env = j.dir, env
	out, err := cmd.CombinedOutput()
	j.log.Write(out)
	for _, file := range []string{"output", "path"} {
		text, readErr := os.ReadFile(filepath.Join(folder, file))
		if readErr != nil {
			continue // the step wrote nothing
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if name, value, ok := strings.Cut(line, "="); ok && file == "output" {
				j.values["steps."+step.ID+".outputs."+name] = value
			} else {
				j.path = append(j.path, line)
			}
		}
	}
	return err
}

// attest writes down the subject of an attestation: a digest, or the files' names.
func (j *job) attest(step workflowStep) error {
	said := "attested " + j.expand(step.With["subject-digest"]+step.With["subject-checksums"]) + "\n"
	if pattern := step.With["subject-path"]; pattern != "" {
		files, err := filepath.Glob(filepath.Join(j.dir, pattern))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("%s is %d files: %w", pattern, len(files), err)
		}
		said = ""
		for _, file := range files {
			said += "attested " + filepath.Base(file) + "\n"
		}
	}
	return j.event(said)
}

// pypi accepts each file only once.
func (j *job) pypi(folder string, skip bool) error {
	files, err := os.ReadDir(filepath.Join(j.dir, folder))
	if err != nil {
		return err
	}
	for _, file := range files {
		target := filepath.Join(j.world.path("pypi"), file.Name())
		if _, err := os.Stat(target); err == nil {
			if !skip {
				return fmt.Errorf("%s is on PyPI already", file.Name())
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(j.dir, folder, file.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			return err
		}
	}
	return j.event("pypi " + j.version + "\n")
}
