//go:build !windows

package clients_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/wording"
)

// newcomer is a desk whose person has a git configuration of their own.
func newcomer(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	return d.with("GIT_CONFIG_GLOBAL=" + filepath.Join(d.home, ".gitconfig"))
}

// started is a new repository of the same person, made by a command line that gets its path, and given the workspace of d.
func (d *desk) started(line string) *desk {
	d.t.Helper()
	dir := filepath.Join(d.t.TempDir(), "new")
	d.must(0, line, dir)
	n := d.in(d.In(dir))
	n.clock = d.clock
	return n
}

// install --global --configure is all it takes for every repository that is made or cloned from then on.
func TestGlobalTemplate(t *testing.T) {
	t.Parallel()
	d := newcomer(t)
	d.Git("push", "-q", "origin", "main")
	d.must(0, "small-hook install --global --configure")
	template := d.Git("config", "--global", "init.templateDir")
	if !strings.HasPrefix(template, d.home) {
		t.Fatalf("init.templateDir is %q, not below the home %q", template, d.home)
	}
	d.must(0, "small-hook install --global")

	cloned := d.started("git clone -q " + wording.ShellQuote(d.remote.Dir) + ` "$1"`)
	cloned.must(0, "small-hook doctor")
	cloned.commits()

	fresh := d.started(`git init -q -b main "$1"`)
	fresh.must(0, `cp -R "$1/.small" .`, d.Dir)
	fresh.Git("add", "-A")
	fresh.Git("commit", "-q", "-m", "start")
	fresh.diagnosed(true)

	// One that exists gets them by git init, if it has none.
	d.diagnosed(false)
	d.must(0, "git init -q")
	d.diagnosed(true)

	d.must(0, "small-hook uninstall --global")
	d.started(`git init -q "$1"`).must(2, "small-hook doctor")
	cloned.must(0, "small-hook doctor")
}

// Without --configure, what is left to do is printed, and it is enough.
func TestGlobalTemplateByHand(t *testing.T) {
	t.Parallel()
	d := newcomer(t)
	said := d.must(2, "small-hook install --global")
	_, tail, found := strings.Cut(said, "Type, to finish:\n  ")
	command, _, _ := strings.Cut(tail, "\n")
	if !found || !strings.HasPrefix(command, "git config --global init.templateDir ") {
		t.Fatal(said)
	}
	d.must(0, command)
	d.started(`git init -q "$1"`).must(0, "small-hook doctor")
}

// A template that the person has already is added to, and its own hook goes on working.
func TestGlobalTemplateOfTheUser(t *testing.T) {
	t.Parallel()
	d := newcomer(t)
	own := filepath.Join(d.home, "my template")
	put(t, filepath.Join(own, "hooks", "pre-commit"), "#!/bin/sh\n"+ownHook+"\n", 0o755)
	d.Git("config", "--global", "init.templateDir", own)
	d.must(0, "small-hook install --global")
	d.Git("push", "-q", "origin", "main")
	cloned := d.started("git clone -q " + wording.ShellQuote(d.remote.Dir) + ` "$1"`)
	cloned.must(0, "small-hook doctor")
	cloned.commits()
	if cloned.ownRuns() == 0 {
		t.Error("the hook of the person's template does not run")
	}
	d.must(0, "small-hook uninstall --global")
	again := d.started("git clone -q " + wording.ShellQuote(d.remote.Dir) + ` "$1"`)
	again.diagnosed(false)
}

// A global core.hooksPath makes git ignore what comes from a template: install says so, and what to add there.
func TestGlobalHooksPath(t *testing.T) {
	t.Parallel()
	d := newcomer(t)
	dir := filepath.Join(d.home, "hooks for all")
	put(t, filepath.Join(dir, "pre-commit"), "#!/bin/sh\n"+ownHook+"\n", 0o755)
	d.Git("config", "--global", "core.hooksPath", dir)
	lines := parseManual(t, d.must(2, "small-hook install --global --configure"))
	d.follow(lines)
	d.must(0, "small-hook doctor")
	d.guarded(only{})
	if d.ownRuns() == 0 {
		t.Error("the person's own hook does not run")
	}
}

// quote makes one word of the shell.
