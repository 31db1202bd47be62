package install

import (
	"errors"
	"io/fs"
	"os"

	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
)

const hookMode fs.FileMode = 0o755 // like git's own samples

// maxConfig is how much is read of a file that somebody else wrote, in bytes: a link in a repository may lead to a device without an end.
const maxConfig = 16 << 20

// hookFile is what readHook found at path. Here, a link means a symbolic link.
type hookFile struct {
	path     string
	exists   bool        // true for a broken link too
	link     bool        // there is a link at path
	runnable bool        // the file's mode lets git run it, or another user's git
	text     string      // of the file, or of the link's target; empty if that does not exist
	mode     fs.FileMode // the permission bits of the same file
}

// readHook reads a hook's file. A missing file, or the missing target of a link, is no error; anything but an ordinary file is.
func readHook(path string) (hookFile, error) {
	file := hookFile{path: path}
	info, err := os.Lstat(path)
	if err == nil {
		file.exists, file.link = true, info.Mode()&fs.ModeSymlink != 0
		info, err = os.Stat(path)
	}
	switch {
	case doesNotExist(err) && (!file.exists || file.link):
		return file, nil
	case err != nil:
		return file, fileError("inspect", path, err)
	case !info.Mode().IsRegular():
		return file, newError(wording.Printable(path)+" is not an ordinary file", "Move it away, then run the command again.", nil)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return file, fileError("read", path, err)
	}
	file.runnable, file.text, file.mode = executable(info), string(content), info.Mode().Perm()
	return file, nil
}

// isCopyOf reports whether both files exist and differ at most in their paths, and in permission bits other than the executable one.
func (f hookFile) isCopyOf(other hookFile) bool {
	return f.exists && other.exists && f.link == other.link && f.runnable == other.runnable && f.text == other.text
}

// writeHook writes content to path atomically: at any time the whole old file or the whole new one is there.
func writeHook(path string, content []byte, mode fs.FileMode) error {
	return fileError("write", path, wholefile.Replace(path, content, mode))
}

// removeTemporaryFiles removes the temporary files for hook that a killed process left in dir.
func removeTemporaryFiles(dir string, hook Name) error {
	err := wholefile.Sweep(dir, string(hook), string(hook)+keptSuffix)
	if doesNotExist(err) {
		return nil
	}
	return fileError("remove temporary files in", dir, err)
}

// hasSameManager reports whether one manager wrote both hooks. Then nobody needs the older hook.
func (f hookFile) hasSameManager(other hookFile) bool {
	writer := writerOf(f.text)
	return writer != nil && writer == writerOf(other.text)
}

// keepHook gives the hook at file.path a second name, kept, and does not remove the first, so that a process killed afterwards loses nothing. For
// a link it makes a link with the same target; for a file, a hard link, or a copy if the system refuses that. It overwrites a kept hook only if the
// same manager wrote both, and returns an error if it may not.
func keepHook(file hookFile, kept string) error {
	existing, err := readHook(kept)
	if err != nil {
		return err
	}
	switch {
	case existing.isCopyOf(file):
		return nil // an interrupted or a concurrent installation has kept the hook
	case existing.exists && !existing.hasSameManager(file):
		return alreadyKeptError(file.path, kept)
	case file.link:
		var target string
		if target, err = os.Readlink(file.path); err == nil && existing.exists {
			err = os.Remove(kept)
		}
		if err == nil {
			err = os.Symlink(target, kept)
		}
	case existing.exists:
		return writeHook(kept, []byte(file.text), file.mode)
	default:
		if err = os.Link(file.path, kept); err != nil && !errors.Is(err, fs.ErrExist) {
			return writeHook(kept, []byte(file.text), file.mode)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return alreadyKeptError(file.path, kept)
	}
	return fileError("keep the hook as", kept, err)
}

// alreadyKeptError returns the error for two earlier hooks, at path and at kept.
func alreadyKeptError(path, kept string) error {
	return newError("there is a hook at "+wording.Printable(path)+", and an older one is kept at "+wording.Printable(kept), "Small-gate can keep only one. Move one of the two away, then run the command again.", nil)
}

// putBack moves the kept hook to path atomically, replacing the file there.
func putBack(kept, path string) error { return fileError("put back", path, os.Rename(kept, path)) }

func removeFile(path string) error { return fileError("remove", path, os.Remove(path)) }
