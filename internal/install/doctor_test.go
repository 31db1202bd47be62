package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// diagnose asks the doctor, which must not fail.
func diagnose(t *testing.T, dir string) Diagnosis {
	t.Helper()
	diagnosis, err := Doctor(context.Background(), dir)
	if err != nil {
		t.Fatalf("Doctor: %v", err)
	}
	return diagnosis
}

// fires is the doctor's result for one hook, as a person reads it.
func fires(t *testing.T, repo string, hook Name) (Check, string) {
	t.Helper()
	diagnosis := diagnose(t, repo)
	for _, check := range diagnosis.Checks {
		if check.Hook == hook {
			if check.Fires != (check.Why == "") || check.Fires != (check.Proof != ProofNone) {
				t.Errorf("inconsistent: %+v", check)
			}
			return check, diagnosis.Text()
		}
	}
	t.Fatalf("nothing about %s:\n%s", hook, diagnosis.Text())
	return Check{}, ""
}

func TestDoctorProvesThatHooksFire(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	kept := filepath.Join(repo, ".git", "hooks", "pre-commit")
	put(t, kept, logger(program, "1"), 0o755)
	install(t, InstallOptions{Dir: repo, Program: program.path})
	before := tree(t, repo)
	diagnosis := diagnose(t, repo)
	if !diagnosis.Fires() || len(diagnosis.Checks) != 5 || diagnosis.Repository.Git.Path == "" || !strings.HasPrefix(diagnosis.Repository.Git.Version, "2.") {
		t.Error(diagnosis.Text())
	}
	want := Check{Hook: PreCommit, Path: kept, Fires: true, Proof: ProofRan, Kept: kept + keptSuffix, Program: program.path, Version: "small-hook 1.2.3 stub"}
	if diff := cmp.Diff(want, diagnosis.Checks[0]); diff != "" {
		t.Error(diff)
	}
	if got := program.said(t); got != "" {
		t.Errorf("the doctor ran a hook: %q", got)
	}
	if diff := cmp.Diff(before, tree(t, repo)); diff != "" {
		t.Errorf("the doctor changed something: %s", diff)
	}
	for _, part := range []string{"pre-push: fires (git ran it)", "runs before it: " + kept + keptSuffix, "version: small-hook 1.2.3 stub", diagnosis.Repository.Git.Path} {
		if !strings.Contains(diagnosis.Text(), part) {
			t.Errorf("%q is missing:\n%s", part, diagnosis.Text())
		}
	}
}

func TestDoctorInBareRepository(t *testing.T) {
	gittest.Long(t)
	bare, program := newBare(t), newStub(t)
	if diagnosis := diagnose(t, bare); diagnosis.Fires() || len(diagnosis.Checks) != 1 || diagnosis.Checks[0].Hook != PreReceive {
		t.Error(diagnosis.Text())
	}
	install(t, InstallOptions{Dir: bare, Program: program.path, PreReceive: true})
	if check, text := fires(t, bare, PreReceive); check.Proof != ProofRan {
		t.Error(text)
	}
	repo := newRepo(t)
	install(t, InstallOptions{Dir: repo, Program: program.path, PreReceive: true})
	if diagnosis := diagnose(t, repo); !diagnosis.Fires() || len(diagnosis.Checks) != 6 {
		t.Error(diagnosis.Text())
	}
}

