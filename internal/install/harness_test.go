package install

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestMain removes what would bring the machine's own configuration, or that of a git that runs these tests in a hook, into the tests.
func TestMain(m *testing.M) {
	os.Exit(runIsolated(m))
}

func runIsolated(m *testing.M) int {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "GIT_") || name == DoctorVariable {
			check(os.Unsetenv(name))
		}
	}
	home, err := os.MkdirTemp("", "small-gate-home-")
	check(err)
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.com",
		"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true",
	} {
		check(os.Setenv(name, value))
	}
	status := gittest.Suite{M: m}.Run()
	check(os.RemoveAll(home))
	return status
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// run runs a command and returns its combined output and exit status.
func run(t *testing.T, dir, input string, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(input)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %q: %v\n%s", name, args, err, output.String())
	}
	return output.String(), cmd.ProcessState.ExitCode()
}

// git runs git, which must succeed.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	output, status := run(t, dir, "", nil, "git", args...)
	if status != 0 {
		t.Fatalf("git %q in %s: status %d\n%s", args, dir, status, output)
	}
	return strings.TrimSpace(output)
}

// gitStops runs git, which must fail, and returns what it printed.
func gitStops(t *testing.T, dir string, args ...string) string {
	t.Helper()
	output, status := run(t, dir, "", nil, "git", args...)
	if status == 0 {
		t.Fatalf("git %q in %s went through\n%s", args, dir, output)
	}
	return output
}

// newRepo makes a repository with one commit.
func newRepo(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(realTemp(t), "re po")
	git(t, filepath.Dir(dir), "init", "-q", "-b", "main", dir)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

// realTemp is a temporary directory without symbolic links in its path, as git prints it.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(gittest.TempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// stub stands in for the program: it logs its arguments and its input, and ends with a status that the test sets.
type stub struct {
	path, log, status string
}

// newStub makes a stub with as awkward a path as possible.
func newStub(t *testing.T) stub {
	t.Helper()
	dir := filepath.Join(realTemp(t), `it's $HOME "a" \ %s`)
	s := stub{path: filepath.Join(dir, "small-hook"), log: filepath.Join(dir, "log"), status: filepath.Join(dir, "status")}
	script := "#!/bin/sh\nif [ \"$1\" = version ]; then echo small-hook 1.2.3 stub; exit 0; fi\n" +
		"{ printf 'gate'; printf ' [%s]' \"$@\"; echo; /bin/cat; } >>" + wording.ShellQuote(s.log) + "\n" +
		"read -r status <" + wording.ShellQuote(s.status) + "\nexit \"$status\"\n"
	put(t, s.path, script, 0o755)
	put(t, s.status, "0\n", 0o644)
	return s
}

// said returns the stub's log since the last call, without the hook that git runs for every commit.
func (s stub) said(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`gate \[prepare-commit-msg\].*\n`).ReplaceAllString(s.saidAll(t), "")
}

// saidAll returns all of the stub's log since the last call.
func (s stub) saidAll(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.log)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.log); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fails makes the stub end with this status.
func (s stub) fails(t *testing.T, status string) {
	t.Helper()
	put(t, s.status, status+"\n", 0o644)
}

// put writes a file, its directories included.
func put(t *testing.T, path, text string, mode os.FileMode) {
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

// get reads a file.
func get(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tree describes every file below dir: mode, time of change, link target or content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || entry.IsDir() {
			return err
		}
		var content string
		if info.Mode()&os.ModeSymlink != 0 {
			content, err = os.Readlink(path)
		} else {
			var bytes []byte
			bytes, err = os.ReadFile(path)
			content = string(bytes)
		}
		files[name] = info.Mode().String() + " " + info.ModTime().String() + "\n" + content
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// install installs, and fails the test on an error.
func install(t *testing.T, options InstallOptions) Result {
	t.Helper()
	result, err := Install(context.Background(), options)
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	return result
}

// uninstall uninstalls, and fails the test on an error.
func uninstall(t *testing.T, dir string) Result {
	t.Helper()
	result, err := Uninstall(context.Background(), dir)
	if err != nil {
		t.Fatalf("Uninstall: %v", err)
	}
	return result
}

// actions lists what a result did, hook by hook.
func actions(result Result) map[Name]Action {
	did := map[Name]Action{}
	for _, change := range result.Changes {
		did[change.Hook] = change.Action
	}
	return did
}

// each is the same action for several hooks.
func each(action Action, hooks ...Name) map[Name]Action {
	did := map[Name]Action{}
	for _, hook := range hooks {
		did[hook] = action
	}
	return did
}
