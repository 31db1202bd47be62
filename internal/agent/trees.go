package agent

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	agentnotes "github.com/small-gate/small-gate/internal/agent/notes"
	"github.com/small-gate/small-gate/internal/base/failure"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// copyNotesFromOtherTree copies the notes on a session from another work tree of the repository, if the session is unknown here.
func (w *watch) copyNotesFromOtherTree(place githistory.Place) error {
	if w.event.Session == "" || w.notes.Knows(w.id) {
		return nil // an event without an id may belong to any session
	}
	others, err := otherDotGits(place)
	if err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(others)) {
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
	others, err := otherDotGits(place)
	if err != nil || len(others) == 0 {
		return nil, err
	}
	trees, err := agentnotes.TreesIn(place.CommonDir)
	if err != nil {
		return nil, errListingTrees(err)
	}
	before := w.notes.Sessions[w.id].Trees
	for _, dir := range slices.Sorted(maps.Keys(others)) {
		notes, err := agentnotes.Read(agentnotes.In(dir))
		if err != nil {
			return nil, err
		}
		name := filepath.Base(dir)
		was, old := before[name]
		if fresh := before != nil && dir != place.CommonDir && (!old || was != trees[name]); !notes.Knows(w.id) && (!fresh || len(notes.Sessions) > 0) {
			continue
		}
		top, err := topOf(others[dir])
		if err != nil {
			return nil, err
		}
		if top != "" {
			tops = append(tops, top)
		}
	}
	return tops, nil
}

// otherDotGits is githistory.DotGits for the work trees other than that of a place.
func otherDotGits(place githistory.Place) (map[string]string, error) {
	all, err := githistory.DotGits(place.CommonDir)
	if err != nil {
		return nil, errListingTrees(err)
	}
	delete(all, place.GitDir)
	return all, nil
}

// topOf returns the root of the work tree with a .git; empty if it was deleted, and for the git directory of a bare repository or of one whose main work
// tree is elsewhere, as a submodule's.
func topOf(dotGit string) (string, error) {
	if filepath.Base(dotGit) != ".git" {
		return "", nil
	}
	_, err := os.Lstat(dotGit)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", errListingTrees(err)
	}
	return filepath.Dir(dotGit), nil
}

func errListingTrees(err error) error {
	return &failure.Error{Message: "cannot look for the repository's work trees: " + err.Error(), Remedy: "make the git directory readable", Err: err}
}
