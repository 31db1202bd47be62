package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestInstalledHooksAreRunByGit(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	result := install(t, InstallOptions{Dir: repo, Program: program.path})
	if result.Outcome != Changed || result.Program != program.path || result.Dir != filepath.Join(repo, ".git", "hooks") {
		t.Errorf("outcome %v, program %q, dir %q", result.Outcome, result.Program, result.Dir)
	}
	if diff := cmp.Diff(each(Installed, ClientHooks()...), actions(result)); diff != "" {
		t.Error(diff)
	}

	git(t, repo, "commit", "-q", "--allow-empty", "-m", "second")
	if got := program.saidAll(t); got != "gate [pre-commit]\ngate [prepare-commit-msg] [.git/COMMIT_EDITMSG] [message]\n" {
		t.Errorf("a commit ran %q", got)
	}
	git(t, repo, "branch", "side", "HEAD~1")
	git(t, repo, "merge", "-q", "--no-ff", "--no-edit", "side") // nothing to merge: no hook
	git(t, repo, "checkout", "-q", "side")
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "third")
	program.said(t)
	git(t, repo, "merge", "-q", "--no-edit", "main")
	if got := program.said(t); got != "gate [pre-merge-commit]\n" {
		t.Errorf("a merge ran %q", got)
	}
	remote := filepath.Join(realTemp(t), "remote.git")
	git(t, repo, "init", "-q", "--bare", remote)
	git(t, repo, "remote", "add", "origin", remote)
	git(t, repo, "push", "-q", "origin", "main", "side")
	zero := strings.Repeat("0", 40)
	want := "gate [pre-push] [origin] [" + remote + "]\n" +
		"refs/heads/main " + git(t, repo, "rev-parse", "main") + " refs/heads/main " + zero + "\n" +
		"refs/heads/side " + git(t, repo, "rev-parse", "side") + " refs/heads/side " + zero + "\n"
	if diff := cmp.Diff(want, program.said(t)); diff != "" {
		t.Error(diff)
	}

	for _, status := range []string{"1", "2"} {
		program.fails(t, status)
		head := git(t, repo, "rev-parse", "HEAD")
		gitStops(t, repo, "commit", "--allow-empty", "-m", "no")
		gitStops(t, repo, "push", "origin", "HEAD:refs/heads/new")
		if git(t, repo, "rev-parse", "HEAD") != head || git(t, repo, "ls-remote", "origin", "refs/heads/new") != "" {
			t.Errorf("status %s did not stop git", status)
		}
	}
}

func TestPreReceiveInBareRepository(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	remote := filepath.Join(realTemp(t), "remote.git")
	git(t, repo, "init", "-q", "--bare", remote)

	_, err := Install(context.Background(), InstallOptions{Dir: remote, Program: program.path})
	if err == nil || !strings.Contains(err.Error(), "--pre-receive") {
		t.Errorf("client hooks in a bare repository: %v", err)
	}
	result := install(t, InstallOptions{Dir: remote, Program: program.path, PreReceive: true})
	if diff := cmp.Diff(each(Installed, PreReceive), actions(result)); diff != "" {
		t.Error(diff)
	}
	head := git(t, repo, "rev-parse", "HEAD")
	git(t, repo, "push", "-q", remote, "main")
	if got, want := program.said(t), "gate [pre-receive]\n"+strings.Repeat("0", 40)+" "+head+" refs/heads/main\n"; got != want {
		t.Errorf("a push ran %q, want %q", got, want)
	}
	program.fails(t, "1")
	gitStops(t, repo, "push", remote, "main:other")

	if diff := cmp.Diff(each(Installed, PreReceive), actions(install(t, InstallOptions{Dir: newBare(t), Program: program.path, PreReceive: true}))); diff != "" {
		t.Error(diff)
	}
	both := install(t, InstallOptions{Dir: repo, Program: program.path, PreReceive: true})
	if diff := cmp.Diff(each(Installed, allHooks()...), actions(both)); diff != "" {
		t.Error(diff)
	}
}

func newBare(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(realTemp(t), "bare.git")
	git(t, filepath.Dir(dir), "init", "-q", "--bare", dir)
	return dir
}

