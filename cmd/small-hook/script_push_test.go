package main

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// init adds what scripts about pushes need to the commands of all scripts.
func init() {
	commands["remote"] = plainly(addRemote)
	commands["pushed"] = plainly(pushed)
	commands["refused"] = plainly(refused)
	commands["let"] = plainly(let)
	commands["value"] = plainly(value)
	commands["stopped"] = plainly(stopped)
}

// remote NAME makes the empty bare repository NAME.git beside the current one and adds it as a remote.
func addRemote(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: remote NAME")
	}
	dir := ts.MkAbs("../" + args[0] + ".git")
	ts.Check(ts.Exec("git", "init", "-q", "--bare", "-b", "main", dir))
	ts.Check(ts.Exec("git", "remote", "add", args[0], dir))
}

// pushed REPOSITORY COMMAND... runs a push that must pass: exit status 0, no output, and some ref of the repository has changed.
func pushed(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: pushed REPOSITORY COMMAND [ARGUMENT...]")
	}
	before := refsOf(ts, args[0])
	code := exitStatus(ts, args[1:])
	said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	if code != 0 || said != "" {
		ts.Fatalf("it was to pass in silence (exit status %d)", code)
	}
	if refsOf(ts, args[0]) == before {
		ts.Fatalf("the refs of %s are what they were:\n%s", args[0], before)
	}
}

// refused REPOSITORY COMMAND... runs a push that the repository must refuse: exit status 1, a message on standard error, and every ref
// unchanged. The script can look at the message afterwards.
func refused(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: refused REPOSITORY COMMAND [ARGUMENT...]")
	}
	before := refsOf(ts, args[0])
	code := exitStatus(ts, args[1:])
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if code != 1 {
		ts.Fatalf("exit status %d, not 1", code)
	}
	if stderr == "" {
		ts.Fatalf("not a word on standard error")
	}
	if after := refsOf(ts, args[0]); after != before {
		ts.Fatalf("the refs of %s were\n%sand are\n%s", args[0], before, after)
	}
	_, err := ts.Stdout().Write([]byte(stdout))
	ts.Check(err)
	_, err = ts.Stderr().Write([]byte(stderr))
	ts.Check(err)
}

// stopped REPOSITORY RULE demands that the rule rejects the contents of the work tree everywhere: in pre-commit, in a range, in pre-push,
// and in the repository's pre-receive if pre-push is bypassed; both for main and for a new branch. Afterwards the work tree matches HEAD.
func stopped(ts *testscript.TestScript, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: stopped REPOSITORY RULE")
	}
	must := func(command ...string) { ts.Check(ts.Exec(command[0], command[1:]...)) }
	mustNot := func(command ...string) {
		code := exitStatus(ts, command)
		if said := ts.ReadFile("stdout") + ts.ReadFile("stderr"); code != 1 || !strings.Contains(said, "error ["+args[1]+"]") {
			ts.Fatalf("%q was to be kept back for %s and ended with %d", command, args[1], code)
		}
	}
	before := refsOf(ts, args[0])
	must("git", "add", "-A")
	mustNot("git", "commit", "-q", "-m", "loosen and break")
	must("git", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "loosen and break")
	mustNot("small-hook", "range", "HEAD~1..HEAD")
	for _, target := range []string{"HEAD:refs/heads/main", "HEAD:refs/heads/new"} {
		mustNot("git", "push", "-q", "origin", target)
		mustNot("git", "push", "-q", "--no-verify", "origin", target)
	}
	must("git", "reset", "-q", "--hard", "HEAD~1")
	if after := refsOf(ts, args[0]); after != before {
		ts.Fatalf("the refs of %s were\n%sand are\n%s", args[0], before, after)
	}
}

// refsOf lists all refs of a repository.
func refsOf(ts *testscript.TestScript, dir string) string {
	ts.Check(ts.Exec("git", "--git-dir", ts.MkAbs(dir), "for-each-ref"))
	return ts.ReadFile("stdout")
}

// let NAME COMMAND... runs a command, which must succeed, and keeps what it
// prints as a variable.
func let(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: let NAME COMMAND [ARGUMENT...]")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// value NAME FILE PATH keeps one value of a JSON document as a variable; the
// path is written as for json.
func value(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: value NAME FILE PATH")
	}
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &doc))
	text, err := lookUp(doc, args[2])
	ts.Check(err)
	ts.Setenv(args[0], text)
}
