//go:build !windows

package clients_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// manager is a hook manager, and what to expect of it.
type manager struct {
	// name is small-hook's name for it.
	name string
	// programs matches the folder of its program, below the folder of the managers. npm starts lefthook through node, which takes longer
	// than lefthook itself: the tests run it directly.
	programs string
	// setUp sets it up in a repository as its documentation says, with a pre-commit hook of its own that writes a line to $OWN_LOG.
	setUp func(d *desk)
	// again and oncemore are the commands that write its hooks again, the first and the second time.
	again, oncemore string
	// lasts says that a gate chained in by install --force still fires afterwards.
	lasts bool
	// only describes what it hides from the gate.
	only only
}

const ownHook = `echo own >>"$OWN_LOG"`

// managers have the names of their headings in docs/installation.md. For the forms in TOML, that page says that install prints them.
var managers = map[string]manager{
	"husky": {
		name: "husky", programs: filepath.Join("node_modules", ".bin"), again: "husky", oncemore: "husky", lasts: false,
		setUp: func(d *desk) {
			d.t.Helper()
			d.Write("package.json", "{\"name\": \"team\", \"private\": true}\n")
			d.Write(".gitignore", "node_modules\n")
			d.must(0, "husky init")
			d.Write(".husky/pre-commit", ownHook+"\n")
		},
	},
	"lefthook": {
		name: "lefthook", programs: filepath.Join("node_modules", "lefthook-*", "bin"), again: "lefthook install", oncemore: "lefthook install --force", lasts: false,
		setUp: func(d *desk) {
			d.t.Helper()
			d.Write("lefthook.yml", "pre-commit:\n  parallel: true\n  commands:\n    own:\n      run: "+ownHook+"\n")
			d.must(0, "lefthook install")
		},
	},
	"lefthook in TOML": {
		name: "lefthook", programs: filepath.Join("node_modules", "lefthook-*", "bin"), again: "lefthook install", oncemore: "lefthook install --force", lasts: false,
		setUp: func(d *desk) {
			d.t.Helper()
			d.Write("lefthook.toml", "[pre-commit.commands.own]\nrun = '"+ownHook+"'\n")
			d.must(0, "lefthook install")
		},
	},
	"pre-commit": {
		name: "pre-commit", programs: filepath.Join("pre-commit-4.2.0", "bin"), again: "pre-commit install", oncemore: "pre-commit install", lasts: true,
		only: only{firstRef: true}, setUp: setUpPreCommit("pre-commit"),
	},
	"prek": {
		name: "prek", programs: filepath.Join("node_modules", ".bin"), again: "prek install", oncemore: "prek install", lasts: true,
		only: only{firstRef: true, newCommits: true}, setUp: setUpPreCommit("prek"),
	},
	"prek in TOML": {
		name: "prek", programs: filepath.Join("node_modules", ".bin"), again: "prek install", oncemore: "prek install", lasts: true,
		only: only{firstRef: true, newCommits: true}, setUp: func(d *desk) {
			d.t.Helper()
			d.Write("prek.toml", "[[repos]]\nrepo = \"local\"\nhooks = [\n  { id = \"own\", name = \"own\", entry = '''sh -c '"+ownHook+
				"' ''', language = \"system\", always_run = true, pass_filenames = false },\n]\n")
			d.must(0, "prek install")
		},
	},
}

// setUpPreCommit sets pre-commit or prek up, with the configuration that both read.
func setUpPreCommit(program string) func(d *desk) {
	return func(d *desk) {
		d.t.Helper()
		d.Write(".pre-commit-config.yaml", "repos:\n-   repo: local\n    hooks:\n    -   id: own\n        name: own\n        entry: sh -c '"+ownHook+
			"'\n        language: system\n        stages: [pre-commit]\n        always_run: true\n        pass_filenames: false\n")
		d.must(0, program+" install")
	}
}

// path is the folder of the manager's program.
func (m manager) path(t *testing.T) string {
	t.Helper()
	pattern := filepath.Join(installed(t), m.programs)
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s matches %d folders (%v): run scripts/clients-setup again", pattern, len(found), err)
	}
	return found[0]
}