func TestInstallFromAnywhereInTheRepository(t *testing.T) {
	gittest.Long(t)
	program := newStub(t)
	tests := map[string]func(t *testing.T, repo string) (from, work, hooks string){
		"subdirectory": func(t *testing.T, repo string) (string, string, string) {
			sub := filepath.Join(repo, "a", "b")
			put(t, filepath.Join(sub, "file"), "", 0o644)
			return sub, sub, filepath.Join(repo, ".git", "hooks")
		},
		"linked worktree": func(t *testing.T, repo string) (string, string, string) {
			linked := filepath.Join(realTemp(t), "linked")
			git(t, repo, "worktree", "add", "-q", linked)
			return linked, linked, filepath.Join(repo, ".git", "hooks")
		},
		"below a linked worktree, used in the main one": func(t *testing.T, repo string) (string, string, string) {
			linked := filepath.Join(realTemp(t), "linked")
			git(t, repo, "worktree", "add", "-q", linked)
			put(t, filepath.Join(linked, "a", "file"), "", 0o644)
			return filepath.Join(linked, "a"), repo, filepath.Join(repo, ".git", "hooks")
		},
		"with worktreeConfig": func(t *testing.T, repo string) (string, string, string) {
			git(t, repo, "config", "extensions.worktreeConfig", "true")
			return repo, repo, filepath.Join(repo, ".git", "hooks")
		},
		"worktree of a bare repository": func(t *testing.T, repo string) (string, string, string) {
			bare := filepath.Join(realTemp(t), "bare.git")
			git(t, repo, "clone", "-q", "--bare", repo, bare)
			linked := filepath.Join(realTemp(t), "linked")
			git(t, bare, "worktree", "add", "-q", linked)
			return linked, linked, filepath.Join(bare, "hooks")
		},
		"submodule": func(t *testing.T, repo string) (string, string, string) {
			super := newRepo(t)
			git(t, super, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repo, "sub")
			return filepath.Join(super, "sub"), filepath.Join(super, "sub"), filepath.Join(super, ".git", "modules", "sub", "hooks")
		},
		"no hooks directory": func(t *testing.T, repo string) (string, string, string) {
			if err := os.RemoveAll(filepath.Join(repo, ".git", "hooks")); err != nil {
				t.Fatal(err)
			}
			return repo, repo, filepath.Join(repo, ".git", "hooks")
		},
		"hooksPath that names the usual directory": func(t *testing.T, repo string) (string, string, string) {
			git(t, repo, "config", "core.hooksPath", ".git/hooks")
			return repo, repo, filepath.Join(repo, ".git", "hooks")
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			from, work, hooks := prepare(t, newRepo(t))
			result := install(t, InstallOptions{Dir: from, Program: program.path})
			if result.Dir != hooks || result.Outcome != Changed {
				t.Errorf("dir %q, want %q; outcome %v", result.Dir, hooks, result.Outcome)
			}
			git(t, work, "commit", "-q", "--allow-empty", "-m", "x")
			if got := program.said(t); got != "gate [pre-commit]\n" {
				t.Errorf("a commit ran %q", got)
			}
			if diagnosis := diagnose(t, work); !diagnosis.Fires() {
				t.Error(diagnosis.Text())
			}
			if uninstall(t, from).Outcome != Changed {
				t.Error("uninstall found nothing")
			}
			git(t, work, "commit", "-q", "--allow-empty", "-m", "x")
			if got := program.said(t); got != "" {
				t.Errorf("after uninstall, a commit ran %q", got)
			}
		})
	}
}

// A hook that runs install, or a git alias, passes on variables that name another repository.
func TestDirectoryDecidesNotTheEnvironment(t *testing.T) {
	gittest.Long(t)
	repo, other, program := newRepo(t), newRepo(t), newStub(t)
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", "no-such-index")
	if got, want := install(t, InstallOptions{Dir: repo, Program: program.path}).Dir, filepath.Join(repo, ".git", "hooks"); got != want {
		t.Errorf("installed in %q, want %q", got, want)
	}
	if diagnosis := diagnose(t, repo); !diagnosis.Fires() {
		t.Error(diagnosis.Text())
	}
}