func TestDoctorSaysWhyNot(t *testing.T) {
	gittest.Long(t)
	tests := map[string]struct {
		spoil       func(t *testing.T, repo, hook string, program stub)
		why, remedy string
	}{
		"nothing is installed": {func(t *testing.T, _, hook string, _ stub) { mustRemove(t, hook) }, "no such file", "small-hook install"},
		"not executable": {func(t *testing.T, _, hook string, _ stub) {
			if err := os.Chmod(hook, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "git ignores it", "chmod +x '"},
		"edited": {func(t *testing.T, _, hook string, _ stub) { put(t, hook, get(t, hook)+"exit 0\n", 0o755) }, "edited", "Delete it"},
		"a link to nowhere": {func(t *testing.T, _, hook string, _ stub) {
			mustRemove(t, hook)
			if err := os.Symlink("none", hook); err != nil {
				t.Fatal(err)
			}
		}, "a file that does not exist", "Type: `small-hook install`"},
		"somebody else's, not executable": {func(t *testing.T, _, hook string, _ stub) {
			mustRemove(t, hook)
			put(t, hook, "#!/bin/sh\nexit 1\n", 0o644)
		}, "git ignores it, and it does not call the gate", "Type: `small-hook install`"},
		"a directory": {func(t *testing.T, _, hook string, _ stub) {
			mustRemove(t, hook)
			put(t, filepath.Join(hook, "x"), "", 0o644)
		}, "not an ordinary file", "Move it away"},
		"somebody else's": {func(t *testing.T, _, hook string, _ stub) { put(t, hook, "#!/bin/sh\nexit 0\n", 0o755) },
			"nothing calls small-hook pre-commit in ", "small-hook install"},
		"core.hooksPath leads away": {func(t *testing.T, repo, _ string, _ stub) { git(t, repo, "config", "core.hooksPath", "elsewhere") },
			"is never run", "small-hook install"},
		"hooks are switched off": {func(t *testing.T, repo, _ string, _ stub) { git(t, repo, "config", "core.hooksPath", os.DevNull) },
			"is never run", "unset-all core.hooksPath"},
		"the program is gone":  {func(t *testing.T, _, _ string, program stub) { mustRemove(t, program.path) }, "is missing or cannot be run", "go install"},
		"the program is empty": {func(t *testing.T, _, _ string, program stub) { put(t, program.path, "", 0o755) }, "is missing or cannot be run", "go install"},
		"the program is not executable": {func(t *testing.T, _, _ string, program stub) {
			if err := os.Chmod(program.path, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "is missing or cannot be run", "go install"},
		"the program does not answer": {func(t *testing.T, _, _ string, program stub) {
			put(t, program.path, "#!/bin/sh\necho oh no; exit 3\n", 0o755)
		},
			"does not print a version: oh no: exit status 3", "go install"},
		"the program says nothing": {func(t *testing.T, _, _ string, program stub) { put(t, program.path, "#!/bin/sh\n", 0o755) },
			"does not print a version", "go install"},
		"a hook with our mark that does not answer": {func(t *testing.T, _, hook string, _ stub) {
			body := "#!/bin/sh\necho what\nexit 0\n"
			put(t, hook, strings.Replace(body, "#!/bin/sh\n", "#!/bin/sh\n"+markerLine(PreCommit, body)+"\n", 1), 0o755)
		}, "did not answer: what", "/bin/sh"},
		"no shell": {func(t *testing.T, _, hook string, _ stub) {
			body := "#!/no/such/sh\n"
			put(t, hook, body+markerLine(PreCommit, body)+"\n", 0o755)
		}, "did not answer", "/bin/sh"},
	}
	left := gittest.Cases(4, len(tests))
	for name, test := range tests {
		if left--; left < 0 {
			break
		}
		t.Run(name, func(t *testing.T) {
			repo, program := newRepo(t), newStub(t)
			install(t, InstallOptions{Dir: repo, Program: program.path})
			test.spoil(t, repo, filepath.Join(repo, ".git", "hooks", "pre-commit"), program)
			check, text := fires(t, repo, PreCommit)
			if check.Fires || !strings.Contains(check.Why, test.why) || !strings.Contains(check.Remedy, test.remedy) || strings.HasSuffix(check.Why, ": ") {
				t.Errorf("fires %v\nwhy: %s\nremedy: %s", check.Fires, check.Why, check.Remedy)
			}
			if !strings.Contains(text, "pre-commit: DOES NOT FIRE: ") {
				t.Error(text)
			}
		})
	}
}

func TestDoctorSeesThatTheProgramHasMoved(t *testing.T) {
	gittest.Long(t)
	repo, program, second := newRepo(t), newStub(t), newStub(t)
	install(t, InstallOptions{Dir: repo, Program: program.path})
	mustRemove(t, program.path)
	t.Setenv("PATH", filepath.Dir(second.path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	check, text := fires(t, repo, PrePush)
	if !check.Fires || check.MissingProgram != program.path || check.Program != second.path {
		t.Errorf("%+v", check)
	}
	if !strings.Contains(text, "missing or cannot be run: "+program.path) || !strings.Contains(text, "small-hook install") {
		t.Error(text)
	}
}

// Since version 2.54 git also runs hooks named in its configuration. The doctor must not run them.
func TestDoctorRunsNoConfiguredHooks(t *testing.T) {
	gittest.Long(t)
	repo, program := newRepo(t), newStub(t)
	install(t, InstallOptions{Dir: repo, Program: program.path})
	git(t, repo, "config", "hook.mine.event", "pre-commit")
	git(t, repo, "config", "hook.mine.command", "touch ran")
	check, text := fires(t, repo, PreCommit)
	if !check.Fires || check.Proof != ProofRanDirectly || !strings.Contains(text, "hook.*.event") {
		t.Errorf("%+v\n%s", check, text)
	}
	if other, _ := fires(t, repo, PrePush); other.Proof != ProofRan {
		t.Errorf("%+v", other)
	}
	if _, err := os.Stat(filepath.Join(repo, "ran")); err == nil {
		t.Error("it ran")
	}
}

// pre-commit and prek move an existing hook aside and run it first.
func TestDoctorFollowsLegacyHooks(t *testing.T) {
	gittest.Long(t)
	for name, hook := range map[string]string{"pre-commit": preCommitHook, "prek": prekHook} {
		repo, program := newRepo(t), newStub(t)
		install(t, InstallOptions{Dir: repo, Program: program.path})
		path := filepath.Join(repo, ".git", "hooks", "pre-commit")
		mustRename(t, path, path+".legacy")
		put(t, path, hook, 0o755)
		put(t, filepath.Join(repo, ".pre-commit-config.yaml"), "repos: []\n", 0o644)
		check, text := fires(t, repo, PreCommit)
		if !check.Fires || check.Proof != ProofRanDirectly || check.Program != program.path || !strings.Contains(check.How, name+" runs") {
			t.Error(text)
		}
		if again := install(t, InstallOptions{Dir: repo, Program: program.path}); again.Outcome != Unchanged || actions(again)[PreCommit] != Present {
			t.Error(again.Text())
		}
		// lefthook moves it aside too, and does not run it.
		mustRename(t, path+".legacy", path+".old")
		put(t, path, lefthookHook, 0o755)
		if check, text := fires(t, repo, PreCommit); check.Fires {
			t.Error(text)
		}
	}
}

// A user's own hook is read and never run: whether its call of the gate is reached and obeyed remains open.
func TestDoctorDoesNotVerifyWhatOthersWrote(t *testing.T) {
	gittest.Long(t)
	repo := newRepo(t)
	hook := filepath.Join(repo, ".git", "hooks", "pre-commit")
	put(t, hook, "#!/bin/sh\nexec \"$HOME/bin/small-hook\" pre-commit\n", 0o755)
	check, text := fires(t, repo, PreCommit)
	if !check.Fires || check.Proof != ProofMention || check.Program != "" || !strings.Contains(text, "pre-commit: called by your own hook, not verified\n") {
		t.Error(text)
	}
	for _, other := range []string{"# small-hook pre-commit", "small-hook pre-merge-commit", "small-hook pre-push # pre-merge-commit"} {
		put(t, hook, "#!/bin/sh\n"+other+"\n", 0o755)
		if check, text := fires(t, repo, PreCommit); check.Fires {
			t.Error(text)
		}
	}
}

// A repository's paths and files must not reach a terminal unescaped.
func TestTextIsEscaped(t *testing.T) {
	gittest.Long(t)
	dir := filepath.Join(realTemp(t), "a\x1b[31mb")
	git(t, filepath.Dir(dir), "init", "-q", dir)
	program := newStub(t)
	hook := filepath.Join(dir, ".git", "hooks", "pre-commit")
	put(t, hook, "#!/bin/sh\nsmall-hook pre-commit \x1b[32m || true\n", 0o644)
	if want := "`chmod +x " + wording.ShellQuote(hook) + "`"; !strings.Contains(diagnose(t, dir).Text(), want) {
		t.Errorf("%s is missing", want)
	}
	texts := []string{diagnose(t, dir).Text(), install(t, InstallOptions{Dir: dir, Program: program.path}).Text(), diagnose(t, dir).Text()}
	git(t, dir, "config", "core.hooksPath", "x\x1b[33my")
	texts = append(texts, diagnose(t, dir).Text(), install(t, InstallOptions{Dir: dir, Program: program.path}).Text(), uninstall(t, dir).Text())
	for _, text := range texts {
		if strings.Contains(text, "\x1b") {
			t.Errorf("%q", text)
		}
	}
	if _, err := Install(context.Background(), InstallOptions{Dir: dir, Program: filepath.Join(dir, "none")}); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q", err)
	}
}
