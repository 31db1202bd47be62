//go:build !windows

package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Without a manager, install is all that is needed.
func TestPlainGit(t *testing.T) {
	gittest.Long(t)
	d := newDesk(t)
	before := d.hooks()
	d.must(0, "small-hook install")
	d.must(0, "small-hook doctor")
	d.guarded(only{})
	d.must(0, "small-hook uninstall")
	if diff := cmp.Diff(before, d.hooks()); diff != "" {
		t.Error(diff)
	}
}

// teams are the ways in which core.hooksPath names a team's directory of hooks: its value, and that directory.
var teams = map[string]func(d *desk) (value, dir string){
	"relative": func(d *desk) (string, string) { return "tools/hooks", d.Path("tools/hooks") },
	"absolute": func(d *desk) (string, string) {
		dir := filepath.Join(d.home, "team's hooks")
		return dir, dir
	},
	"below the home": func(d *desk) (string, string) { return "~/hooks", filepath.Join(d.home, "hooks") },
}

// teamDesk is a desk with a team's own hook in the directory that core.hooksPath names.
func teamDesk(t *testing.T, place func(d *desk) (value, dir string)) (d *desk, dir string) {
	t.Helper()
	d = newDesk(t)
	value, dir := place(d)
	d.Git("config", "core.hooksPath", value)
	put(t, filepath.Join(dir, "pre-commit"), "#!/bin/sh\n"+ownHook+"\n", 0o755)
	d.Git("add", "-A")
	d.Git("commit", "-q", "--allow-empty", "-m", "the team's hooks")
	return d, dir
}

func TestTeamDirectory(t *testing.T) {
	for name, place := range teams {
		t.Run(name+", by the manual", func(t *testing.T) {
			t.Parallel()
			if name != "relative" {
				gittest.Long(t)
			}
			d, dir := teamDesk(t, place)
			lines := d.refuse("core.hooksPath")
			if name == "relative" {
				sameRecipe(t, recipe(t, "A directory of hooks that the team keeps"), lines)
			}
			d.must(2, "small-hook doctor")
			d.follow(lines)
			d.must(0, "small-hook install")
			d.must(0, "small-hook doctor")
			if text, err := os.ReadFile(filepath.Join(dir, "pre-push")); err != nil || !strings.HasPrefix(string(text), "#!/bin/sh\n") {
				t.Fatalf("%v\n%s", err, text)
			}
			d.Git("add", "-A")
			d.Git("commit", "-q", "--allow-empty", "-m", "the gate")
			runs := d.ownRuns()
			d.guarded(only{})
			if d.ownRuns() == runs {
				t.Error("the team's own hook does not run any more")
			}
		})
		t.Run(name+", chained in", func(t *testing.T) {
			t.Parallel()
			gittest.Long(t)
			d, _ := teamDesk(t, place)
			before, runs := d.hooks(), d.ownRuns()
			d.must(0, "small-hook install --force")
			d.must(0, "small-hook doctor")
			d.Git("add", "-A")
			d.Git("commit", "-q", "--allow-empty", "-m", "the gate")
			d.guarded(only{})
			if d.ownRuns() == runs {
				t.Error("the team's own hook does not run any more")
			}
			d.must(0, "small-hook uninstall")
			if diff := cmp.Diff(before, d.hooks()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Following the manual creates a directory that does not exist yet.
func TestHooksPathToNowhere(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	d := newDesk(t)
	d.must(0, "small-hook install")
	d.Git("config", "core.hooksPath", "not/there")
	d.diagnosed(false)
	if said := d.must(2, "small-hook doctor"); !strings.Contains(said, "core.hooksPath") || !strings.Contains(said, "is never run") {
		t.Errorf("the doctor does not say that the hooks which are installed are never run:\n%s", said)
	}
	d.follow(d.refuse("core.hooksPath"))
	d.must(0, "small-hook doctor")
	d.guarded(only{})
}

// If core.hooksPath names a file, such as /dev/null, hooks are switched off. Nothing says that they fire.
func TestHooksSwitchedOff(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	d := newDesk(t)
	d.must(0, "small-hook install")
	d.Git("config", "core.hooksPath", os.DevNull)
	if said := d.must(2, "small-hook install"); !strings.Contains(said, "hooks are switched off") || !strings.Contains(said, "git config") {
		t.Error(said)
	}
	d.must(2, "small-hook install --force")
	if said := d.must(2, "small-hook doctor"); strings.Count(said, ": DOES NOT FIRE: ") != 5 || !strings.Contains(said, os.DevNull) {
		t.Error(said)
	}
	d.diagnosed(false)
	d.Git("config", "--unset", "core.hooksPath")
	d.diagnosed(true)
}

// The folder hooks/ in this repository can be used as it is.
func TestShims(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	shims, err := filepath.Abs(filepath.Join("..", "..", "..", "hooks"))
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	d.Git("config", "core.hooksPath", shims)
	before := files(t, shims)
	d.must(0, "small-hook doctor")
	d.must(0, "small-hook install")
	d.must(2, "small-hook uninstall")
	if diff := cmp.Diff(before, files(t, shims)); diff != "" {
		t.Fatalf("the shims are not ours to change:\n%s", diff)
	}
	d.guarded(only{})

	// They look only on PATH. A client without it is stopped, and told why.
	gui := d.with("PATH=/usr/bin:/bin")
	gui.entry()
	gui.stopped("No small-hook is on PATH", "commit", "-a", "-m", "append")
}

// Hooks are also found from a linked work tree, and commits there are judged.
func TestLinkedWorktree(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	d := newDesk(t)
	linked := d.in(d.Worktree("linked"))
	linked.must(0, "small-hook install")
	d.must(0, "small-hook doctor")
	linked.must(0, "small-hook doctor")
	linked.commits()
	d.clock = linked.clock
	d.guarded(only{})
	linked.rewrite()
	linked.Git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-a", "-m", "past the hook")
	linked.held("append-only/modified", "linked")
	linked.must(0, "small-hook uninstall")
	d.must(2, "small-hook doctor")
}

// A relative core.hooksPath is relative to each work tree. Hooks missing there do not fire.
func TestLinkedWorktreeWithRelativeHooksPath(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	d, dir := teamDesk(t, teams["relative"])
	d.follow(d.refuse("core.hooksPath"))
	before := d.in(d.Worktree("before"))
	before.diagnosed(false)
	d.Git("add", dir)
	d.Git("commit", "-q", "-m", "the gate")
	d.diagnosed(true)
	d.in(d.Worktree("after")).diagnosed(true)
}
