package main

import (
	"fmt"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// init adds what scripts about reconciled logs need to the commands of all
// scripts.
func init() {
	commands["record"] = plainly(record)
	commands["team"] = plainly(team)
}

// team [driver] makes a bare repository, origin.git, and two clones of it, a and b, with hooks and optionally the merge driver, and with a
// workspace of three tasks that the protocol's own program made and started.
func team(ts *testscript.TestScript, args []string) {
	driver := len(args) == 1 && args[0] == "driver"
	run := func(command ...string) {
		if err := ts.Exec(command[0], command[1:]...); err != nil {
			ts.Fatalf("%v: %v", command, err)
		}
	}
	run("git", "init", "-q", "--bare", "-b", "main", "origin.git")
	run("git", "clone", "-q", "origin.git", "a")
	ts.Check(ts.Chdir("a"))
	run("git", "symbolic-ref", "HEAD", "refs/heads/main")
	run("small", "init", "--intent", "a resumable importer")
	for _, title := range []string{"Read the export", "Write checkpoints"} {
		run("small", "plan", "--add", title)
	}
	run("small", "start", "--fix")
	run("small", "start")
	if driver {
		run("small-hook", "install", "--merge-driver")
	}
	run("git", "add", "-A")
	run("git", "commit", "-q", "-m", "Start")
	run("git", "push", "-q", "-u", "origin", "main")
	run("git", "clone", "-q", "../origin.git", "../b")
	for _, clone := range []string{"../a", "../b"} {
		ts.Check(ts.Chdir(clone))
		run("small-hook", "install")
		if driver {
			run("small-hook", "install", "--merge-driver")
		}
	}
	ts.Check(ts.Chdir(".."))
}

// record FILE TASK EVIDENCE appends an entry with the current time, which is later than any that reconcile has written.
func record(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: record FILE TASK EVIDENCE")
	}
	text := fmt.Sprintf("  - task_id: %q\n    timestamp: %q\n    status: \"completed\"\n    evidence: %q\n",
		args[1], time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z"), args[2])
	write(ts, args[0], ts.ReadFile(args[0])+text)
}
