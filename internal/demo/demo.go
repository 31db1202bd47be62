// Package demo plays a short story with the real program: a repository, its
// hook, two honest commits, and one that rewrites the log.
package demo

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/hook"
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

// Options say how to play the demonstration.
type Options struct {
	// Program is the path of the program that the hook calls.
	Program string
	// Environ is the process's environment.
	Environ []string
	// Color has the rejection colored.
	Color bool
}

// Run plays the demonstration in a temporary directory and removes it again.
// It returns an error if anything but the expected happens: two commits that
// pass and one that is rejected.
func Run(ctx context.Context, out io.Writer, opts Options) (err error) {
	dir, err := os.MkdirTemp("", "small-gate-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &story{ctx: ctx, out: out, dir: dir, opts: opts}
	return s.play()
}

// story is one run of the demonstration.
type story struct {
	ctx  context.Context
	out  io.Writer
	dir  string
	opts Options
}

func (s *story) play() error {
	steps := []func() error{
		s.prepare,
		func() error { return s.accepted("Start: intent, plan and an empty log", "", "") },
		func() error { return s.accepted("Record the first task", "", firstEntry+secondEntry) },
		func() error { return s.rejected("Tidy the log up", honest, better) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return s.say("\nThe rewritten entry did not get into the history. Everything here was real: git, the hook,\nand this program. `small-hook install` sets the same hook up in a repository of yours.\n")
}

// prepare makes the repository and its hook.
func (s *story) prepare() error {
	if err := s.say("A repository whose log of agent work is guarded by small-gate:\n\n"); err != nil {
		return err
	}
	if out, err := s.git("init", "-q", "-b", "main"); err != nil {
		return fmt.Errorf("git init: %w\n%s", err, out)
	}
	if _, err := hook.Install(s.ctx, hook.InstallOptions{Dir: s.dir, Program: s.opts.Program}); err != nil {
		return err
	}
	files, err := workspace.ReadDir("workspace")
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(s.dir, ".small"), 0o755); err != nil {
		return err
	}
	for _, f := range files {
		data, err := workspace.ReadFile("workspace/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.dir, ".small", f.Name()), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// commit edits the log, replacing old by new or appending, and commits.
func (s *story) commit(message, old, now string) (string, error) {
	path := filepath.Join(s.dir, filepath.FromSlash(progress))
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if old == "" {
		data = append(data, now...)
	} else {
		data = bytes.Replace(data, []byte(old), []byte(now), 1)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return "", err
	}
	if out, err := s.git("add", "-A"); err != nil {
		return out, err
	}
	return s.git("commit", "-q", "-m", message)
}

func (s *story) accepted(message, old, now string) error {
	out, err := s.commit(message, old, now)
	if err != nil {
		return fmt.Errorf("the demonstration's commit %q was not accepted: %w\n%s", message, err, out)
	}
	return s.say(fmt.Sprintf("$ git commit -m %q\n  accepted\n", message))
}

func (s *story) rejected(message, old, now string) error {
	out, err := s.commit(message, old, now)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(out, "append-only/modified") {
		return fmt.Errorf("the demonstration's commit %q was not rejected as it should be: %w\n%s", message, err, out)
	}
	return s.say(fmt.Sprintf("$ git commit -m %q\n\n%s\n  rejected, exit status %d\n", message, strings.TrimRight(out, "\n"), exit.ExitCode()))
}

// git runs git in the repository, away from the user's configuration.
func (s *story) git(args ...string) (string, error) {
	cmd := gitcmd.Git{Dir: s.dir, Environ: s.environ()}.Command(s.ctx, args...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *story) environ() []string {
	var env []string
	for _, kv := range s.opts.Environ {
		if !strings.HasPrefix(kv, "GIT_") {
			env = append(env, kv)
		}
	}
	if s.opts.Color {
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
