package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// userConfig gives the test a user's git configuration of its own and returns its path.
func userConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(realTemp(t), "gitconfig")
	put(t, path, "", 0o644)
	t.Setenv("GIT_CONFIG_GLOBAL", path)
	return path
}

// installGlobal installs into the template and fails the test if that fails.
func installGlobal(t *testing.T, options GlobalOptions) Result {
	t.Helper()
	result, err := InstallGlobal(context.Background(), options)
	if err != nil {
		t.Fatalf("InstallGlobal: %v", err)
	}
	return result
}

func TestGlobalThroughATemplate(t *testing.T) {
	config, program := userConfig(t), newStub(t)
	usual := filepath.Join(realTemp(t), "my template")
	old := newRepo(t)

	result := installGlobal(t, GlobalOptions{Program: program.path, TemplateDir: usual})
	line := "git config --global init.templateDir '" + usual + "'"
	if result.Outcome != NeedsManual || len(result.Commands) != 1 || result.Commands[0] != line || !strings.Contains(result.Text(), line) {
		t.Errorf("%v\n%s", result.Outcome, result.Text())
	}
	if get(t, config) != "" {
		t.Errorf("the user's configuration was written: %s", get(t, config))
	}
	run(t, "", "", nil, "/bin/sh", "-c", line)

	if again := installGlobal(t, GlobalOptions{Program: program.path, TemplateDir: "not used"}); again.Outcome != Unchanged || again.Dir != filepath.Join(usual, "hooks") {
		t.Errorf("the second time: %v in %s", again.Outcome, again.Dir)
	}

	repo := newRepo(t) // makes a commit
	if got := program.said(t); got != "gate [pre-commit]\n" {
		t.Errorf("a new repository ran %q", got)
	}
	if diagnosis := diagnose(t, repo); !diagnosis.Fires() {
		t.Error(diagnosis.Text())
	}
	git(t, old, "init", "-q")
	git(t, old, "commit", "-q", "--allow-empty", "-m", "x")
	if got := program.said(t); got != "gate [pre-commit]\n" {
		t.Errorf("after git init, an old repository ran %q", got)
	}
	if again := install(t, InstallOptions{Dir: repo, Program: program.path}); again.Outcome != Unchanged {
		t.Errorf("install where the template was: %s", again.Text())
	}

	undone, err := UninstallGlobal(context.Background(), GlobalOptions{})
	if err != nil || undone.Outcome != Changed || notSamples(t, filepath.Join(usual, "hooks")) != nil {
		t.Errorf("%v: %s", err, undone.Text())
	}
	if again, err := UninstallGlobal(context.Background(), GlobalOptions{}); err != nil || again.Outcome != Unchanged {
		t.Errorf("%v: %s", err, again.Text())
	}
}

func TestGlobalConfiguresGitWhenAsked(t *testing.T) {
	config, program := userConfig(t), newStub(t)
	want, err := defaultTemplateDir()
	if err != nil {
		t.Fatal(err)
	}
	result := installGlobal(t, GlobalOptions{Program: program.path, Configure: true, PreReceive: true})
	if diff := cmp.Diff(each(Installed, allHooks()...), actions(result)); diff != "" || result.Outcome != Changed {
		t.Errorf("%v\n%s", result.Outcome, diff)
	}
	if got := git(t, t.TempDir(), "config", "--global", "--type=path", "init.templateDir"); got != want {
		t.Errorf("init.templateDir is %q, want %q", got, want)
	}
	before := get(t, config)
	if again := installGlobal(t, GlobalOptions{Program: program.path, Configure: true, PreReceive: true}); again.Outcome != Unchanged || get(t, config) != before {
		t.Errorf("the second time: %s", again.Text())
	}
	if _, err := UninstallGlobal(context.Background(), GlobalOptions{}); err != nil {
		t.Error(err)
	}

	// A configuration that cannot be written is an error, not a success.
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none", "gitconfig"))
	if _, err := InstallGlobal(context.Background(), GlobalOptions{Program: program.path, Configure: true}); err == nil || !strings.Contains(err.Error(), "init.templateDir") {
		t.Errorf("%v", err)
	}
}

// A template that the user has already is used, and its hooks are chained; copied into a repository, they still are.
func TestGlobalChainsTheTemplatesOwnHooks(t *testing.T) {
	config, program := userConfig(t), newStub(t)
	own := filepath.Join(realTemp(t), "own")
	put(t, filepath.Join(own, "hooks", "pre-commit"), logger(program, "0"), 0o755)
	put(t, config, "[init]\n\ttemplateDir = "+own+"\n", 0o644)
	if result := installGlobal(t, GlobalOptions{Program: program.path}); result.Outcome != Changed || result.Commands != nil {
		t.Error(result.Text())
	}
	newRepo(t)
	if diff := cmp.Diff("kept []\ngate [pre-commit]\n", program.said(t)); diff != "" {
		t.Error(diff)
	}
	if _, err := UninstallGlobal(context.Background(), GlobalOptions{}); err != nil || get(t, filepath.Join(own, "hooks", "pre-commit")) != logger(program, "0") {
		t.Errorf("%v", err)
	}
}

func TestGlobalHooksPathMakesTemplatesUseless(t *testing.T) {
	config, program := userConfig(t), newStub(t)
	dir := filepath.Join(realTemp(t), "global hooks")
	put(t, config, "[core]\n\thooksPath = "+dir+"\n", 0o644)
	result := installGlobal(t, GlobalOptions{Program: program.path, Configure: true})
	if result.Outcome != NeedsManual || result.Manual == nil || !strings.Contains(result.Text(), filepath.Join(dir, "pre-push")) {
		t.Errorf("%v\n%s", result.Outcome, result.Text())
	}
	if _, err := os.Stat(dir); err == nil || strings.Contains(get(t, config), "templateDir") {
		t.Error("something was written")
	}
	if forced := installGlobal(t, GlobalOptions{Program: program.path, Force: true}); forced.Outcome != Changed || forced.Dir != dir {
		t.Errorf("%v\n%s", forced.Outcome, forced.Text())
	}
	repo := newRepo(t)
	if got := program.said(t); got != "gate [pre-commit]\n" {
		t.Errorf("a new repository ran %q", got)
	}
	if diagnosis := diagnose(t, repo); !diagnosis.Fires() {
		t.Error(diagnosis.Text())
	}
	if undone, err := UninstallGlobal(context.Background(), GlobalOptions{}); err != nil || undone.Outcome != Changed || notSamples(t, dir) != nil {
		t.Errorf("%v: %s", err, undone.Text())
	}
}

func TestTemplateFromTheEnvironmentIsMentioned(t *testing.T) {
	userConfig(t)
	t.Setenv("GIT_TEMPLATE_DIR", t.TempDir())
	result := installGlobal(t, GlobalOptions{Program: newStub(t).path, TemplateDir: t.TempDir(), Configure: true})
	if !strings.Contains(result.Text(), "GIT_TEMPLATE_DIR") {
		t.Error(result.Text())
	}
}