// oneOfEach are the managers, with one form of configuration for each.
func oneOfEach() map[string]manager {
	each := maps.Clone(managers)
	maps.DeleteFunc(each, func(name string, _ manager) bool { return strings.HasSuffix(name, " in TOML") })
	return each
}

// deskOf is a desk with a manager set up and committed.
func deskOf(t *testing.T, m manager) *desk {
	t.Helper()
	d := newDesk(t, m.path(t))
	m.setUp(d)
	d.Git("add", "-A")
	d.committed("commit", "-q", "-m", "set the manager up")
	if d.ownRuns() == 0 {
		t.Fatal("the manager's own hook does not run")
	}
	return d
}

// If a manager has the hooks, install says what to add. Adding that, to the letter, guards the repository.
func TestFollowingTheManual(t *testing.T) {
	for name, m := range managers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, m)
			lines := d.refuse(m.name)
			switch name {
			case "prek": // it takes over the text about pre-commit
				documented := recipe(t, name)
				documented.additions = recipe(t, "pre-commit").additions
				sameRecipe(t, documented, lines)
			case m.name:
				sameRecipe(t, recipe(t, name), lines)
			}
			d.must(2, "small-hook doctor")
			d.follow(lines)
			d.Git("add", "-A")
			d.committed("commit", "-q", "-m", "add the gate")
			d.must(0, "small-hook install")
			said := d.must(0, "small-hook doctor")
			named, fires := strings.Count(said, ": called by "+m.name+", not verified"), strings.Count(said, ": fires (git ran it)")
			if named+fires != 5 || fires > 1 || fires == 1 && !strings.Contains(said, "pre-applypatch: fires") {
				t.Fatal(said)
			}
			before := d.ownRuns()
			d.guarded(m.only)
			if d.ownRuns() == before {
				t.Error("the manager's own hook does not run any more")
			}
		})
	}
}

// --force chains the gate in; uninstalling removes it without a trace.
func TestChainedIn(t *testing.T) {
	for name, m := range oneOfEach() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, m)
			before := d.hooks()
			d.must(0, "small-hook install --force")
			if said := d.must(0, "small-hook doctor"); strings.Count(said, ": fires (git ran it)") != 5 {
				t.Fatal(said)
			}
			runs := d.ownRuns()
			d.guarded(only{})
			if d.ownRuns() == runs {
				t.Error("the manager's own hook does not run any more")
			}
			d.must(0, "small-hook uninstall")
			if diff := cmp.Diff(before, d.hooks()); diff != "" {
				t.Errorf("uninstall did not put back what was there:\n%s", diff)
			}
			d.rewrite()
			d.committed("commit", "-q", "-a", "-m", "not guarded any more")
		})
	}
}

// hooks is the content of the directory that git takes hooks from.
func (d *desk) hooks() map[string]string {
	d.t.Helper()
	dir := d.Git("rev-parse", "--git-path", "hooks")
	if !filepath.IsAbs(dir) {
		dir = d.Path(dir)
	}
	return files(d.t, dir)
}

// A manager that writes its hooks again replaces a chained-in hook. The doctor then tells the truth.
func TestManagerInstalledAgain(t *testing.T) {
	for name, m := range oneOfEach() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, m)
			d.must(0, "small-hook install --force")
			d.must(0, m.again)
			d.diagnosed(m.lasts)
			d.must(0, "small-hook install --force")
			d.diagnosed(true)
			d.must(0, m.oncemore)
			d.diagnosed(m.lasts)
			d.must(0, "small-hook install --force")
			d.must(0, "small-hook uninstall")
			d.diagnosed(false)
			runs := d.ownRuns()
			d.entry()
			d.committed("commit", "-q", "-a", "-m", "append")
			if d.ownRuns() != runs+1 {
				t.Errorf("the manager's own hook ran %d times in one commit", d.ownRuns()-runs)
			}
		})
	}
}

