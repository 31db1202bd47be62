package main

import (
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// template is the repository that most scripts begin with, made once and copied for each.
var template struct {
	sync.Mutex
	dir string // empty until it is made
}

// repository DIR makes a repository with the hooks installed and the valid
// workspace in its first commit, and goes there.
func repository(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: repository DIR")
	}
	dir := ts.MkAbs(args[0])
	makeTemplate(ts)
	ts.Check(gittest.CopyTree(dir, template.dir))
	ts.Check(ts.Chdir(dir))
	ts.Check(ts.Exec("git", "update-index", "--refresh")) // the copied files have new inodes and times
}

func makeTemplate(ts *testscript.TestScript) {
	template.Lock()
	defer template.Unlock()
	if template.dir != "" {
		return
	}
	back := ts.MkAbs(".")
	dir, err := gittest.HeldDir()
	ts.Check(err)
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main", dir))
	ts.Check(gittest.CopyTree(dir, ts.Getenv("WORKSPACE")))
	ts.Check(ts.Chdir(dir))
	ts.Check(ts.Exec("small-hook", "install"))
	ts.Check(ts.Exec("git", "add", "-A"))
	accepted(ts, []string{"git", "commit", "-q", "-m", "start"})
	ts.Check(ts.Chdir(back))
	template.dir = dir
}
