//go:build !windows

// Package clients_test runs the program with the hook managers that people really use: husky, lefthook, pre-commit and prek, each set up as
// its documentation says, with the real git. It follows small-hook install's output to the letter, and demands that bad changes are
// rejected afterwards.
//
// SMALL_GATE_CLIENTS names the managers' folder; scripts/clients-setup fetches them and prints the variable's value.
package clients_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// own are variables on a developer's machine or a CI server that would change what the managers do.
var own = []string{"CI", "HUSKY", "LEFTHOOK", "LEFTHOOK_BIN", "LEFTHOOK_CONFIG", "LEFTHOOK_EXCLUDE", "SKIP", "PREK_SKIP", "SMALL_GATE_DOCTOR", "GIT_TEMPLATE_DIR"}

// TestMain removes what would change what the managers do.
func TestMain(m *testing.M) {
	for _, variable := range own {
		if err := os.Unsetenv(variable); err != nil {
			panic(err)
		}
	}
	os.Exit(gittest.Suite{M: m}.Run())
}

// program builds the small-hook under test on first use, and returns its directory.
var program = sync.OnceValue(func() string {
	dir, err := gittest.HeldDir()
	if err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "small-hook"), "../../../cmd/small-hook")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
	return dir
})

// installed is the directory that scripts/clients-setup filled. It skips the test if that is missing.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SMALL_GATE_CLIENTS")
	if dir == "" {
		t.Skip("the hook managers are not here: export SMALL_GATE_CLIENTS=\"$(scripts/clients-setup)\" in the repository's root gets them")
	}
	return dir
}

// desk is a repository with a valid workspace, its remote, and a home directory for git and the managers.
type desk struct {
	*gittest.Repo
	t      *testing.T
	home   string
	remote *gittest.Repo
	log    string // what the managers' own hooks write to
	clock  int    // minutes into the day, for entries
}

// newDesk makes a repository whose commands find small-hook and then the given directories on PATH. Its first commit has the workspace, and
// is not pushed.
func newDesk(t *testing.T, path ...string) *desk {
	t.Helper()
	gittest.Long(t)
	home := gittest.TempDir(t)
	env := []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"PRE_COMMIT_HOME=" + filepath.Join(home, "pre-commit"), "PREK_HOME=" + filepath.Join(home, "prek"),
		"PATH=" + search(path...), "NO_COLOR=1", "OWN_LOG=" + filepath.Join(home, "own.log"),
	}
	d := &desk{t: t, home: home, log: filepath.Join(home, "own.log")}
	d.Repo = gittest.New(t, gittest.Env(env...))
	d.remote = gittest.New(t, gittest.Bare(), gittest.Env(env...))
	d.Git("remote", "add", "origin", d.remote.Dir)
	if err := os.CopyFS(d.Dir, os.DirFS(filepath.Join("..", "..", "..", "cmd", "small-hook", "testdata", "workspace"))); err != nil {
		t.Fatal(err)
	}
	d.Commit("start")
	return d
}

// search is a PATH with small-hook, the given directories, and then the machine's.
func search(dirs ...string) string {
	return strings.Join(append(append([]string{program()}, dirs...), os.Getenv("PATH")), string(os.PathListSeparator))
}

// in is d in another directory, such as a linked work tree.
func (d *desk) in(repo *gittest.Repo) *desk {
	c := *d
	c.Repo = repo
	return &c
}

// with is d with more variables in its environment.
func (d *desk) with(vars ...string) *desk {
	c := *d
	c.Repo = d.With(vars...)
	return &c
}

// run runs a POSIX shell command in the repository, and returns its combined output and its exit status.
func (d *desk) run(line string, args ...string) (said string, status int) {
	d.t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", line, "sh"}, args...)...)
	cmd.Dir, cmd.Env = d.Dir, d.Environ()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		d.t.Fatalf("%s: %v", line, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// must runs a command that ends in the given status, and returns its output.
func (d *desk) must(status int, line string, args ...string) string {
	d.t.Helper()
	said, got := d.run(line, args...)
	if got != status {
		d.t.Fatalf("%s %v: exit status %d, not %d\n%s", line, args, got, status, said)
	}
	return said
}

const progress = ".small/progress.small.yml"

// entry appends an entry to the log.
func (d *desk) entry() {
	d.t.Helper()
	d.clock++
	d.Write(progress, d.read(progress)+fmt.Sprintf(
		"  - task_id: \"task-1\"\n    timestamp: \"2026-03-01T%02d:%02d:00.000000001Z\"\n    status: \"in_progress\"\n    evidence: \"entry %d\"\n",
		10+d.clock/60, d.clock%60, d.clock))
}

// rewrite changes the log's first entry.
func (d *desk) rewrite() {
	d.t.Helper()
	const said = `evidence: "workspace created`
	text := d.read(progress)
	if strings.Count(text, said) != 1 {
		d.t.Fatalf("the log does not begin as expected:\n%s", text)
	}
	d.Write(progress, strings.Replace(text, said, said+"!", 1))
}

// discard resets the work tree to HEAD, and ends a merge.
func (d *desk) discard() { d.t.Helper(); d.Git("reset", "-q", "--hard") }

// read reads a file of the work tree.
func (d *desk) read(path string) string {
	d.t.Helper()
	text, err := os.ReadFile(d.Path(path))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// ownRuns counts how often the managers' own hooks ran.
func (d *desk) ownRuns() int {
	d.t.Helper()
	text, err := os.ReadFile(d.log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// put writes a file and the directories it needs.
func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// files is the content of every file below dir, by path, except git's objects and logs and npm's packages.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "objects" || entry.Name() == "logs"):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		found[name] = info.Mode().String() + "\n" + string(text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
