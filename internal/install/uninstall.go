package install

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Uninstall removes our hooks from the repository around dir ("" is the current directory), and restores the earlier ones. A hook of ours
// that was edited stays, and the outcome is [NeedsManualSteps]. Uninstall is idempotent.
//
// Uninstall searches the directory that git takes hooks from now and the repository's own hooks directory, since core.hooksPath may have been set
// after the installation.
func Uninstall(ctx context.Context, dir string) (result Result, err error) {
	repo, err := Locate(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	// Two processes that replace and restore one hook at the same time could lose it.
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
			if err := result.uninstallHook(dir, hook); err != nil {
				result.Outcome = Failed
				return result, err
			}
		}
	}
	return result, nil
}

// uninstallHook removes our hook from dir and adds the change to r. If dir has none, it adds a change only if git takes hooks from dir.
func (r *Result) uninstallHook(dir string, hook Name) error {
	path := filepath.Join(dir, string(hook))
	if err := removeTemporaryFiles(dir, hook); err != nil {
		return err
	}
	places, err := possiblePlaces(hook, path)
	if err != nil {
		return err
	}
	for _, place := range places {
		change, err := removeHook(hook, place, path, path+keptSuffix)
		if err != nil {
			return err
		}
		if change.Action != Absent || dir == r.Dir && place == path {
			r.add(change)
		}
	}
	return nil
}

// possiblePlaces lists the paths at which our hook may be: path, and the paths to which a manager may have moved the hook. Uninstall puts the kept
// hook at the first of them that has our hook, so path comes first if our hook is there, otherwise last.
func possiblePlaces(hook Name, path string) ([]string, error) {
	file, err := readHook(path)
	if err != nil {
		return nil, err
	}
	var places []string
	for _, m := range managers {
		if aside := path + m.asideSuffix; m.asideSuffix != "" && !slices.Contains(places, aside) {
			places = append(places, aside)
		}
	}
	if originOf(hook, file.text) == ours {
		return slices.Insert(places, 0, path), nil
	}
	return append(places, path), nil
}

// removeHook removes the hook at place if it is ours, and moves the hook at kept to place. place is one of possiblePlaces(hook, path). The action is
// [Absent] if there was nothing to do.
func removeHook(hook Name, place, path, kept string) (HookChange, error) {
	change := HookChange{Hook: hook, Path: place, Action: Absent}
	// Read the kept hook first, to notice if another process puts it back meanwhile.
	keptFile, err := readHook(kept)
	if err != nil {
		return change, err
	}
	file, err := readHook(place)
	if err != nil {
		return change, err
	}
	current, err := readHook(path)
	if err != nil {
		return change, err
	}
	// The kept hook is back if somebody restored it, or its manager wrote a newer hook.
	alreadyBack := keptFile.exists && (keptFile.isCopyOf(current) || keptFile.hasSameManager(current))
	switch originOf(hook, file.text) {
	case edited:
		change.Action, change.Note = LeftAlone, "it is small-gate's hook, but somebody edited it: delete it if you do not want it"
		if keptFile.exists {
			change.Kept, change.Note = kept, change.Note+", and rename the kept hook to "+string(hook)
		}
	case ours:
		err = change.removeShim(file, keptFile.exists && !alreadyBack, kept)
	default:
		if place == path && keptFile.exists {
			err = change.handleKeptAlone(file, alreadyBack, kept)
		}
	}
	return change, err
}

// removeShim removes file, our shim, or replaces it with the hook at kept if restore is true. It leaves a shim that a person put there.
func (c *HookChange) removeShim(file hookFile, restore bool, kept string) error {
	switch {
	case file.link || programIn(file.text) == "":
		c.Action, c.Note = LeftAlone, "it was put there by hand, not by "+ProgramName+" install"
		return nil
	case restore:
		c.Action = Restored
		return putBack(kept, file.path)
	default:
		c.Action = Removed
		return removeFile(file.path)
	}
}

// handleKeptAlone puts the hook at kept back, removes it or leaves it. file, which is in its place, is not our shim.
func (c *HookChange) handleKeptAlone(file hookFile, alreadyBack bool, kept string) error {
	switch {
	case !file.exists:
		c.Action = Restored
		return putBack(kept, file.path)
	case alreadyBack:
		c.Action, c.Note = Removed, "only the kept copy at "+wording.Printable(kept)+" was removed: the hook itself is in its place already"
		return removeFile(kept)
	default:
		c.Action, c.Kept = LeftAlone, kept
		c.Note = "this hook is not small-gate's, and the hook that was here before small-gate's is still kept: delete one of them"
		return nil
	}
}
