package hook

import (
	"errors"
	"io/fs"
	"os"

	"github.com/small-gate/small-gate/internal/wholefile"
)

const hookMode fs.FileMode = 0o755 // as git's own samples

// hookFile is a hook's file as it was found.
type hookFile struct {
	path     string
	exists   bool   // or is a link that leads nowhere
	link     bool   // a symbolic one
	runnable bool   // by git
	text     string // of the file or of what the link leads to
	mode     fs.FileMode
}

// readHook looks at a hook's file. Only an existing file that cannot be read is an error, and a directory of that name.
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

// same reports whether two hooks are alike in all that keeping one beside the other saves.
func (f hookFile) same(other hookFile) bool {
	return f.exists && other.exists && f.link == other.link && f.runnable == other.runnable && f.text == other.text
}

// writeHook puts content at path in one step: there is the old file or the new one, never half of one, never a new one that cannot be
// run yet.
func writeHook(path string, content []byte, mode fs.FileMode) error {
	if err := wholefile.Replace(path, content, mode); err != nil {
		return fileError("write", path, err)
	}
	return nil
}

// sweep removes the temporary files for hook that a killed process left in dir.
func sweep(dir string, hook Name) error {
	if err := wholefile.Sweep(dir, string(hook), string(hook)+keptSuffix); err != nil && !missing(err) {
		return fileError("sweep", dir, err)
	}
	return nil
}

// sameAuthor reports whether both hooks were written by one manager, so that the newer one stands for both.
func (f hookFile) sameAuthor(other hookFile) bool {
	writer := writerOf(f.text)
	return writer != nil && writer == writerOf(other.text)
}

// keep makes the hook at file.path available at kept as well, and leaves it where it is: whoever is killed after this has lost
// nothing. A link stays a link with the same target; a file becomes a second name of the same file, or a copy where the file system
// or the system's rules do not allow that. What is kept already is never overwritten, unless it is an older hook of the same manager.
func keep(file hookFile, kept string) error {
	there, err := readHook(kept)
	if err != nil {
		return err
	}
	switch {
	case there.same(file):
		return nil // an interrupted installation came as far as this, or another one is under way
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
	switch {
	case errors.Is(err, fs.ErrExist):
		return keptAlready(file.path, kept)
	case err != nil:
		return fileError("keep the hook as", kept, err)
	}
	return nil
}

func keptAlready(path, kept string) error {
	return failed("there is a hook at "+show(path)+" and an older one is kept at "+show(kept), "Only one can be kept. Move one of the two away, then run the command again.", nil)
}

// putBack moves the kept hook to its old place, over whatever is there, in one step.
func putBack(kept, path string) error {
	if err := os.Rename(kept, path); err != nil {
		return fileError("put back", path, err)
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil {
		return fileError("remove", path, err)
	}
	return nil
}
