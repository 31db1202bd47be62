package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTemporaryBuild(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	tests := []struct {
		path, cache string
		want        bool
	}{
		{"/tmp/go-build3453441624/b001/exe/small-hook", "", true},
		{"/home/a/.cache/go-build/f8/" + hash + "-d/small-hook", "", true},
		{"/ci/cache/f8/" + hash + "-d/small-hook", "", true},
		{"/ci/cache/f8/x/small-hook", "/ci/cache", true},
		{"/home/a/go/bin/small-hook", "", false},
		{"/home/a/go/bin/small-hook", "/home/a/go/b", false},
		{"/home/a/" + hash + "/small-hook", "", false},
		{"/home/a/my-go-build/small-hook", "", false},
		{"/home/a/go-build-tools/small-hook", "", false},
		{"/home/a/go-build2/small-hook", "", false},
		{"/home/a/bin/go-build", "", false},
	}
	for _, test := range tests {
		if got := temporaryBuild(filepath.FromSlash(test.path), filepath.FromSlash(test.cache)); got != test.want {
			t.Errorf("temporaryBuild(%q, %q) is %v", test.path, test.cache, got)
		}
	}
}

// A test binary is built where go run builds, so it can stand in for a program run with go run.
func TestTemporaryBuildIsRefusedUnlessNamed(t *testing.T) {
	repo := newRepo(t)
	running, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if !temporaryBuild(running, os.Getenv("GOCACHE")) {
		t.Setenv("GOCACHE", filepath.Dir(running)) // built with -o somewhere else
	}
	before := tree(t, filepath.Join(repo, ".git"))
	_, err = Install(context.Background(), InstallOptions{Dir: repo})
	if err == nil || !strings.Contains(err.Error(), "go install github.com/small-gate/small-gate/cmd/small-hook@latest") {
		t.Errorf("%v", err)
	}
	if after := tree(t, filepath.Join(repo, ".git")); len(after) != len(before) {
		t.Error("something was written")
	}
	if got := install(t, InstallOptions{Dir: repo, Program: running}); got.Outcome != Changed || got.Program != running {
		t.Errorf("named by the caller: %v", got)
	}
}

func TestProgramIsMadeAbsolute(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	t.Chdir(filepath.Dir(program.path))
	if got := install(t, InstallOptions{Dir: repo, Program: ProgramName}).Program; got != program.path {
		t.Errorf("the hooks call %q, want %q", got, program.path)
	}
}

// The path found on PATH is preferred to the file behind it, which package managers move.
func TestSteadyName(t *testing.T) {
	program, other := newStub(t), newStub(t)
	dir := realTemp(t)
	link := filepath.Join(dir, ProgramName)
	if err := os.Symlink(program.path, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := stablePath(program.path); got != link {
		t.Errorf("got %q, want the link", got)
	}
	if got := stablePath(other.path); got != other.path {
		t.Errorf("another program: got %q", got)
	}
	t.Setenv("PATH", t.TempDir())
	if got := stablePath(program.path); got != program.path {
		t.Errorf("not on PATH: got %q", got)
	}
}

func TestProgramInsideTheWorkTreeIsNoted(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	own := filepath.Join(repo, "bin", ProgramName)
	put(t, own, get(t, program.path), 0o755)
	if text := install(t, InstallOptions{Dir: repo, Program: own}).Text(); !strings.Contains(text, "inside this work tree") {
		t.Error(text)
	}
}

func TestGitVersion(t *testing.T) {
	for version, want := range map[string]bool{
		"2.36.0": true, "2.39.5 (Apple Git-154)": true, "2.35.8": false, "3.0.0": true, "1.99": false, "2.54.GIT": true, "": false, "x.y": false,
	} {
		if got := (Git{Version: version}).atLeast(2, 36); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}
