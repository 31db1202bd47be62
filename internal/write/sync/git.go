package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// commandLine is the installed git for one work tree. gitDir is that work tree's git directory; again is the command to repeat after a failure, quoted
// for a message. For its method Run a status other than 0 is no error;
// for run, runInput and runPaths it is, and they wait for locks.
type commandLine struct {
	gitcmd.Git
	gitDir, again string
}

func openGit(place githistory.Place, environ []string, again string) (*commandLine, error) {
	git, err := place.WorkingGit(environ)
	return &commandLine{Git: git, gitDir: place.GitDir, again: again}, err
}

// staging is a commandLine that apply can use to change index and files.
type staging struct{ *commandLine }

// Stage puts files into the index, all or none.
func (g staging) Stage(ctx context.Context, files []history.File) error {
	_, err := g.runInput(ctx, workgit.IndexInfo(files), "update-index", "-z", "--index-info")
	return err
}

// Run runs git, and returns its output.
func (g staging) Run(ctx context.Context, args ...string) ([]byte, error) {
	out, err := g.run(ctx, args...)
	return []byte(out), err
}

// runRetryingLocks runs git. While another git holds a lock, such as one that an editor runs, it tries again for a second.
func (g *commandLine) runRetryingLocks(ctx context.Context, input string, args ...string) (gitcmd.Result, error) {
	for tries := 20; ; tries-- {
		done, err := g.Run(ctx, strings.NewReader(input), args...)
		busy := strings.Contains(done.Stderr, "index.lock': File exists") || strings.Contains(done.Stderr, "cannot lock ref")
		if err != nil || done.Status == 0 || !busy || tries == 0 {
			return done, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// runInput runs git with an input and returns what git printed, without the last line break. A status other than 0 is an error.
func (g *commandLine) runInput(ctx context.Context, input string, args ...string) (string, error) {
	done, err := g.runRetryingLocks(ctx, input, args...)
	if err == nil && done.Status != 0 {
		err = g.errFailed(args, done)
	}
	return trimLine(string(done.Out)), err
}

// run is runInput without an input.
func (g *commandLine) run(ctx context.Context, args ...string) (string, error) {
	return g.runInput(ctx, "", args...)
}

// runYesNo runs a git command that answers with its status: 0 is yes, 1 is no, and anything else is an error.
func (g *commandLine) runYesNo(ctx context.Context, args ...string) (gitcmd.Result, error) {
	done, err := g.Run(ctx, nil, args...)
	if err == nil && done.Status > 1 {
		err = g.errFailed(args, done)
	}
	return done, err
}

// lockName finds the name of the lock in git's message.
var lockName = expression.Of(`'([^'\n]+\.lock)'`)

// errFailed returns the failure of a git that ended with a status other than 0. It says so if a lock or a full disk is the reason.
func (g *commandLine) errFailed(args []string, done gitcmd.Result) error {
	lock := filepath.Join(g.gitDir, "index.lock")
	if named := lockName().FindStringSubmatch(done.Stderr); named != nil {
		lock = named[1]
	}
	if _, err := os.Lstat(lock); err == nil {
		return &failure.Error{
			Message: "another git is at work here, or was killed: " + wording.Printable(lock) + " exists",
			Remedy:  "if no git is running: `rm -f " + wording.ShellWord(lock) + "`, then " + g.again,
		}
	}
	f := &failure.Error{Message: fmt.Sprintf("git %s ended with status %d: %s", gitcmd.Subcommand(args), done.Status, gitcmd.OneLine(done.Stderr))}
	if g.isDiskFull() {
		f.Message = "no space left on device: " + f.Message
	}
	return f
}

// explain turns the error of a git that ended with a status other than 0 into errFailed. Other errors stay: a failure.Error, and that of a git that did
// not start or was stopped.
func (g *commandLine) explain(err error) error {
	var e *gitcmd.Error
	if said := new(failure.Error); !errors.As(err, &said) && errors.As(err, &e) && e.Err == nil {
		return g.errFailed([]string{e.Command}, gitcmd.Result{Status: e.Status, Stderr: e.Stderr})
	}
	return err
}

// isDiskFull reports whether the disk is full. It tries to write a file, because git says it in many ways.
func (g *commandLine) isDiskFull() bool {
	file, err := os.CreateTemp(g.gitDir, "small-gate-room-")
	if err == nil {
		_, err = file.Write(make([]byte, 1<<18))
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return errors.Is(err, syscall.ENOSPC)
}

// errCannotWrite returns the failure of a write in the git directory or the work tree.
func errCannotWrite(err error) error {
	return &failure.Error{Message: "cannot write: " + wording.Printable(err.Error()), Err: err}
}

// runPaths runs a git command that prints paths with a null byte after each, and returns the paths.
func (g *commandLine) runPaths(ctx context.Context, args ...string) ([]string, error) {
	done, err := g.run(ctx, args...)
	if done == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(done, "\x00"), "\x00"), err
}

// unmerged lists the paths in conflict.
func (g *commandLine) unmerged(ctx context.Context) ([]string, error) {
	lines, err := g.runPaths(ctx, "ls-files", "-z", "--unmerged", "--full-name", ":/")
	var out []string
	for _, line := range lines {
		_, path, _ := strings.Cut(line, "\t")
		out = append(out, path)
	}
	return slices.Compact(out), err
}

func trimLine(line string) string { return strings.TrimSuffix(line, "\n") }
