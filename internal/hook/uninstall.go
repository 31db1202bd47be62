package hook

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
)

// Uninstall removes our hooks from the repository around dir ("" is the current directory), and puts back what was there before them. A
// hook of ours that somebody edited is left, and the outcome is [NeedsManual]. Done twice, it changes nothing.
//
// It looks both where git takes hooks from now and in the repository's own directory, since core.hooksPath may have been set after the
// installation.
func Uninstall(ctx context.Context, dir string) (result Result, err error) {
	repo, err := Locate(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	release, err := lock(ctx, repo)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	dirs := []string{repo.HooksDir}
	if repo.redirected() {
		dirs = append(dirs, repo.OwnHooksDir)
	}
	return removeAll(dirs)
}

// removeAll removes our hooks from several directories, of which the first is the one that counts.
func removeAll(dirs []string) (Result, error) {
	result := Result{Dir: dirs[0], Outcome: Unchanged}
	for i, dir := range dirs {
		if err := removeFrom(dir, &result, i == 0); err != nil {
			result.Outcome = Failed
			return result, err
		}
	}
	return result, nil
}

// removeFrom removes our hooks from one directory. What is absent is reported only if asked.
func removeFrom(dir string, result *Result, reportAbsent bool) error {
	for _, hook := range append(allHooks(), PrepareCommitMsg) {
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
			if change.Action != Absent || reportAbsent && place == path && hook != PrepareCommitMsg {
				result.record(change)
			}
		}
	}
	return nil
}

// placesOf lists where a hook of ours may be: its own path, and where a manager moved it. The kept hook goes back to the first place where
// ours is, so the hook's own path is first if ours is there.
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

// record adds a change to the result and lets it decide about the outcome.
func (r *Result) record(change Change) {
	r.Changes = append(r.Changes, change)
	switch {
	case change.Action == Left:
		r.Outcome = NeedsManual
	case change.Action != Absent && r.Outcome == Unchanged:
		r.Outcome = Changed
	}
}

// removeHook takes away the hook at place if it is ours, and puts the kept one there. The place is one of [placesOf] path.
func removeHook(hook Name, place, path, kept string) (Change, error) {
	change := Change{Hook: hook, Path: place, Action: Absent}
	// The kept hook first: whoever puts it back in the meantime is then seen.
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
	// The kept hook stands in its place again if somebody put it there, or its manager a newer one.
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

// takeAway removes a shim of ours, by putting the kept hook in its place if that is wanted.
func (c *Change) takeAway(file hookFile, wanted bool, kept string) error {
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

// bringBack deals with a kept hook where there is no shim of ours any more.
func (c *Change) bringBack(file hookFile, again bool, kept string) error {
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
