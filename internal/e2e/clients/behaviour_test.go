//go:build !windows

package clients_test

import (
	"path/filepath"
	"strings"
)

// committed runs a git command that must commit.
func (d *desk) committed(args ...string) {
	d.t.Helper()
	before := d.ID("HEAD")
	if said, status := d.run(`git "$@"`, args...); status != 0 || d.ID("HEAD") == before {
		d.t.Fatalf("git %v: exit status %d\n%s", args, status, said)
	}
}

// stopped runs a git command that the gate must stop with the given words, and resets the work tree to HEAD.
func (d *desk) stopped(words string, args ...string) {
	d.t.Helper()
	before := d.ID("HEAD")
	said, status := d.run(`git "$@"`, args...)
	if status == 0 || d.ID("HEAD") != before {
		d.t.Fatalf("git %v went through (exit status %d):\n%s", args, status, said)
	}
	if !strings.Contains(said, words) {
		d.t.Fatalf("git %v was stopped without saying %q:\n%s", args, words, said)
	}
	d.discard()
}

// pushed runs git push origin, which must go through.
func (d *desk) pushed(args ...string) {
	d.t.Helper()
	d.must(0, `git push -q origin "$@"`, args...)
}

// held runs git push origin, which the gate must stop: no ref of the remote moves.
func (d *desk) held(words string, args ...string) {
	d.t.Helper()
	before, err := d.remote.Try("for-each-ref")
	if err != nil {
		d.t.Fatal(err)
	}
	said, status := d.run(`git push -q origin "$@"`, args...)
	after, err := d.remote.Try("for-each-ref")
	if err != nil {
		d.t.Fatal(err)
	}
	if status == 0 || before != after {
		d.t.Fatalf("git push origin %v went through (exit status %d): %s\n%s", args, status, after, said)
	}
	if !strings.Contains(said, words) {
		d.t.Fatalf("git push origin %v was stopped without saying %q:\n%s", args, words, said)
	}
}

// guarded demands a guarded repository's behaviour: commits, merges and pushes that append pass, and those that rewrite do not. It needs
// main to be checked out, and an empty remote.
func (d *desk) guarded(only only) {
	d.t.Helper()
	d.commits()
	d.merges()
	d.pushes(only)
}

// only describes what a manager hides from the gate: docs/installation.md warns of it, and the tests see it.
type only struct {
	// firstRef is true if a push hook sees only the first ref of a push.
	firstRef bool
	// newCommits is true if a push hook does not see a push without new commits.
	newCommits bool
}

func (d *desk) commits() {
	d.t.Helper()
	d.entry()
	d.committed("commit", "-q", "-a", "-m", "append")
	d.rewrite()
	d.Git("add", progress)
	d.stopped("append-only/modified", "commit", "-m", "rewrite")
	d.rewrite()
	d.stopped("append-only/modified", "commit", "-a", "-m", "rewrite, not staged")
	d.rewrite()
	d.stopped("append-only/modified", "commit", "-m", "rewrite, a path", "--", progress)
	d.rewrite()
	d.stopped("append-only/modified", "commit", "-a", "--no-verify", "-m", "rewrite past pre-commit")
	d.Git("rm", "-q", progress)
	d.stopped("append-only/log-deleted", "commit", "-m", "remove the log")
	d.patches()
	d.Write("code.txt", d.read(progress))
	d.Git("add", "-A")
	d.committed("commit", "-q", "-m", "something else")
}

// patches has git am apply an edit of an old entry.
func (d *desk) patches() {
	d.t.Helper()
	head := d.ID("HEAD")
	d.rewrite()
	d.Git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-a", "-m", "past the hook")
	patches := d.t.TempDir()
	d.Git("format-patch", "-q", "-1", "-o", patches)
	d.Git("reset", "-q", "--hard", head)
	d.stopped("append-only/modified", "am", filepath.Join(patches, "0001-past-the-hook.patch"))
	d.Git("am", "--abort")
}

func (d *desk) merges() {
	d.t.Helper()
	d.Branch("side", "")
	d.entry()
	d.committed("commit", "-q", "-a", "-m", "append on the side")
	d.Switch("main")
	// Without a conflict: pre-merge-commit.
	d.stopped("divergence/lost-entry", "merge", "--no-edit", "-s", "ours", "side")
	d.committed("merge", "-q", "--no-edit", "--no-ff", "side")
	// With a conflict that is resolved for one side: pre-commit.
	d.Branch("left", "")
	d.entry()
	d.committed("commit", "-q", "-a", "-m", "append on the left")
	d.Switch("main")
	d.entry()
	d.committed("commit", "-q", "-a", "-m", "append on main")
	if said, status := d.run("git merge --no-edit left"); status == 0 {
		d.t.Fatalf("that was to be a conflict:\n%s", said)
	}
	d.Git("checkout", "-q", "--ours", progress)
	d.Git("add", "-A")
	d.stopped("divergence/lost-entry", "commit", "-m", "settled for one side")
}

func (d *desk) pushes(only only) {
	d.t.Helper()
	d.Branch("rewritten", "")
	d.rewrite()
	d.Git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-a", "-m", "past the hook")
	d.Switch("main")
	// The remote is empty and another branch is checked out.
	d.held("append-only/modified", "rewritten")
	d.pushed("main")
	d.held("append-only/modified", "rewritten")
	d.Switch("rewritten")
	d.held("append-only/modified", "rewritten")
	d.held("append-only/modified", "HEAD:main")
	d.Switch("main")
	d.entry()
	d.committed("commit", "-q", "-a", "-m", "append")
	d.pushed("main")
	if only.newCommits {
		d.pushed("--force", "main~1:main")
		d.pushed("main")
	} else {
		d.held("append-only/deleted", "--force", "main~1:main")
	}
	// Several refs, the first of which is harmless.
	d.Branch("harmless", "")
	d.Git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "nothing")
	d.Switch("main")
	if only.firstRef {
		d.pushed("harmless", "rewritten")
	} else {
		d.held("append-only/modified", "harmless", "rewritten")
		d.pushed("harmless")
	}
	d.pushed("--delete", "harmless")
}
