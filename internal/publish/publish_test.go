package publish

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/gittest"
)

// Only what the remote rejected is a refusal: a line that is up to date, or a connection that broke, is not.
func TestRejections(t *testing.T) {
	t.Parallel()
	for porcelain, want := range map[string]string{
		"": "",
		"To ../origin.git\n=\trefs/heads/main:refs/heads/main\t[up to date]\nDone\n":                                   "",
		"To x\n!\trefs/heads/main:refs/heads/main\t[remote rejected] (hook declined)\nDone\n":                          "refs/heads/main:refs/heads/main [remote rejected] (hook declined)",
		"!\ta:b\t[rejected] (fetch first)\n \tc:d\t1..2\n!\te:f\t[rejected] (stale info)\n":                            "a:b [rejected] (fetch first)\ne:f [rejected] (stale info)",
		"!\trefs/heads/main:refs/heads/main\t[remote failure] (remote failed to report status)\nTo [rejected]\nDone\n": "",
	} {
		if diff := cmp.Diff(want, rejections(porcelain)); diff != "" {
			t.Errorf("%q: %s", porcelain, diff)
		}
	}
}

// The hook that failed first is named, also if another process uses the same number, and never one that cannot stop git.
func TestRefusing(t *testing.T) {
	t.Parallel()
	begin := func(sid string, id int, hook string) string {
		return fmt.Sprintf(`{"event":"child_start","sid":%q,"child_id":%d,"hook_name":%q}`, sid, id, hook) + "\n"
	}
	end := func(sid string, id, code int) string {
		return fmt.Sprintf(`{"event":"child_exit","sid":%q,"child_id":%d,"code":%d}`, sid, id, code) + "\n"
	}
	for name, c := range map[string]struct{ trace, want string }{
		"nothing":          {},
		"no hook":          {`{"event":"child_start","sid":"a","child_id":0}` + "\n" + end("a", 0, 1), ""},
		"passed":           {begin("a", 0, "pre-push") + end("a", 0, 0), ""},
		"refused":          {begin("a", 0, "pre-push") + end("a", 0, 1), "pre-push"},
		"after the fact":   {begin("a", 0, "post-checkout") + end("a", 0, 1), ""},
		"another process":  {begin("a", 0, "commit-msg") + end("b", 0, 1) + end("a", 0, 0), ""},
		"the second":       {begin("a", 0, "pre-commit") + end("a", 0, 0) + begin("a", 1, "commit-msg") + end("a", 1, 2), "commit-msg"},
		"a line cut short": {begin("a", 0, "pre-push") + end("a", 0, 1)[:20] + "\n" + end("a", 0, 1), "pre-push"},
		"a long line":      {`{"event":"` + strings.Repeat("x", 1<<17) + `"}` + "\n" + begin("a", 0, "pre-push") + end("a", 0, 1), "pre-push"},
	} {
		if got := refusing([]byte(c.trace)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What is written down comes back as it was, and what cannot be read is an error.
func TestState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ownDir), 0o700); err != nil {
		t.Fatal(err)
	}
	p := &publishing{git: &commandLine{gitDir: dir}}
	if there, err := p.load(t.Context()); there || err != nil {
		t.Errorf("without a file: %v, %v", there, err)
	}
	p.state = state{
		Branch: "refs/heads/main", Tip: "1", Remote: "origin", Target: "refs/heads/main", Merge: true, Stopped: true, Pushing: "2", Pushed: true,
		Aside: "3", Left: "4", LeftAt: "5\npick 6", Meanwhile: []string{"7"}, Conflicts: []string{"a\nb", "é"},
	}
	if err := p.note(); err != nil {
		t.Fatal(err)
	}
	again := &publishing{git: p.git}
	if there, err := again.load(t.Context()); !there || err != nil || !again.noted {
		t.Fatalf("%v, %v", there, err)
	}
	if diff := cmp.Diff(p.state, again.state); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(p.statePath(), []byte(`{"Branch":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := again.load(t.Context()); err == nil {
		t.Error("a file that was cut short is taken")
	}
}

// What git cannot answer is a failure, and not no.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	here := r.CommitFile("a", "a\n")
	place := githistory.Place{Top: r.Dir, GitDir: r.Path(".git")}
	git, err := openGit(place, r.Environ())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	demand := func(what, want string) {
		t.Helper()
		if got, err := git.branch(ctx); got != want || err != nil {
			t.Errorf("%s: the branch is %q, %v; want %q", what, got, err, want)
		}
	}
	demand("on a branch", "refs/heads/main")
	r.Git("checkout", "-q", "--detach")
	demand("detached", "")
	if err := os.Mkdir(r.Path(".git/rebase-merge"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.Write(".git/rebase-merge/head-name", "refs/heads/side\n")
	demand("in a rebase", "refs/heads/side")
	r.Write(".git/rebase-merge/head-name", "detached HEAD\n")
	demand("in a rebase of no branch", "")
	for revision, want := range map[string]string{"HEAD": here, "nothing": "", "HEAD^": ""} {
		if got, err := git.id(ctx, revision); got != want || err != nil {
			t.Errorf("%s is %q, %v; want %q", revision, got, err, want)
		}
	}
	r.Write(".git/HEAD", "broken\n")
	if got, err := git.id(ctx, "HEAD"); err == nil || failure.Of(err).Message == "" {
		t.Errorf("in what is no repository, HEAD is %q", got)
	}
	if got, err := git.branch(ctx); err == nil {
		t.Errorf("in what is no repository, the branch is %q", got)
	}
}

func TestRemedies(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		add([]string{"a.txt", "it's\n"}):                            "`git add -- " + topPaths([]string{"a.txt"}) + " " + topPaths([]string{"it's\n"}) + "`",
		list([]string{"1", "2", "3", "4", "5", "6", "7"}):           "1, 2, 3, 4, 5, 2 more",
		list([]string{"a\x1b"}):                                     `a\x1b`,
		subcommand([]string{"-c", "a=b", "-c", "c=d", "push", "x"}): "push",
		failure.Of(noRemote("up", []string{"a;b", "c"})).Remedy:     "name it: `small-hook sync 'a;b'`",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