func TestInstallTwiceChangesNothing(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	put(t, filepath.Join(repo, ".git", "hooks", "pre-push"), "#!/bin/sh\n", 0o755)
	install(t, InstallOptions{Dir: repo, Program: program.path, PreReceive: true})
	before := tree(t, filepath.Join(repo, ".git"))
	for _, force := range []bool{false, true} {
		result := install(t, InstallOptions{Dir: repo, Program: program.path, PreReceive: true, Force: force})
		if result.Outcome != Unchanged || !strings.Contains(result.Text(), "installed already") {
			t.Errorf("the second time: %v\n%s", result.Outcome, result.Text())
		}
		if diff := cmp.Diff(each(Present, allHooks()...), actions(result)); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(before, tree(t, filepath.Join(repo, ".git"))); diff != "" {
		t.Error(diff)
	}
}

func TestInstallBringsOwnHooksUpToDate(t *testing.T) {
	repo, old, program := newRepo(t), newStub(t), newStub(t)
	path := filepath.Join(repo, ".git", "hooks", "pre-commit")
	install(t, InstallOptions{Dir: repo, Program: old.path})
	result := install(t, InstallOptions{Dir: repo, Program: program.path})
	if diff := cmp.Diff(each(Updated, ClientHooks()...), actions(result)); diff != "" || result.Outcome != Changed {
		t.Error(result.Outcome, diff)
	}
	if programIn(get(t, path)) != program.path {
		t.Error("the hook calls another program")
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := actions(install(t, InstallOptions{Dir: repo, Program: program.path}))[PreCommit]; got != Updated {
		t.Errorf("a hook that is not executable: %v", got)
	}
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
	if program.said(t) == "" {
		t.Error("the hook did not run")
	}
	// A shim of another version has another text with a matching checksum.
	body := "#!/bin/sh\n# an older text\nsg_program='/old'\nexit 0\n"
	put(t, path, strings.Replace(body, "#!/bin/sh\n", "#!/bin/sh\n"+markerLine(PreCommit, body)+"\n", 1), 0o755)
	if got := actions(install(t, InstallOptions{Dir: repo, Program: program.path}))[PreCommit]; got != Updated {
		t.Errorf("a hook of another version: %v", got)
	}
}

func TestEditedHookIsLeft(t *testing.T) {
	gittest.Long(t)
	edits := map[string]func(string) string{
		"no marker line": func(text string) string {
			return strings.Replace(text, text[strings.Index(text, "# small-gate hook: "):strings.Index(text, "# Written by")], "", 1)
		},
		"a line more": func(text string) string { return text + "echo mine\n" },
		"CRLF":        func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") },
		"a program":   func(text string) string { return strings.Replace(text, "sg_program='", "sg_program='/other", 1) },
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			repo, program := newRepo(t), newStub(t)
			path := filepath.Join(repo, ".git", "hooks", "pre-push")
			put(t, path, "#!/bin/sh\n", 0o755)
			install(t, InstallOptions{Dir: repo, Program: program.path})
			put(t, path, edit(get(t, path)), 0o755)
			before := tree(t, filepath.Join(repo, ".git", "hooks"))
			for _, force := range []bool{false, true} {
				_, err := Install(context.Background(), InstallOptions{Dir: repo, Program: program.path, Force: force})
				if err == nil || !strings.Contains(err.Error(), "somebody edited it") || !strings.Contains(err.Error(), path) {
					t.Errorf("install: %v", err)
				}
			}
			if diff := cmp.Diff(before, tree(t, filepath.Join(repo, ".git", "hooks"))); diff != "" {
				t.Error(diff)
			}
			for _, outcome := range []Outcome{NeedsManualSteps, NeedsManualSteps} {
				result := uninstall(t, repo)
				if result.Outcome != outcome || actions(result)[PrePush] != LeftAlone || !strings.Contains(result.Text(), "edited") {
					t.Errorf("uninstall: %v\n%s", result.Outcome, result.Text())
				}
			}
			if get(t, path) == "#!/bin/sh\n" {
				t.Error("the edited hook is gone")
			}
		})
	}
}

