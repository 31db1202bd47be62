package install

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/lock"
)

// Uninstall removes our hooks from the repository around dir ("" is the current directory), and restores the earlier ones. A hook of ours
// that was edited stays, and the outcome is [NeedsManual]. It is idempotent.
//
// It looks both where git takes hooks from now and in the repository's own directory, since core.hooksPath may have been set after the
// installation.
func Uninstall(ctx context.Context, dir string) (result Result, err error) {
	repo, err := Locate(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	// Putting a hook back while another run replaces it could lose it.
	release, err := lock.Directory(ctx, repo.CommonDir, true)
	if err != nil {
		return Result{}, fileError("lock", repo.CommonDir, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	result = Result{Dir: repo.HooksDir, Outcome: Unchanged}
	dirs := []string{repo.HooksDir}
	if repo.redirected() {
		dirs = append(dirs, repo.OwnHooksDir)
	}
	for _, dir := range dirs {
		for _, hook := range allHooks() {
			if err := result.uninstall(dir, hook); err != nil {
				result.Outcome = Failed
				return result, err
			}
		}
	}
	return result, nil
}

// uninstall removes one of our hooks from a directory. If it is missing, that is reported only for the directory that git takes hooks from.
func (r *Result) uninstall(dir string, hook Name) error {
	path := filepath.Join(dir, string(hook))
	if err := sweep(dir, hook); err != nil {
		return err
	}
	places, err := placesOf(hook, path)
	if err != nil {
		return err
	}
	for _, place := range places {
		change, err := removeHook(hook, place, path, path+keptSuffix)
		if err != nil {
			return err
		}
		if change.Action != Absent || dir == r.Dir && place == path {
			r.Changes, r.Outcome = append(r.Changes, change), r.Outcome.After(change.Action)
		}
	}
	return nil
}

// placesOf lists where our hook may be: at its own path, and where a manager moved it. The kept hook returns to the first place with our
// hook, so the hook's own path is first if our hook is there.
func placesOf(hook Name, path string) ([]string, error) {
	file, err := readHook(path)
	if err != nil {
		return nil, err
	}
	var places []string
	for _, m := range managers {
		if aside := path + m.aside; m.aside != "" && !slices.Contains(places, aside) {
			places = append(places, aside)
		}
	}
	if recognise(hook, file.text) == ours {
		return slices.Insert(places, 0, path), nil
	}
	return append(places, path), nil
}

// removeHook removes the hook at place if it is ours, and moves the kept one there. The place is one of [placesOf] path.
func removeHook(hook Name, place, path, kept string) (HookChange, error) {
	change := HookChange{Hook: hook, Path: place, Action: Absent}
	// Read the kept hook first, to notice if another process puts it back meanwhile.
	before, err := readHook(kept)
	if err != nil {
		return change, err
	}
	file, err := readHook(place)
	if err != nil {
		return change, err
	}
	now, err := readHook(path)
	if err != nil {
		return change, err
	}
	// The kept hook is back if somebody restored it, or its manager wrote a newer one.
	again := before.exists && (before.same(now) || before.sameAuthor(now))
	switch recognise(hook, file.text) {
	case edited:
		change.Action, change.Note = Left, "it is small-gate's, but somebody edited it: delete it if it is not wanted"
		if before.exists {
			change.Kept, change.Note = kept, change.Note+", and rename the kept hook"
		}
	case ours:
		err = change.takeAway(file, before.exists && !again, kept)
	default:
		if place == path && before.exists {
			err = change.bringBack(file, again, kept)
		}
	}
	return change, err
}

// takeAway removes our shim, replacing it with the kept hook if that is wanted.
func (c *HookChange) takeAway(file hookFile, wanted bool, kept string) error {
	switch {
	case file.link || programIn(file.text) == "":
		c.Action, c.Note = Left, "it was put there by hand, not by "+ProgramName+" install"
		return nil
	case wanted:
		c.Action = Restored
		return putBack(kept, file.path)
	default:
		c.Action = Removed
		return remove(file.path)
	}
}

// bringBack handles a kept hook without a shim of ours.
func (c *HookChange) bringBack(file hookFile, again bool, kept string) error {
	switch {
	case !file.exists:
		c.Action = Restored
		return putBack(kept, file.path)
	case again:
		c.Action, c.Note = Removed, "only the copy at "+show(kept)+": the hook itself is back already"
		return remove(kept)
	default:
		c.Action, c.Kept = Left, kept
		c.Note = "this is somebody else's hook, and the one that was here before small-gate's is kept: choose one of them"
		return nil
	}
}
