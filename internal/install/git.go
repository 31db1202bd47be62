package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Git is the git program on PATH.
type Git struct {
	Path    string // absolute
	Version string // as git prints it, for example "2.39.5"
}

// findGit looks up git and reads its version, which shows that git can run.
func findGit(ctx context.Context) (Git, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return Git{}, newError("git is not on PATH", "Install git, or add its folder to PATH.", err)
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
	var first, second int
	_, err := fmt.Sscanf(g.Version, "%d.%d", &first, &second)
	return err == nil && (first > major || first == major && second >= minor)
}

// run runs git in dir ("" is the current directory) and returns its standard output. It disables core.fsmonitor, since a repository's
// configuration could name any program there.
func (g Git) run(ctx context.Context, dir string, args ...string) (string, error) {
	git := gitcmd.Git{Program: g.Path, Dir: dir, Environ: environment(), Options: []string{"-c", "core.fsmonitor=false"}}
	out, err := git.Output(ctx, nil, args...)
	var gitError *gitcmd.Error
	if errors.As(err, &gitError) && gitError.Stderr != "" {
		return "", &failure.Error{Message: "git says: " + wording.Printable(strings.TrimPrefix(gitError.Stderr, "fatal: ")), Err: err}
	}
	if err != nil {
		return "", newError("git "+args[0]+" failed", "", err)
	}
	return string(out), nil
}

// config runs git config with args in dir to read settings, and returns its output. set is false, and err nil, if no setting matches: git then ends
// with status 1.
func (g Git) config(ctx context.Context, dir string, args ...string) (out string, set bool, err error) {
	out, err = g.run(ctx, dir, append([]string{"config"}, args...)...)
	if gitcmd.ExitedWith(err, 1) {
		return "", false, nil
	}
	if err != nil {
		err = newError("git cannot read its configuration", "", err)
	}
	return out, err == nil, err
}

// environment returns this process's environment without [DoctorVariable] and without the variables that name a repository, so that only the
// directory selects a repository, even if the caller runs inside a hook. It appends extra.
func environment(extra ...string) []string {
	return append(gitcmd.Working(os.Environ(), append([]string{DoctorVariable}, gitcmd.Locating...)...), extra...)
}
