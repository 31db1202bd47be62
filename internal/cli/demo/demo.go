// Package demo runs the real program in a temporary repository: two commits that pass, one that rewrites the log and is rejected, and the
// command that restores the log.
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
)

//go:embed workspace
var workspace embed.FS

const progress = ".small/progress.small.yml"

// Entries to append, and an edit of one of them: oldEvidence becomes newEvidence.
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
	oldEvidence = "1204 rows; 3 rows are refused"
	newEvidence = "1204 rows"
)

// Run runs the demonstration in a temporary directory. The hook calls program; color colors the rejection. It returns an error unless two
// commits pass and one is rejected.
func Run(ctx context.Context, out io.Writer, program string, environ []string, color bool) (err error) {
	dir, err := os.MkdirTemp("", "small-gate-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demonstration{ctx: ctx, out: out, dir: dir, environ: isolatedEnviron(environ, color)}
	if err := d.createRepository(program); err != nil {
		return err
	}
	for _, step := range []step{
		{message: "Start: intent, plan and an empty log"},
		{message: "Record the first task", text: firstEntry + secondEntry},
		{message: "Tidy the log up", old: oldEvidence, text: newEvidence, expectRejection: true},
	} {
		if err := d.commit(step); err != nil {
			return err
		}
	}
	if err := d.restore(program); err != nil {
		return err
	}
	return d.print("\nThe rewritten entry did not get into the history. Everything here was real: git, the hook,\nand this program. `small-hook install` sets the same hook up in a repository of yours.\n")
}

type demonstration struct {
	ctx     context.Context
	out     io.Writer
	dir     string
	environ []string
}

// step is one commit. It replaces old by text in the log; if old is empty, it appends text.
type step struct {
	message, old, text string
	expectRejection    bool
}

// createRepository also installs the hooks and writes the workspace.
func (d *demonstration) createRepository(program string) error {
	if err := d.print("A repository whose log of agent work is guarded by small-gate:\n\n"); err != nil {
		return err
	}
	if out, err := d.git("init", "-q", "-b", "main"); err != nil {
		return fmt.Errorf("git init: %w\n%s", err, out)
	}
	// The program itself and not the package install, which would read the user's configuration of git.
	if out, err := d.program(program, "install", "--program", program); err != nil {
		return stepError("the demonstration's small-hook install failed", err, out)
	}
	files, err := fs.Sub(workspace, "workspace")
	if err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(d.dir, ".small"), files)
}

// commit edits and commits the log, and prints the result.
func (d *demonstration) commit(step step) error {
	path := filepath.Join(d.dir, filepath.FromSlash(progress))
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if step.old == "" {
		data = append(data, step.text...)
	} else {
		data = bytes.Replace(data, []byte(step.old), []byte(step.text), 1)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	out, err := d.git("add", "-A")
	if err == nil {
		out, err = d.git("commit", "-q", "-m", step.message)
	}
	var exit *exec.ExitError
	switch {
	case !step.expectRejection && err == nil:
		return d.print(fmt.Sprintf("$ git commit -m %q\n  accepted\n", step.message))
	case step.expectRejection && errors.As(err, &exit) && strings.Contains(out, "append-only/modified"):
		return d.print(fmt.Sprintf("$ git commit -m %q\n\n%s\n  rejected, exit status %d\n", step.message, strings.TrimRight(out, "\n"), exit.ExitCode()))
	case step.expectRejection:
		return stepError(fmt.Sprintf("the demonstration's commit %q was not rejected as it should be", step.message), err, out)
	}
	return stepError(fmt.Sprintf("the demonstration's commit %q was not accepted", step.message), err, out)
}

// stepError is for a step that went wrong. err may be nil.
func stepError(problem string, err error, printed string) error {
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", problem, err, printed)
	}
	return fmt.Errorf("%s\n%s", problem, printed)
}

// restore runs the fix that the rejection names, and checks that nothing is left to commit.
func (d *demonstration) restore(program string) error {
	out, err := d.program(program, "restore")
	if err != nil {
		return stepError("the demonstration's small-hook restore failed", err, out)
	}
	if changed, err := d.git("status", "--porcelain"); err != nil || changed != "" {
		return stepError("the demonstration's log is not as it was before the rewrite", err, changed)
	}
	return d.print(fmt.Sprintf("\n$ small-hook restore\n%s\n", strings.TrimRight(out, "\n")))
}

// program runs a command of the program, and returns what it printed.
func (d *demonstration) program(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(d.ctx, name, args...)
	cmd.Dir, cmd.Env = d.dir, d.environ
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *demonstration) git(args ...string) (string, error) {
	out, err := gitcmd.Git{Dir: d.dir, Environ: d.environ}.Command(d.ctx, args...).CombinedOutput()
	return string(out), err
}

// isolatedEnviron returns an environment without the user's and the system's configuration of git, and without the variables of this program, such as a
// floor.
func isolatedEnviron(environ []string, color bool) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_") || strings.HasPrefix(variable, "SMALL_")
	})
	if color {
		env = append(env, "CLICOLOR_FORCE=1")
	}
	return append(env,
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@example.com",
		"GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@example.com")
}

func (d *demonstration) print(text string) error {
	_, err := io.WriteString(d.out, text)
	return err
}
