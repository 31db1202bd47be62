package install

import (
	"errors"
	"io/fs"
	"os"

	"github.com/small-gate/small-gate/internal/base/wholefile"
)

const hookMode fs.FileMode = 0o755 // like git's own samples

// hookFile is a hook's file as found.
type hookFile struct {
	path     string
	exists   bool   // also for a broken link
	link     bool   // a symbolic one
	runnable bool   // by git
	text     string // of the file or the link's target
	mode     fs.FileMode
}

// readHook reads a hook's file. Its only errors are an existing file that cannot be read, and a directory of that name.
func readHook(path string) (hookFile, error) {
	file := hookFile{path: path}
	info, err := os.Lstat(path)
	if err == nil {
		file.exists, file.link = true, info.Mode()&fs.ModeSymlink != 0
		info, err = os.Stat(path)
	}
	switch {
	case missing(err) && (!file.exists || file.link):
		return file, nil
	case err != nil:
		return file, fileError("look at", path, err)
	case !info.Mode().IsRegular():
		return file, failed(show(path)+" is not a file", "Move it away, then run the command again.", nil)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return file, fileError("read", path, err)
	}
	file.runnable, file.text, file.mode = executable(info), string(content), info.Mode().Perm()
	return file, nil
}

// same reports whether two hooks are equal in everything that keeping one saves.
func (f hookFile) same(other hookFile) bool {
	return f.exists && other.exists && f.link == other.link && f.runnable == other.runnable && f.text == other.text
}

// writeHook writes content to path atomically: at any time it has the whole old file or the whole new one, executable.
func writeHook(path string, content []byte, mode fs.FileMode) error {
	return fileError("write", path, wholefile.Replace(path, content, mode))
}

// sweep removes the temporary files for hook that a killed process left in dir.
func sweep(dir string, hook Name) error {
	err := wholefile.Sweep(dir, string(hook), string(hook)+keptSuffix)
	if missing(err) {
		return nil
	}
	return fileError("sweep", dir, err)
}

// sameAuthor reports whether one manager wrote both hooks, so that the newer one replaces both.
func (f hookFile) sameAuthor(other hookFile) bool {
	writer := writerOf(f.text)
	return writer != nil && writer == writerOf(other.text)
}

// keep makes the hook at file.path available at kept as well, and leaves it in place: a process killed after this has lost nothing. A link
// stays a link with the same target; a file gets a second hard link, or a copy if the file system or the system's rules forbid that. A kept
// hook is never overwritten, unless it is an older one of the same manager.
func keep(file hookFile, kept string) error {
	there, err := readHook(kept)
	if err != nil {
		return err
	}
	switch {
	case there.same(file):
		return nil // an interrupted installation got this far, or another one is running
	case there.exists && !there.sameAuthor(file):
		return keptAlready(file.path, kept)
	case file.link:
		var target string
		if target, err = os.Readlink(file.path); err == nil && there.exists {
			err = os.Remove(kept)
		}
		if err == nil {
			err = os.Symlink(target, kept)
		}
	case there.exists:
		return writeHook(kept, []byte(file.text), file.mode)
	default:
		if err = os.Link(file.path, kept); err != nil && !errors.Is(err, fs.ErrExist) {
			return writeHook(kept, []byte(file.text), file.mode)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return keptAlready(file.path, kept)
	}
	return fileError("keep the hook as", kept, err)
}

func keptAlready(path, kept string) error {
	return failed("there is a hook at "+show(path)+" and an older one is kept at "+show(kept), "Only one can be kept. Move one of the two away, then run the command again.", nil)
}

// putBack moves the kept hook to its old place atomically, replacing what is there.
func putBack(kept, path string) error { return fileError("put back", path, os.Rename(kept, path)) }

func remove(path string) error { return fileError("remove", path, os.Remove(path)) }
