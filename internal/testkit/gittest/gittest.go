// Package gittest makes real git repositories for tests, with the installed git and without the machine's or the user's configuration. It
// is for tests only: no production package imports it.
package gittest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Repo is a directory in which git runs: a repository with a work tree, one of its linked work trees, or a bare repository. Every failure
// ends the test.
type Repo struct {
	// Dir is the absolute path of the work tree's root, or of the bare
	// repository, with symbolic links resolved.
	Dir string

	t     testing.TB
	env   []string
	clock *clock
}

type settings struct {
	dir      string
	initArgs []string
	env      []string
}

// Option changes how New makes a repository.
type Option func(*settings)

// At makes the repository in dir, which is created, and not in a new temporary
// directory.
func At(dir string) Option { return func(s *settings) { s.dir = dir } }

// Bare makes a bare repository.
func Bare() Option { return Init("--bare") }

// SHA256 makes a repository whose object ids are 64 digits long.
func SHA256() Option { return Init("--object-format=sha256") }

// Init adds arguments to git init.
func Init(args ...string) Option {
	return func(s *settings) { s.initArgs = append(s.initArgs, args...) }
}

// Env adds variables, each as KEY=VALUE, to the environment of every command.
func Env(vars ...string) Option {
	return func(s *settings) { s.env = append(s.env, vars...) }
}

// New makes a repository whose first branch is called main.
func New(t testing.TB, opts ...Option) *Repo {
	t.Helper()
	var s settings
	for _, opt := range opts {
		opt(&s)
	}
	if s.dir == "" {
		s.dir = TempDir(t)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := &Repo{t: t, env: append(baseEnviron(t), s.env...), clock: new(clock), Dir: realPath(t, s.dir)}
	r.Git(append([]string{"init", "-q", "-b", "main"}, s.initArgs...)...)
	return r
}

// baseEnviron is the test's environment without git's variables and without the configuration of the machine and the user.
func baseEnviron(t testing.TB) []string {
	t.Helper()
	config, err := GlobalConfig()
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "LANG") && !strings.HasPrefix(v, "LC_") {
			env = append(env, v)
		}
	}
	return append(env,
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_GLOBAL="+config,
		"GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=Test Author",
		"GIT_AUTHOR_EMAIL=author@example.com",
		"GIT_COMMITTER_NAME=Test Committer",
		"GIT_COMMITTER_EMAIL=committer@example.com",
	)
}

func realPath(t testing.TB, dir string) string {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	abs, err = filepath.EvalSymlinks(abs)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// Environ is the environment of r's commands, for a program under test: isolated from the machine's configuration. The caller may change
// it.
func (r *Repo) Environ() []string { return append([]string(nil), r.env...) }

// With returns r with more variables, each as KEY=VALUE, in its environment.
func (r *Repo) With(vars ...string) *Repo {
	c := *r
	c.env = append(r.Environ(), vars...)
	return &c
}

// In returns r with its commands running in a directory below, or anywhere.
func (r *Repo) In(dir string) *Repo {
	r.t.Helper()
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Dir, filepath.FromSlash(dir))
	}
	c := *r
	c.Dir = realPath(r.t, dir)
	return &c
}

// Git runs git and returns its standard output without the last line's end.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.GitInput("", args...)
}

// GitInput is Git with a standard input.
func (r *Repo) GitInput(input string, args ...string) string {
	r.t.Helper()
	out, err := r.run(input, args)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n")
}

// Try runs git and returns its standard output; if it fails, the error has its message.
func (r *Repo) Try(args ...string) (string, error) {
	return r.run("", args)
}

// run runs git at the clock's next time.
func (r *Repo) run(input string, args []string) (string, error) {
	date := r.clock.next().Format(time.RFC3339)
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	cmd.Env = append([]string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}, r.env...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("git %s: %w\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

// Path is the absolute path of a slash-separated path in the work tree.
func (r *Repo) Path(path string) string { return filepath.Join(r.Dir, filepath.FromSlash(path)) }

// Write writes a file in the work tree, and the directories it needs.
func (r *Repo) Write(path, content string) {
	r.t.Helper()
	name := r.Path(path)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Remove removes a file or a directory in the work tree.
func (r *Repo) Remove(path string) {
	r.t.Helper()
	if err := os.RemoveAll(r.Path(path)); err != nil {
		r.t.Fatal(err)
	}
}

// Commit stages everything, commits it (even without changes) and returns the commit's id. Hooks run.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", message)
	return r.head()
}

// CommitFile writes one file and commits everything.
func (r *Repo) CommitFile(path, content string) string {
	r.t.Helper()
	r.Write(path, content)
	return r.Commit("write " + path)
}

// head is the checked-out commit, found without git if possible.
func (r *Repo) head() string {
	r.t.Helper()
	if slices.ContainsFunc(r.env, func(v string) bool { return strings.HasPrefix(v, "GIT_DIR=") }) {
		return r.ID("HEAD")
	}
	id, err := Head(r.Dir)
	if err != nil {
		return r.ID("HEAD")
	}
	return id
}

// ID is the object id that a revision names.
func (r *Repo) ID(revision string) string {
	r.t.Helper()
	return r.Git("rev-parse", "--verify", revision)
}

// Branch makes a branch at start (HEAD if start is empty) and switches to it.
func (r *Repo) Branch(name, start string) {
	r.t.Helper()
	if start == "" {
		start = "HEAD"
	}
	r.Git("checkout", "-q", "-b", name, start)
}

// Switch checks a branch or a commit out.
func (r *Repo) Switch(revision string) {
	r.t.Helper()
	r.Git("checkout", "-q", revision)
}

// Merge merges the revisions into HEAD, always with a merge commit, and
// returns its id. A conflict ends the test.
func (r *Repo) Merge(revisions ...string) string {
	r.t.Helper()
	r.Git(append([]string{"merge", "-q", "--no-ff", "--no-edit"}, revisions...)...)
	return r.head()
}

// Worktree adds a linked work tree with a new branch at HEAD.
func (r *Repo) Worktree(branch string) *Repo {
	r.t.Helper()
	dir := filepath.Join(TempDir(r.t), "tree")
	r.Git("worktree", "add", "-q", "-b", branch, dir)
	return r.In(dir)
}

// Clone clones r from its file:// URL, with arguments for git clone, so that --depth and --filter work as over a network.
func (r *Repo) Clone(args ...string) *Repo {
	r.t.Helper()
	dir := filepath.Join(TempDir(r.t), "clone")
	r.Git(append(append([]string{"clone", "-q"}, args...), r.URL(), dir)...)
	return r.In(dir)
}

// URL is r's file:// URL.
func (r *Repo) URL() string { return "file://" + filepath.ToSlash(r.Dir) }
