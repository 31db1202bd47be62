package installed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/agent/settings"
	"github.com/small-gate/small-gate/internal/install"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestMain removes the variables of a git that runs these tests in a hook.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "GIT_") {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(gittest.Suite{M: m}.Run())
}

// newRepo makes a repository, and puts a small-hook on PATH.
func newRepo(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	put(t, filepath.Join(bin, install.ProgramName), "#!/bin/sh\n", 0o755)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	dir := filepath.Join(gittest.TempDir(t), "re po")
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

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

func get(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func all() (names []string) {
	for _, f := range settings.All {
		names = append(names, f.Harness.Name)
	}
	return names
}

func demand(t *testing.T, want install.Outcome, result install.Result, err error) {
	t.Helper()
	if err != nil || result.Outcome != want {
		t.Fatalf("%v, not %v (%v)\n%s", result.Outcome, want, err, result.Text())
	}
}

// All harnesses at once, from a subdirectory: the files are in the root, and removed afterwards with their directories.
func TestInstallAndUninstall(t *testing.T) {
	repo := newRepo(t)
	put(t, filepath.Join(repo, ".github", "CODEOWNERS"), "", 0o644)
	sub := filepath.Join(repo, "sub")
	put(t, filepath.Join(sub, "file"), "", 0o644)
	result, err := Install(t.Context(), all(), sub, "")
	demand(t, install.Changed, result, err)
	for _, f := range settings.All {
		text := get(t, filepath.Join(repo, filepath.FromSlash(f.Path)))
		if !strings.Contains(text, `"small-hook agent-hook --harness `+f.Harness.Name+`"`) {
			t.Errorf("%s: %s", f.Path, text)
		}
	}
	result, err = Install(t.Context(), all(), sub, "")
	demand(t, install.Unchanged, result, err)
	result, err = Uninstall(t.Context(), all(), sub)
	demand(t, install.Changed, result, err)
	for _, f := range settings.All {
		if _, err := os.Lstat(filepath.Join(repo, filepath.FromSlash(f.Path))); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", f.Path, err)
		}
	}
	left, err := os.ReadDir(repo)
	if err != nil || len(left) != 3 { // .git, .github and sub
		t.Errorf("left: %v (%v)", left, err)
	}
	result, err = Uninstall(t.Context(), all(), sub)
	demand(t, install.Unchanged, result, err)
}

// A file keeps its mode; a link inside the work tree stays a link; a link out of it, or to nowhere, is refused, and then nothing is
// written.
func TestLinks(t *testing.T) {
	repo := newRepo(t)
	path := filepath.Join(repo, ".claude", "settings.json")
	put(t, filepath.Join(repo, "shared.json"), "{}", 0o600)
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	link := func(target string) {
		t.Helper()
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	link("../shared.json")
	result, err := Install(t.Context(), []string{"claude"}, repo, "")
	demand(t, install.Changed, result, err)
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone (%v)", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v (%v)", info.Mode(), err)
	}
	result, err = Uninstall(t.Context(), []string{"claude"}, repo)
	demand(t, install.Changed, result, err)
	if got := get(t, path); got != "{}" {
		t.Errorf("left %q", got)
	}
	outside := filepath.Join(gittest.TempDir(t), "settings.json")
	put(t, outside, "{}", 0o644)
	for target, says := range map[string]string{outside: "out of the work tree", "nowhere": "cannot be reached", "settings.json": "cannot be reached"} {
		link(target)
		_, err := Install(t.Context(), []string{"codex", "claude"}, repo, "")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a link to %s: %v", target, err)
		}
		if _, err := os.Lstat(filepath.Join(repo, ".codex")); !os.IsNotExist(err) {
			t.Errorf("something was written (%v)", err)
		}
	}
	if got := get(t, outside); got != "{}" {
		t.Errorf("the file outside is %q", got)
	}

	// The doctor reads what the harness reads.
	link(outside)
	command := settings.Claude.Command("small-hook")
	called, err := settings.Claude.Add([]byte("{}"), command)
	if err != nil {
		t.Fatal(err)
	}
	for text, calls := range map[string]bool{"{}": false, string(called): true} {
		put(t, outside, text, 0o644)
		if checks, err := Doctor(t.Context(), repo); err != nil || len(checks) != 1 || checks[0].Broken() || checks[0].Calls != calls {
			t.Errorf("%s: %+v (%v)", text, checks, err)
		}
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(gittest.TempDir(t), filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if checks, err := Doctor(t.Context(), repo); err != nil || len(checks) != 0 {
		t.Errorf("a folder elsewhere, without the file: %+v (%v)", checks, err)
	}
}

// Something other than a file, or a directory, is reported.
func TestNotAFile(t *testing.T) {
	repo := newRepo(t)
	put(t, filepath.Join(repo, ".claude"), "", 0o644)
	put(t, filepath.Join(repo, ".codex", "hooks.json", "x"), "", 0o644)
	put(t, filepath.Join(repo, ".gemini", "settings.json"), strings.Repeat(" ", maxSize+1), 0o644)
	for name, says := range map[string]string{"claude": "not a directory", "codex": "is not a file", "gemini": "larger than"} {
		for _, do := range []func() (install.Result, error){
			func() (install.Result, error) { return Install(t.Context(), []string{name}, repo, "") },
			func() (install.Result, error) { return Uninstall(t.Context(), []string{name}, repo) },
		} {
			if _, err := do(); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	checks, err := Doctor(t.Context(), repo)
	if err != nil || len(checks) != 3 || !checks[0].Broken() || !checks[1].Broken() || !checks[2].Broken() {
		t.Errorf("%+v (%v)", checks, err)
	}
}

// Without a work tree, no agent works.
func TestBare(t *testing.T) {
	bare := filepath.Join(gittest.TempDir(t), "bare")
	if out, err := exec.Command("git", "init", "-q", "--bare", bare).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := Install(t.Context(), all(), bare, ""); err == nil || !strings.Contains(err.Error(), "bare repository") {
		t.Error(err)
	}
	if checks, err := Doctor(t.Context(), bare); err != nil || len(checks) != 0 {
		t.Errorf("%+v (%v)", checks, err)
	}
}

// The caller can name another program, and its absence is reported.
func TestProgram(t *testing.T) {
	repo := newRepo(t)
	program := filepath.Join(gittest.TempDir(t), "it's a `dir`", "small-hook")
	put(t, program, "#!/bin/sh\n", 0o755)
	if result, err := Install(t.Context(), []string{"claude"}, repo, program); err != nil || result.Outcome != install.Changed || !strings.Contains(result.Text(), "which other clones") {
		t.Fatalf("%v (%v)", result, err)
	}
	if checks, err := Doctor(t.Context(), repo); err != nil || len(checks) != 1 || !checks[0].Calls {
		t.Fatalf("%+v (%v)", checks, err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	checks, err := Doctor(t.Context(), repo)
	if err != nil || len(checks) != 1 || !checks[0].Broken() || !strings.Contains(checks[0].Remedy, "`small-hook install --agent claude`") {
		t.Fatalf("%+v (%v)", checks, err)
	}
	if _, err := Install(t.Context(), []string{"claude"}, repo, program); err == nil {
		t.Error("a program that is not there")
	}
	result, err := Install(t.Context(), []string{"claude"}, repo, "")
	if err != nil || result.Changes[0].Action != install.Updated {
		t.Fatalf("%+v (%v)", result, err)
	}
	if checks, err := Doctor(t.Context(), repo); err != nil || len(checks) != 1 || !checks[0].Calls {
		t.Errorf("%+v (%v)", checks, err)
	}
}

// A larger command around our call stays, and is reported; a text that only mentions the call is none.
func TestLeft(t *testing.T) {
	repo := newRepo(t)
	path := filepath.Join(repo, ".cursor", "hooks.json")
	text := `{"version": 1, "hooks": {"stop": [{"command": "make && small-hook agent-hook --harness cursor"}]}}`
	put(t, path, text, 0o644)
	result, err := Uninstall(t.Context(), []string{"cursor"}, repo)
	demand(t, install.NeedsManualSteps, result, err)
	if got := get(t, path); got != text || !strings.Contains(result.Text(), "by hand") {
		t.Errorf("%s\n%s", got, result.Text())
	}
	put(t, path, `{"version": 1, "about": "small-hook agent-hook --harness cursor"}`, 0o644)
	result, err = Uninstall(t.Context(), []string{"cursor"}, repo)
	demand(t, install.Unchanged, result, err)
}

// Without a small-hook on PATH the calls are written anyway, and something is left to do.
func TestNotOnPath(t *testing.T) {
	repo := newRepo(t)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(git, filepath.Join(bin, "git")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	result, err := Install(t.Context(), []string{"gemini"}, repo, "")
	demand(t, install.NeedsManualSteps, result, err)
	if text := result.Text(); !strings.Contains(text, "gemini: installed") || !strings.Contains(text, install.HowToInstall()) {
		t.Error(text)
	}
	checks, err := Doctor(t.Context(), repo)
	if err != nil || len(checks) != 1 || !checks[0].Broken() || !strings.Contains(checks[0].Why, "on PATH") || !strings.Contains(Text(checks), "gemini: WOULD NOT CALL THE GATE") {
		t.Errorf("%+v (%v)", checks, err)
	}
	path := filepath.Join(repo, ".gemini", "settings.json")
	put(t, path, strings.ReplaceAll(get(t, path), "small-hook agent-hook", `\"$GEMINI_PROJECT_DIR\"/bin/small-hook agent-hook`), 0o644)
	if checks, err := Doctor(t.Context(), repo); err != nil || len(checks) != 1 || checks[0].Broken() {
		t.Errorf("by a path: %+v (%v)", checks, err)
	}
}
