package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/gittest"
)

// template is the repository that most scripts begin with: it is made once, and
// copied for each.
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
	ts.Check(copyTree(dir, template.dir))
	ts.Check(ts.Chdir(dir))
	ts.Check(ts.Exec("git", "update-index", "--refresh")) // the files are not those that git knows
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
	ts.Check(copyTree(dir, ts.Getenv("WORKSPACE")))
	ts.Check(ts.Chdir(dir))
	ts.Check(ts.Exec("small-hook", "install"))
	ts.Check(ts.Exec("git", "add", "-A"))
	accepted(ts, []string{"git", "commit", "-q", "-m", "start"})
	ts.Check(ts.Chdir(back))
	template.dir = dir
}

// copyTree copies a directory's files with all their permissions.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(at, 0o755)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, data, info.Mode().Perm())
	})
}
