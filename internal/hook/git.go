package hook

import (
	"bytes"
	"context"
	"errors"
	"github.com/small-gate/small-gate/internal/failure"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Git is the git that was asked.
type Git struct {
	Path    string // absolute
	Version string // as git prints it, for example "2.39.5"
}

// findGit looks git up on PATH. The version is read, so that a git that cannot run is found out here.
func findGit(ctx context.Context) (Git, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return Git{}, failed("git is not on PATH", "Install git, or add its folder to PATH.", err)
	}
	git := Git{Path: path}
	out, err := git.run(ctx, "", "version")
	if err != nil {
		return Git{}, err
	}
	git.Version = strings.TrimPrefix(strings.TrimSpace(out), "git version ")
	return git, nil
}

// atLeast reports whether git's version is major.minor or newer. A version that cannot be read counts as old.
func (g Git) atLeast(major, minor int) bool {
	parts := strings.SplitN(g.Version+".", ".", 3)
	first, err1 := strconv.Atoi(parts[0])
	second, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (first > major || first == major && second >= minor)
}

// run runs git in dir ("" is the current directory) and returns its standard output. What watches files for git (core.fsmonitor) is a
// program that a repository's configuration names, and is not run.
func (g Git) run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.Path, append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = environment()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if said := strings.TrimPrefix(strings.TrimSpace(complaint.String()), "fatal: "); said != "" {
			return "", &failure.Error{Message: "git says: " + show(said), Err: err}
		}
		return "", failed("git "+args[0]+" failed", "", err)
	}
	return out.String(), nil
}

// config reads settings as they hold in dir. Nothing is set where git ends with status 1.
func (g Git) config(ctx context.Context, dir string, args ...string) (out string, set bool, err error) {
	out, err = g.run(ctx, dir, append([]string{"config"}, args...)...)
	if gitStatus(err) == 1 {
		return "", false, nil
	}
	if err != nil {
		err = failed("git cannot read its configuration", "", err)
	}
	return out, err == nil, err
}

// gitStatus is the exit status with which git failed, or -1 if it did not get that far.
func gitStatus(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// locating lists the variables by which git's environment points at a repository. They are taken away, so that the directory
// alone decides which repository is meant, even when the caller itself runs inside a hook.
var locating = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
	DoctorVariable,
}

// environment is the environment for git and for what git starts: our own, without what points at another repository, with
// messages in English and without optional writes to the index.
func environment(extra ...string) []string {
	fixed := []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(locating, name) || name == "LC_ALL" || name == "GIT_OPTIONAL_LOCKS"
	})
	return append(append(env, fixed...), extra...)
}