func TestErrors(t *testing.T) {
	gittest.Long(t)
	program := newStub(t)
	repo := newRepo(t)
	outside := realTemp(t)
	dirHook, fileHooks := newRepo(t), newRepo(t)
	put(t, filepath.Join(dirHook, ".git", "hooks", "pre-push", "x"), "", 0o644)
	if err := os.RemoveAll(filepath.Join(fileHooks, ".git", "hooks")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(fileHooks, ".git", "hooks"), "not a directory", 0o644)
	empty, plain := filepath.Join(outside, "empty"), filepath.Join(outside, "plain")
	put(t, empty, "", 0o755)
	put(t, plain, "x", 0o644)
	broken := realTemp(t)
	put(t, filepath.Join(broken, ".git"), "gitdir: /no/such/place\n", 0o644)

	tests := map[string]struct {
		options InstallOptions
		says    string
	}{
		"no repository":       {InstallOptions{Dir: outside, Program: program.path}, "git init"},
		"no such directory":   {InstallOptions{Dir: filepath.Join(outside, "none"), Program: program.path}, "none"},
		"a file":              {InstallOptions{Dir: plain, Program: program.path}, "not a directory"},
		"inside .git":         {InstallOptions{Dir: filepath.Join(repo, ".git", "refs"), Program: program.path}, "work tree"},
		"a broken .git file":  {InstallOptions{Dir: broken, Program: program.path}, "git status"},
		"a directory as hook": {InstallOptions{Dir: dirHook, Program: program.path}, "pre-push is not an ordinary file"},
		"hooks is a file":     {InstallOptions{Dir: fileHooks, Program: program.path}, "not a directory"},
		"no program":          {InstallOptions{Dir: repo, Program: filepath.Join(outside, "gone")}, "go install"},
		"an empty program":    {InstallOptions{Dir: repo, Program: empty}, "empty"},
		"not executable":      {InstallOptions{Dir: repo, Program: plain}, "not executable"},
		"a directory":         {InstallOptions{Dir: repo, Program: outside}, "not an ordinary file"},
		"a line break":        {InstallOptions{Dir: repo, Program: outside + "/a\nb"}, "line break"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result, err := Install(context.Background(), test.options)
			if result.Outcome != Failed || result.Text() != "" {
				t.Errorf("with the error: %v, %q", result.Outcome, result.Text())
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
			if strings.Contains(err.Error(), "a\nb") {
				t.Error("a line break reached the message unescaped")
			}
		})
	}
	if diff := cmp.Diff([]string(nil), notSamples(t, filepath.Join(repo, ".git", "hooks"))); diff != "" {
		t.Error(diff)
	}
	if _, err := Uninstall(context.Background(), outside); err == nil || !strings.Contains(err.Error(), "is not in a git repository") {
		t.Error(err)
	}
	if _, err := Doctor(context.Background(), outside); err == nil || !strings.Contains(err.Error(), "is not in a git repository") {
		t.Error(err)
	}
	t.Setenv("PATH", outside)
	if _, err := Install(context.Background(), InstallOptions{Dir: repo, Program: program.path}); err == nil || !strings.Contains(err.Error(), "git is not on PATH") {
		t.Error(err)
	}
}

// If one hook cannot be installed, nothing is written.
func TestAllOrNothing(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	hooks := filepath.Join(repo, ".git", "hooks")
	put(t, filepath.Join(hooks, "pre-push"), "#!/bin/sh\necho one\n", 0o755)
	put(t, filepath.Join(hooks, "pre-push"+keptSuffix), "#!/bin/sh\necho two\n", 0o755)
	before := tree(t, hooks)
	_, err := Install(context.Background(), InstallOptions{Dir: repo, Program: program.path})
	if err == nil || !strings.Contains(err.Error(), "Move one") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, tree(t, hooks)); diff != "" {
		t.Error(diff)
	}
}

// notSamples lists the files of a hooks directory that git did not put there.
func notSamples(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".sample") {
			names = append(names, entry.Name())
		}
	}
	return names
}
