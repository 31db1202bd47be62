package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// logger is somebody else's hook that writes its arguments and its input to the stub's log and ends with status.
func logger(s stub, status string) string {
	return "#!/bin/sh\n{ printf 'kept'; printf ' [%s]' \"$@\"; echo; cat; } >>" + wording.ShellQuote(s.log) + "\nexit " + status + "\n"
}

func TestKeptHookRunsFirstAndSeesTheSame(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	hooks := filepath.Join(repo, ".git", "hooks")
	for _, hook := range ClientHooks() {
		put(t, filepath.Join(hooks, string(hook)), logger(program, "0"), 0o750)
	}
	before := tree(t, hooks)
	result := install(t, InstallOptions{Dir: repo, Program: program.path})
	if diff := cmp.Diff(each(Chained, ClientHooks()...), actions(result)); diff != "" {
		t.Error(diff)
	}
	for _, change := range result.Changes {
		if change.Kept != change.Path+".before-small-gate" || get(t, change.Kept) != logger(program, "0") {
			t.Errorf("%s is kept at %q", change.Hook, change.Kept)
		}
		if info, err := os.Stat(change.Kept); err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}

	git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
	if diff := cmp.Diff("kept []\ngate [pre-commit]\nkept [.git/COMMIT_EDITMSG] [message]\ngate [prepare-commit-msg] [.git/COMMIT_EDITMSG] [message]\n", program.saidAll(t)); diff != "" {
		t.Error(diff)
	}
	remote := newBare(t)
	git(t, repo, "push", "-q", remote, "main", "main:two")
	head, zero := git(t, repo, "rev-parse", "HEAD"), strings.Repeat("0", 40)
	refs := "refs/heads/main " + head + " refs/heads/main " + zero + "\nrefs/heads/main " + head + " refs/heads/two " + zero + "\n"
	want := "kept [" + remote + "] [" + remote + "]\n" + refs + "gate [pre-push] [" + remote + "] [" + remote + "]\n" + refs
	if diff := cmp.Diff(want, program.said(t)); diff != "" {
		t.Error(diff)
	}
	git(t, repo, "push", "-q", remote, ":two")
	if got := program.said(t); strings.Count(got, "(delete) "+zero+" refs/heads/two "+head+"\n") != 2 {
		t.Errorf("a deletion: %q", got)
	}

	program.fails(t, "1")
	gitStops(t, repo, "commit", "--allow-empty", "-m", "x")
	gitStops(t, repo, "push", remote, "main:three")
	program.fails(t, "0")

	undone := uninstall(t, repo)
	if diff := cmp.Diff(map[Name]Action{PreCommit: Restored, PreMergeCommit: Restored, PrePush: Restored, PrepareCommitMsg: Restored, PreApplyPatch: Restored, PreReceive: Absent}, actions(undone)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, tree(t, hooks)); diff != "" {
		t.Error(diff)
	}
	if again := uninstall(t, repo); again.Outcome != Unchanged {
		t.Errorf("the second time: %s", again.Text())
	}
	if diff := cmp.Diff(before, tree(t, hooks)); diff != "" {
		t.Error(diff)
	}
}

