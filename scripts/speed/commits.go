package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// commitOf measures a commit of the changes since the last one, with the hooks that install sets up and without.
func commitOf(make func(b *bench) (*world, error), change func(w *world, n int) error) func(b *bench) (*world, measure, error) {
	return func(b *bench) (*world, measure, error) {
		w, err := make(b)
		if err != nil {
			return nil, nil, err
		}
		return w, b.commits(w, change), nil
	}
}

// commits measures a commit of the next change.
func (b *bench) commits(w *world, change func(w *world, n int) error) measure {
	return b.besideHooks(w, []string{"commit", "-q", "-a", "-m", "measured"}, func() error {
		w.changes++
		return change(w, w.changes)
	})
}

// changeCode changes a file outside any workspace.
func changeCode(w *world, n int) error {
	return os.WriteFile(filepath.Join(w.dir, "importer", "part8.go"), fmt.Appendf(nil, "package importer\n\nconst part8 = %d\n", n), 0o600)
}

// appendEntry appends the n-th entry, and some more, to the log.
func appendEntry(w *world, n int) error { return appendLog(w.dir, entry(100_000+n)) }

func appendLog(dir, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, logFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// besideHooks measures a git command with the hooks of a program and, for the limit, without any. It calls before before each run.
func (b *bench) besideHooks(w *world, args []string, before func() error) measure {
	return func(program string) (sample, error) {
		hooks, err := b.hooks(program)
		if err != nil {
			return sample{}, err
		}
		if err := before(); err != nil {
			return sample{}, err
		}
		// Not with git -c: with git's variable for that, go-git leaves the repository to git.
		if _, err := b.git(w.dir, "config", "core.hooksPath", hooks); err != nil {
			return sample{}, err
		}
		return b.run(command{args: append([]string{"git"}, args...), dir: w.dir})
	}
}

// hooks is a folder with a program's hooks, or an empty one without a program.
func (b *bench) hooks(program string) (string, error) {
	name := "hooks-none"
	switch program {
	case "":
	case b.old:
		name = "hooks-old"
	default:
		name = "hooks-new"
	}
	dir := filepath.Join(b.dir, name)
	hooks := filepath.Join(dir, ".git", "hooks")
	if _, err := os.Stat(hooks); err == nil {
		return hooks, nil
	}
	if _, err := b.git(b.dir, "init", "-q", "--template=", dir); err != nil {
		return "", err
	}
	if program == "" {
		return hooks, os.Mkdir(hooks, 0o700)
	}
	_, err := b.output(dir, program, "install")
	return hooks, err
}

// beside measures a commit of an entry in a repository with other work trees, against the same with fewer. Before each, that many of the
// others commit an entry on a task of their own.
func beside(trees, fewer, moving int) func(b *bench) (*world, measure, error) {
	return func(b *bench) (*world, measure, error) {
		w, err := b.besideTrees(1_206, trees)
		if err != nil {
			return nil, nil, err
		}
		less, err := b.besideTrees(1_206, fewer)
		if err != nil {
			return nil, nil, err
		}
		commit := func(w *world, n int) error {
			for i := range min(moving, len(w.others)) {
				other := w.others[(n*moving+i)%len(w.others)]
				if err := appendLog(other, othersEntry(200_000+n)); err != nil {
					return err
				}
				if err := b.commitOther(other); err != nil {
					return err
				}
			}
			return appendEntry(w, n)
		}
		ours, limit := b.commits(w, commit), b.commits(less, commit)
		return w, func(program string) (sample, error) {
			if program == "" {
				return limit(b.binary)
			}
			return ours(program)
		}, nil
	}
}

// besideTrees is a repository as made by appended, with other work trees in which somebody has recorded work on other tasks.
func (b *bench) besideTrees(entries, trees int) (*world, error) {
	name := fmt.Sprintf("trees-%d-%d", entries, trees)
	if w := b.worlds[name]; w != nil {
		return w, nil
	}
	w, err := b.world(name, func(s *script) (int64, error) {
		s.commit(0)
		return 0, s.start(logHead + entry(0))
	})
	if err != nil {
		return nil, err
	}
	if _, err := b.commitLog(w, 0, entries); err != nil {
		return nil, err
	}
	for i := range trees {
		dir := filepath.Join(b.dir, fmt.Sprintf("%s-%d", name, i))
		if _, err := b.git(w.dir, "worktree", "add", "-q", "-b", fmt.Sprintf("agent-%d", i), dir); err != nil {
			return nil, err
		}
		if err := appendLog(dir, othersEntry(entries+i)); err != nil {
			return nil, err
		}
		if err := b.commitOther(dir); err != nil {
			return nil, err
		}
		w.others = append(w.others, dir)
	}
	return w, nil
}

// othersEntry is an entry on a task that nobody else works on.
func othersEntry(i int) string {
	return strings.Replace(entry(i), "task_id: task-", "task_id: other-", 1)
}

// commitOther commits the log of a work tree without the gate, which the whole repository may have.
func (b *bench) commitOther(dir string) error {
	_, err := b.git(dir, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "the log", "--", logFile)
	return err
}

// preparePush pushes five commits of one entry each, and then removes them from the server.
func preparePush(b *bench) (*world, measure, error) {
	w, err := b.grown(1_206, 25, 5)
	if err != nil {
		return nil, nil, err
	}
	dir, err := b.server("server-of-five", w)
	if err != nil {
		return nil, nil, err
	}
	if _, err := b.git(w.dir, "remote", "add", "origin", dir); err != nil {
		return nil, nil, err
	}
	base, err := b.git(w.dir, "rev-parse", "base")
	if err != nil {
		return nil, nil, err
	}
	return w, b.besideHooks(w, []string{"push", "-q", "origin", "main"}, func() error {
		_, here := b.git(w.dir, "update-ref", "refs/remotes/origin/main", "base")
		_, there := b.git(dir, "update-ref", "refs/heads/main", strings.TrimSpace(base))
		return errors.Join(here, there)
	}), nil
}
