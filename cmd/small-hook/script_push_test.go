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

// remote NAME makes the empty bare repository NAME.git beside the current one
// and names it as a remote.
func addRemote(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: remote NAME")
	}
	dir := ts.MkAbs("../" + args[0] + ".git")
	ts.Check(ts.Exec("git", "init", "-q", "--bare", "-b", "main", dir))
	ts.Check(ts.Exec("git", "remote", "add", args[0], dir))
}

// pushed REPOSITORY COMMAND... runs a push that must pass: exit status 0, not a
// word on either stream, and some ref of the repository is another than it was.
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

// refused REPOSITORY COMMAND... runs a push that must be kept from the
// repository: exit status 1, words on standard error, and every ref is where it
// was. The script can look at the words afterwards.
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

// stopped REPOSITORY RULE demands that what the work tree holds is kept back for
// that rule at every door: by pre-commit, in a range, by pre-push, and by the
// repository's own pre-receive where somebody goes past pre-push; on its way to
// main and to a branch that is not there yet. The work tree is as HEAD has it
// afterwards.
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
	must("git", "commit", "-q", "--no-verify", "-m", "loosen and break")
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