func TestKeptHookThatFailsStops(t *testing.T) {
	gittest.Long(t)
	for _, hook := range allHooks() {
		for _, status := range []string{"1", "2", "17", "126"} {
			t.Run(string(hook)+" "+status, func(t *testing.T) {
				repo, program := newRepo(t), newStub(t)
				path := filepath.Join(repo, ".git", "hooks", string(hook))
				put(t, path, logger(program, status), 0o755)
				install(t, InstallOptions{Dir: repo, Program: program.path, PreReceive: true})
				_, got := run(t, repo, "a line\n", nil, path, "one", "two words")
				if want := map[string]int{"1": 1, "2": 2, "17": 17, "126": 126}[status]; got != want {
					t.Errorf("status %d, want %d", got, want)
				}
				if diff := cmp.Diff("kept [one] [two words]\na line\n", program.said(t)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestHookThatIsNotExecutableGoesOnBeingIgnored(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	path := filepath.Join(repo, ".git", "hooks", "pre-commit")
	put(t, path, logger(program, "1"), 0o644)
	result := install(t, InstallOptions{Dir: repo, Program: program.path})
	if !strings.Contains(result.Text(), "not executable") {
		t.Error(result.Text())
	}
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
	if diff := cmp.Diff("gate [pre-commit]\n", program.said(t)); diff != "" {
		t.Error(diff)
	}
	uninstall(t, repo)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 || get(t, path) != logger(program, "1") {
		t.Errorf("it came back as %v, %v", info, err)
	}
}

func TestLinkedHookStaysALink(t *testing.T) {
	gittest.Long(t)
	tests := map[string]struct {
		target string
		runs   bool
	}{
		"to a hook":   {"../../tools/check", true},
		"to nowhere":  {"../../tools/none", false},
		"to a sample": {"pre-push.sample", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			repo, program := newRepo(t), newStub(t)
			hooks := filepath.Join(repo, ".git", "hooks")
			put(t, filepath.Join(repo, "tools", "check"), logger(program, "0"), 0o755)
			put(t, filepath.Join(hooks, "pre-push.sample"), "", 0o644)
			if err := os.Symlink(test.target, filepath.Join(hooks, "pre-commit")); err != nil {
				t.Fatal(err)
			}
			before := tree(t, hooks)
			install(t, InstallOptions{Dir: repo, Program: program.path})
			if target, err := os.Readlink(filepath.Join(hooks, "pre-commit"+keptSuffix)); err != nil || target != test.target {
				t.Errorf("kept as a link to %q, %v", target, err)
			}
			if info, err := os.Lstat(filepath.Join(hooks, "pre-commit")); err != nil || !info.Mode().IsRegular() {
				t.Errorf("the hook of ours is %v, %v", info, err)
			}
			if get(t, filepath.Join(repo, "tools", "check")) != logger(program, "0") {
				t.Error("the link's target was written to")
			}
			git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
			want := "gate [pre-commit]\n"
			if test.runs {
				want = "kept []\n" + want
			}
			if diff := cmp.Diff(want, program.said(t)); diff != "" {
				t.Error(diff)
			}
			uninstall(t, repo)
			after := tree(t, hooks)
			after["pre-commit"], before["pre-commit"] = withoutTime(after["pre-commit"]), withoutTime(before["pre-commit"])
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// withoutTime drops the time from a description of [tree]: keeping a link makes a new one.
func withoutTime(description string) string {
	first, rest, _ := strings.Cut(description, "\n")
	mode, _, _ := strings.Cut(first, " ")
	return mode + "\n" + rest
}

// A process can be killed between any two steps. Each state in between must work, and the next installation must finish it.
func TestEveryStateInBetweenWorks(t *testing.T) {
	gittest.Long(t)
	states := map[string]func(t *testing.T, path, text string){
		"a temporary file was begun": func(t *testing.T, path, _ string) {
			put(t, filepath.Join(filepath.Dir(path), ".pre-commit"+wholefile.Infix+"1"), "#!/bi", 0o600)
		},
		"the hook is kept": func(t *testing.T, path, _ string) {
			file, err := readHook(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := keepHook(file, path+keptSuffix); err != nil {
				t.Fatal(err)
			}
		},
		"the hook is kept as a copy": func(t *testing.T, path, _ string) {
			put(t, path+keptSuffix, get(t, path), 0o755)
		},
		"kept, and a temporary file is complete": func(t *testing.T, path, text string) {
			put(t, path+keptSuffix, get(t, path), 0o755)
			put(t, filepath.Join(filepath.Dir(path), ".pre-commit"+wholefile.Infix+"22"), text, 0o755)
		},
	}
	for name, state := range states {
		t.Run(name, func(t *testing.T) {
			repo, program := newRepo(t), newStub(t)
			path := filepath.Join(repo, ".git", "hooks", "pre-commit")
			put(t, path, logger(program, "0"), 0o755)
			original := tree(t, filepath.Dir(path))
			state(t, path, shim{hook: PreCommit, program: program.path}.render())

			git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
			if diff := cmp.Diff("kept []\n", program.said(t)); diff != "" {
				t.Errorf("in between: %s", diff)
			}
			result := install(t, InstallOptions{Dir: repo, Program: program.path})
			if got := actions(result)[PreCommit]; got != Chained {
				t.Errorf("the next installation: %v", got)
			}
			git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
			if diff := cmp.Diff("kept []\ngate [pre-commit]\n", program.said(t)); diff != "" {
				t.Errorf("afterwards: %s", diff)
			}
			uninstall(t, repo)
			after := tree(t, filepath.Dir(path))
			if name == "the hook is kept as a copy" || name == "kept, and a temporary file is complete" {
				after["pre-commit"], original["pre-commit"] = withoutTime(after["pre-commit"]), withoutTime(original["pre-commit"])
			}
			if diff := cmp.Diff(original, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUninstallFindsItsWay(t *testing.T) {
	gittest.Long(t)
	program := newStub(t)
	other := "#!/bin/sh\n# somebody else's\n"
	tests := map[string]struct {
		prepare func(t *testing.T, hooks string)
		outcome Outcome
		action  Action
		want    map[string]string // text of the remaining files
	}{
		"nothing there": {func(t *testing.T, hooks string) {
			mustRemove(t, filepath.Join(hooks, "pre-commit"), filepath.Join(hooks, "pre-commit"+keptSuffix))
		}, Unchanged, Absent, nil},
		"somebody else's": {func(t *testing.T, hooks string) {
			mustRemove(t, filepath.Join(hooks, "pre-commit"+keptSuffix))
			put(t, filepath.Join(hooks, "pre-commit"), other, 0o755)
		}, Unchanged, Absent, map[string]string{"pre-commit": other}},
		"ours was deleted by hand": {func(t *testing.T, hooks string) {
			mustRemove(t, filepath.Join(hooks, "pre-commit"))
		}, Changed, Restored, map[string]string{"pre-commit": logger(program, "0")}},
		"the kept one was deleted by hand": {func(t *testing.T, hooks string) {
			mustRemove(t, filepath.Join(hooks, "pre-commit"+keptSuffix))
		}, Changed, Removed, nil},
		"the old hook was written anew": {func(t *testing.T, hooks string) {
			put(t, filepath.Join(hooks, "pre-commit"), logger(program, "0"), 0o755)
		}, Changed, Removed, map[string]string{"pre-commit": logger(program, "0")}},
		"another hook was written over ours": {func(t *testing.T, hooks string) {
			put(t, filepath.Join(hooks, "pre-commit"), other, 0o755)
		}, NeedsManualSteps, LeftAlone, map[string]string{"pre-commit": other, "pre-commit" + keptSuffix: logger(program, "0")}},
		"a manager moved ours to .old": {func(t *testing.T, hooks string) {
			mustRename(t, filepath.Join(hooks, "pre-commit"), filepath.Join(hooks, "pre-commit.old"))
			put(t, filepath.Join(hooks, "pre-commit"), other, 0o755)
		}, Changed, Absent, map[string]string{"pre-commit": other, "pre-commit.old": logger(program, "0")}},
		"a manager moved ours to .legacy": {func(t *testing.T, hooks string) {
			mustRename(t, filepath.Join(hooks, "pre-commit"), filepath.Join(hooks, "pre-commit.legacy"))
			put(t, filepath.Join(hooks, "pre-commit"), other, 0o755)
		}, Changed, Absent, map[string]string{"pre-commit": other, "pre-commit.legacy": logger(program, "0")}},
		"one put there by hand": {func(t *testing.T, hooks string) {
			mustRemove(t, filepath.Join(hooks, "pre-commit"+keptSuffix))
			put(t, filepath.Join(hooks, "pre-commit"), shim{hook: PreCommit}.render(), 0o755)
		}, NeedsManualSteps, LeftAlone, map[string]string{"pre-commit": shim{hook: PreCommit}.render()}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			repo := newRepo(t)
			hooks := filepath.Join(repo, ".git", "hooks")
			put(t, filepath.Join(hooks, "pre-commit"), logger(program, "0"), 0o755)
			install(t, InstallOptions{Dir: repo, Program: program.path})
			for _, hook := range ClientHooks()[1:] {
				mustRemove(t, filepath.Join(hooks, string(hook)))
			}
			test.prepare(t, hooks)
			result := uninstall(t, repo)
			if got := actions(result)[PreCommit]; result.Outcome != test.outcome || got != test.action {
				t.Errorf("%v, %v\n%s", result.Outcome, got, result.Text())
			}
			left := map[string]string(nil)
			for _, name := range notSamples(t, hooks) {
				if left == nil {
					left = map[string]string{}
				}
				left[name] = get(t, filepath.Join(hooks, name))
			}
			if diff := cmp.Diff(test.want, left); diff != "" {
				t.Error(diff)
			}
			if again := uninstall(t, repo).Outcome; again == Changed {
				t.Error("the second time changed something")
			}
		})
	}
}

// core.hooksPath may be set after the installation.
func TestUninstallLooksInTheOwnDirectoryToo(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	install(t, InstallOptions{Dir: repo, Program: program.path})
	git(t, repo, "config", "core.hooksPath", os.DevNull)
	if got := uninstall(t, repo).Outcome; got != Changed {
		t.Errorf("outcome %v", got)
	}
	if left := notSamples(t, filepath.Join(repo, ".git", "hooks")); left != nil {
		t.Errorf("left: %q", left)
	}
}

func TestKeepRefusesToOverwrite(t *testing.T) {
	dir := realTemp(t)
	path, kept := filepath.Join(dir, "pre-commit"), filepath.Join(dir, "kept")
	put(t, path, "one", 0o755)
	put(t, kept, "two", 0o755)
	file, err := readHook(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := keepHook(file, kept); err == nil || get(t, kept) != "two" {
		t.Errorf("%v; kept is %q", err, get(t, kept))
	}
}

// Concurrent installations lose no hook, even if they do not wait for each other.
func TestInstallationsAtTheSameTime(t *testing.T) {
	gittest.Long(t)
	repo, program := newRepo(t), newStub(t)
	where, err := Locate(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		for _, hook := range ClientHooks() {
			put(t, filepath.Join(where.HooksDir, string(hook)), logger(program, "0"), 0o755)
		}
		errs := make(chan error)
		for range 8 {
			go func() {
				plans, err := planHooks(where.HooksDir, ClientHooks(), program.path)
				if err == nil {
					_, err = applyPlans(where.HooksDir, program.path, plans)
				}
				errs <- err
			}()
		}
		for range 8 {
			// One that runs between two steps of another may refuse.
			if err := <-errs; err != nil && !strings.Contains(err.Error(), "one is kept at") && !strings.Contains(err.Error(), "was changed while") {
				t.Error(err)
			}
		}
		for _, hook := range ClientHooks() {
			path := filepath.Join(where.HooksDir, string(hook))
			if get(t, path+keptSuffix) != logger(program, "0") || originOf(hook, get(t, path)) != ours {
				t.Fatalf("%s: kept is %q", hook, get(t, path+keptSuffix))
			}
		}
		uninstall(t, repo)
	}
}

func TestCancelledContext(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Install(ctx, InstallOptions{Dir: repo, Program: program.path}); err == nil {
		t.Error("Install went through")
	}
	if _, err := Doctor(ctx, repo); err == nil {
		t.Error("Doctor went through")
	}
}

func mustRemove(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func mustRename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
