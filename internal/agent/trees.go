package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	agentnotes "github.com/small-gate/small-gate/internal/agent/notes"
	"github.com/small-gate/small-gate/internal/base/failure"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// copyNotesFromOtherTree copies the notes on a session from another work tree of the repository, if the session is unknown here.
func (w *watch) copyNotesFromOtherTree(place githistory.Place) error {
	if w.event.Session == "" || w.notes.Knows(w.id) {
		return nil // an event without an id may belong to any session
	}
	all, err := gitDirs(place.CommonDir)
	if err != nil {
		return err
	}
	for _, dir := range all {
		if dir == place.GitDir {
			continue
		}
		there, err := agentnotes.Read(agentnotes.In(dir))
		if err != nil {
			return err
		}
		if there.Knows(w.id) {
			w.notes.CopySession(w.id, there)
			return nil
		}
	}
	return nil
}

// otherTrees returns the roots of the repository's other work trees in which the session has been, or that were made since it began and in which no other
// session has been: an agent may make a work tree and commit there in one shell command.
func (w *watch) otherTrees(place githistory.Place) (tops []string, err error) {
	if w.event.Session == "" {
		return nil, nil
	}
	all, err := gitDirs(place.CommonDir)
	if err != nil || len(all) == 1 {
		return nil, err
	}
	trees, err := agentnotes.TreesIn(place.CommonDir)
	if err != nil {
		return nil, errListingTrees(err)
	}
	before := w.notes.Sessions[w.id].Trees
	for _, dir := range all {
		if dir == place.GitDir {
			continue
		}
		notes, err := agentnotes.Read(agentnotes.In(dir))
		if err != nil {
			return nil, err
		}
		name := filepath.Base(dir)
		was, old := before[name]
		if fresh := before != nil && dir != place.CommonDir && (!old || was != trees[name]); !notes.Knows(w.id) && (!fresh || len(notes.Sessions) > 0) {
			continue
		}
		top, err := topOf(place.CommonDir, dir)
		if err != nil {
			return nil, err
		}
		if top != "" {
			tops = append(tops, top)
		}
	}
	return tops, nil
}

// gitDirs returns the git directories of a repository's work trees (gitrepository-layout(5)), the common one first.
func gitDirs(common string) ([]string, error) {
	trees, err := agentnotes.TreesIn(common)
	if err != nil {
		return nil, errListingTrees(err)
	}
	dirs := []string{common}
	for name := range trees {
		dirs = append(dirs, filepath.Join(common, "worktrees", name))
	}
	slices.Sort(dirs[1:])
	return dirs, nil
}

// topOf returns the root of the work tree with a git directory; empty if it was deleted, or if the repository is bare.
func topOf(common, gitDir string) (string, error) {
	dotGit := common
	if gitDir != common {
		text, err := os.ReadFile(filepath.Join(gitDir, "gitdir"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", errListingTrees(err)
		}
		dotGit = githistory.Within(gitDir, strings.TrimRight(string(text), "\r\n"))
	}
	if filepath.Base(dotGit) != ".git" {
		return "", nil // a bare repository
	}
	_, err := os.Lstat(dotGit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil // a work tree that was deleted stays listed until git worktree prune
	case err != nil:
		return "", errListingTrees(err)
	}
	return filepath.Dir(dotGit), nil
}

func errListingTrees(err error) error {
	return &failure.Error{Message: "cannot look for the repository's work trees: " + err.Error(), Remedy: "make the git directory readable", Err: err}
}
