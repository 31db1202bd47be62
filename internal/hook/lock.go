package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// locked keeps other runs of this program from changing hooks. The zero value holds nothing.
type locked struct{ places []*os.File }

// lock waits until no other run changes the hooks of the directories, and keeps others out until release. What one run found
// would otherwise be changed by another one before it acts upon it, and the hook that was there before could be lost.
//
// The lock is on the directory around each, since the directory itself may not be there yet. It leaves no file, and ends with the
// process. Where the system or the file system knows no such locks, or the directory must not be read, there is none.
func lock(dirs ...string) (*locked, error) {
	var around []string
	for _, dir := range dirs {
		at := filepath.Dir(dir)
		for !isDir(at) && at != filepath.Dir(at) {
			at = filepath.Dir(at)
		}
		around = append(around, at)
	}
	slices.Sort(around) // everybody in the same order: nobody waits for the other
	l := &locked{}
	for _, dir := range around {
		if err := l.add(dir); err != nil {
			return nil, errors.Join(fileError("lock", dir, err), l.release())
		}
	}
	return l, nil
}

// add locks one directory, unless it is locked already by this process, maybe under another name.
func (l *locked) add(dir string) error {
	place, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := place.Stat()
	if err != nil {
		return errors.Join(err, place.Close())
	}
	held := slices.ContainsFunc(l.places, func(other *os.File) bool {
		known, err := other.Stat()
		return err == nil && os.SameFile(info, known)
	})
	if held {
		return place.Close()
	}
	if err := exclusive(place); err != nil {
		return errors.Join(err, place.Close())
	}
	l.places = append(l.places, place)
	return nil
}

// release lets others in.
func (l *locked) release() error {
	var errs []error
	for _, place := range l.places {
		errs = append(errs, place.Close())
	}
	return errors.Join(errs...)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeDir != 0
}
