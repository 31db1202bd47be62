package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Missing agrees with the doctor, and runs nothing.
func TestMissing(t *testing.T) {
	gittest.Long(t)
	repo := newRepo(t)
	expect := func(want string, remedies ...string) {
		t.Helper()
		got, remedy, err := MissingHooks(t.Context(), repo)
		if err != nil || got != want {
			t.Fatalf("%q are missing, not %q (%v)", got, want, err)
		}
		for _, r := range remedies {
			if !strings.Contains(remedy, r) {
				t.Errorf("%q does not say %s", remedy, r)
			}
		}
		if len(remedies) == 0 && remedy != "" {
			t.Errorf("nothing is missing, and the remedy is %q", remedy)
		}
	}
	expect("pre-commit, pre-merge-commit, pre-push, prepare-commit-msg, pre-applypatch", "`small-hook install`")

	program := newStub(t).path
	if _, err := Install(t.Context(), InstallOptions{Dir: repo, Program: program}); err != nil {
		t.Fatal(err)
	}
	expect("")

	// A linked work tree has the same hooks; a hook that is not executable counts as missing.
	other := filepath.Join(realTemp(t), "other")
	git(t, repo, "worktree", "add", "-q", other)
	if got, _, err := MissingHooks(t.Context(), other); err != nil || got != "" {
		t.Errorf("in a worktree %v are missing (%v)", got, err)
	}
	push := filepath.Join(repo, ".git", "hooks", "pre-push")
	if err := os.Chmod(push, 0o600); err != nil {
		t.Fatal(err)
	}
	expect("pre-push", "`chmod +x ")
	if err := os.Remove(push); err != nil {
		t.Fatal(err)
	}
	expect("pre-push", "`small-hook install`")
	put(t, push, "#!/bin/sh\nsmall-hook pre-push \"$@\" || exit $?\n", 0o755) // the user's own
	expect("")
	put(t, push, "#!/bin/sh\ntrue\n", 0o755)
	expect("pre-push", "`small-hook install`")

	// The program is gone, and PATH has none.
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	where, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	alone := t.TempDir()
	if err := os.Symlink(where, filepath.Join(alone, "git")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", alone)
	expect("pre-commit, pre-merge-commit, pre-push, prepare-commit-msg, pre-applypatch", "`go install ", "`small-hook install`")

	git(t, repo, "config", "core.hooksPath", "elsewhere")
	expect("pre-commit, pre-merge-commit, pre-push, prepare-commit-msg, pre-applypatch", "`small-hook install`")
}
