// Package demo plays a short story with the real program: a repository, its hook, two honest commits, one that rewrites the log, and the
// command that puts the log back.
package demo

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	gitcmd "github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/install"
)

//go:embed workspace
var workspace embed.FS

const progress = ".small/progress.small.yml"

// The entries that the story appends, and the edit that it tries.
const (
	firstEntry = `  - task_id: "task-1"
    timestamp: "2026-03-01T09:10:00.250000000Z"
    status: "completed"
    evidence: "importer reads 1204 rows; 3 rows are refused"
    command: "go test ./importer"
`
	secondEntry = `  - task_id: "task-2"
    timestamp: "2026-03-01T09:20:00.500000000Z"
    status: "in_progress"
    notes: "checkpoint file format chosen"
    link: "https://example.com/build/7"
`
	honest = "1204 rows; 3 rows are refused"
	better = "1204 rows"
)

// Run plays the demonstration in a temporary directory and removes it again. The hook calls program; color colors the rejection. It returns
// an error unless two commits pass and one is rejected, as expected.
func Run(ctx context.Context, out io.Writer, program string, environ []string, color bool) (err error) {
	dir, err := os.MkdirTemp("", "small-gate-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &story{ctx: ctx, out: out, dir: dir, environ: environmentOf(environ, color)}
	if err := s.prepare(program); err != nil {
		return err
	}
	for _, step := range []step{
		{message: "Start: intent, plan and an empty log"},
		{message: "Record the first task", now: firstEntry + secondEntry},
		{message: "Tidy the log up", old: honest, now: better, rejected: true},
	} {
		if err := s.commit(step); err != nil {
			return err
		}
	}
	if err := s.restore(program); err != nil {
		return err
	}
	return s.say("\nThe rewritten entry did not get into the history. Everything here was real: git, the hook,\nand this program. `small-hook install` sets the same hook up in a repository of yours.\n")
}

// story is one run of the demonstration.
type story struct {
	ctx     context.Context
	out     io.Writer
	dir     string
	environ []string
}

// step is one commit. It replaces old by now in the log; without old, it appends now.
type step struct {
	message, old, now string
	rejected          bool
}

// prepare makes the repository and its hook.
func (s *story) prepare(program string) error {
	if err := s.say("A repository whose log of agent work is guarded by small-gate:\n\n"); err != nil {
		return err
	}
	if out, err := s.git("init", "-q", "-b", "main"); err != nil {
		return fmt.Errorf("git init: %w\n%s", err, out)
	}
	if _, err := install.Install(s.ctx, install.InstallOptions{Dir: s.dir, Program: program}); err != nil {
		return err
	}
	files, err := fs.Sub(workspace, "workspace")
	if err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(s.dir, ".small"), files)
}

// commit edits the log and commits, and prints the result.
func (s *story) commit(step step) error {
	path := filepath.Join(s.dir, filepath.FromSlash(progress))
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if step.old == "" {
		data = append(data, step.now...)
	} else {
		data = bytes.Replace(data, []byte(step.old), []byte(step.now), 1)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	out, err := s.git("add", "-A")
	if err == nil {
		out, err = s.git("commit", "-q", "-m", step.message)
	}
	var exit *exec.ExitError
	switch {
	case !step.rejected && err == nil:
		return s.say(fmt.Sprintf("$ git commit -m %q\n  accepted\n", step.message))
	case step.rejected && errors.As(err, &exit) && strings.Contains(out, "append-only/modified"):
		return s.say(fmt.Sprintf("$ git commit -m %q\n\n%s\n  rejected, exit status %d\n", step.message, strings.TrimRight(out, "\n"), exit.ExitCode()))
	case step.rejected:
		return fmt.Errorf("the demonstration's commit %q was not rejected as it should be: %w\n%s", step.message, err, out)
	}
	return fmt.Errorf("the demonstration's commit %q was not accepted: %w\n%s", step.message, err, out)
}

// restore types the fix that the rejection names.
func (s *story) restore(program string) error {
	cmd := exec.CommandContext(s.ctx, program, "restore")
	cmd.Dir, cmd.Env = s.dir, s.environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the demonstration's small-hook restore failed: %w\n%s", err, out)
	}
	if left, err := s.git("status", "--porcelain"); err != nil || left != "" {
		return fmt.Errorf("the demonstration's log is not as it was before the rewrite: %w\n%s", err, left)
	}
	return s.say(fmt.Sprintf("\n$ small-hook restore\n%s\n", strings.TrimRight(string(out), "\n")))
}

// git runs git in the repository.
func (s *story) git(args ...string) (string, error) {
	out, err := gitcmd.Git{Dir: s.dir, Environ: s.environ}.Command(s.ctx, args...).CombinedOutput()
	return string(out), err
}

// environmentOf is an environment without the user's configuration.
func environmentOf(environ []string, color bool) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	if color {
		env = append(env, "CLICOLOR_FORCE=1")
	}
	return append(env,
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@example.com",
		"GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@example.com")
}

func (s *story) say(text string) error {
	_, err := io.WriteString(s.out, text)
	return err
}