// diagnosed demands that the doctor correctly says whether the gate fires before a commit, or is called by a manager.
func (d *desk) diagnosed(fires bool) {
	d.t.Helper()
	said, _ := d.run("small-hook doctor")
	found := strings.Contains(said, "\npre-commit: fires (") || strings.Contains(said, "\npre-commit: called by ")
	if found != fires || strings.Contains(said, "\npre-commit: DOES NOT FIRE: ") == fires {
		d.t.Fatalf("the doctor should say whether pre-commit fires: %v\n%s", fires, said)
	}
	before := d.ID("HEAD")
	d.rewrite()
	out, status := d.run("git commit -q -a -m rewrite")
	again := strings.Contains(said, "\nprepare-commit-msg: fires (") // lefthook leaves this hook of ours in place
	if stopped := status != 0 && strings.Contains(out, "append-only/modified"); stopped != (fires || again) {
		d.t.Fatalf("the gate spoke: %v; the doctor said otherwise (git's exit status is %d)\n%s\n%s", stopped, status, out, said)
	}
	d.Git("reset", "-q", "--hard", before)
}

// Lefthook writes its hooks again by itself, in the next hook that runs after its configuration has changed. That hook is still judged;
// then the doctor says that no other will be.
func TestLefthookInstallsItselfAgain(t *testing.T) {
	d := deskOf(t, managers["lefthook"])
	if said := d.must(0, "small-hook install --force"); !strings.Contains(said, "by itself") {
		t.Errorf("install does not say that lefthook installs itself again:\n%s", said)
	}
	d.Write("lefthook.yml", d.read("lefthook.yml")+"pre-push:\n  commands:\n    own:\n      run: "+ownHook+"\n")
	// Lefthook acts only if the file is newer, in seconds.
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(d.Path("lefthook.yml"), later, later); err != nil {
		t.Fatal(err)
	}
	d.rewrite()
	d.stopped("append-only/modified", "commit", "-a", "-m", "rewrite while lefthook installs itself")
	d.diagnosed(false)
	d.must(0, "small-hook install --force")
	d.diagnosed(true)
}

// Husky's hooks are in a folder that git ignores, so another work tree of the same repository does not have them.
func TestHuskyInLinkedWorktree(t *testing.T) {
	t.Parallel()
	d := deskOf(t, managers["husky"])
	d.follow(d.refuse("husky"))
	d.Git("add", "-A")
	d.committed("commit", "-q", "-m", "add the gate")
	linked := d.in(d.Worktree("linked"))
	linked.diagnosed(false)
	// husky itself looks for .git, which is a file in a linked work tree.
	linked.must(0, "husky")
	linked.diagnosed(true)
}

// Before 3.2.0, pre-commit has other names for the stages, and fails on the new ones.
func TestOldPreCommit(t *testing.T) {
	t.Parallel()
	m := managers["pre-commit"]
	m.programs = filepath.Join("pre-commit-3.0.4", "bin")
	m.setUp = func(d *desk) {
		d.Write(".pre-commit-config.yaml", "repos:\n  - repo: local\n    hooks:\n      - {id: own, name: own, entry: sh -c '"+ownHook+
			"', language: system, stages: [commit], always_run: true, pass_filenames: false}\n")
		d.must(0, "pre-commit install")
	}
	d := deskOf(t, m)
	lines := d.refuse("pre-commit")
	if !strings.Contains(lines.said, "Older versions call them commit, merge-commit and push.") {
		t.Error(lines.said)
	}
	d.follow(lines)
	d.entry()
	d.Git("add", "-A")
	if said, status := d.run("git commit -q -m append"); status == 0 || !strings.Contains(said, "stages") {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	names := strings.NewReplacer("stages: [pre-commit]", "stages: [commit]", "stages: [pre-merge-commit]", "stages: [merge-commit]", "stages: [pre-push]", "stages: [push]")
	d.Write(".pre-commit-config.yaml", names.Replace(d.read(".pre-commit-config.yaml")))
	d.Git("add", "-A")
	d.committed("commit", "-q", "-m", "add the gate")
	d.must(0, "small-hook doctor")
	d.commits()
	d.pushed("main")
	d.rewrite()
	d.Git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-a", "-m", "past the hook")
	d.held("append-only/modified", "main")
}
