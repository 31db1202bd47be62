// Package wholefile writes files atomically: readers find the old content or the new one, never part of it. It reads no files that could be
// endless.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Infix marks the names of our temporary files: .NAME, the infix, a number.
const Infix = ".small-gate-"

// ErrNotRegular is the error if a pipe, a device or a directory is found in place of a file.
var ErrNotRegular = errors.New("it is not an ordinary file")

// Start reads the beginning of a regular file, at most so many bytes: a pipe or a device could be endless. The data is not nil, even if the file is empty.
func Start(path string, most int64) (data []byte, err error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, most))
}

// Write replaces the content of the file at path. The file keeps its permissions; a new one gets those of the user's umask. A symbolic link
// is followed. Anything but a regular file, such as /dev/stdout or a pipe, is written to directly. After an error the file is unchanged.
func Write(path string, content []byte) error { return WriteVia("", path, content) }

// WriteVia is [Write] for a file of a work tree: gitDir is the git directory, where a killed process leaves nothing that git add would pick
// up. If that is on another file system, or not writable, the new file is first written beside the old one, as if gitDir were empty.
func WriteVia(gitDir, path string, content []byte) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return create(gitDir, path, content)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return writeTo(path, content)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	permissions := info.Mode().Perm()
	return put(gitDir, target, content, &permissions)
}

// Replace puts a new file with these permissions at path, replacing even a link.
func Replace(path string, content []byte, permissions fs.FileMode) error {
	return put("", path, content, &permissions)
}

// create makes a new file. A broken link is not replaced.
func create(gitDir, path string, content []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "write through a link", Path: path, Err: fs.ErrNotExist}
	}
	return put(gitDir, path, content, nil)
}

// put writes the content in gitDir, or beside the file, and moves it into place atomically. Nil permissions are the system's for a new
// file.
func put(gitDir, path string, content []byte, permissions *fs.FileMode) error {
	if gitDir != "" && through(gitDir, path, content, permissions) == nil {
		return nil
	}
	return through(filepath.Dir(path), path, content, permissions)
}

// through writes the content to a temporary file in dir and moves that into place.
func through(dir, path string, content []byte, permissions *fs.FileMode) error {
	p, err := prepare(dir, path, content, permissions)
	if err != nil {
		return err
	}
	return p.Finish()
}

// Prepared is a complete new file that is not yet in place.
type Prepared struct{ temporary, path string }

// Prepare does the part of [Replace] that needs room on the disk.
func Prepare(path string, content []byte, permissions fs.FileMode) (*Prepared, error) {
	return prepare(filepath.Dir(path), path, content, &permissions)
}

func prepare(dir, path string, content []byte, permissions *fs.FileMode) (*Prepared, error) {
	file, err := temporary(dir, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	p := &Prepared{file.Name(), path}
	_, err = file.Write(content)
	if permissions != nil {
		err = errors.Join(err, file.Chmod(*permissions))
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return nil, errors.Join(err, p.Drop())
	}
	return p, nil
}

// Finish moves the file into place. After an error the new file is removed.
func (p *Prepared) Finish() error {
	err := os.Rename(p.temporary, p.path)
	if err != nil {
		err = errors.Join(err, p.Drop())
	}
	return err
}

// Drop removes the file.
func (p *Prepared) Drop() error { return os.Remove(p.temporary) }

// Sweep removes files left in a directory by killed processes: the temporary files for some names, or all. The caller has to make sure
// that nobody is writing one of these.
func Sweep(dir string, names ...string) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		name, is := baseOfTemporary(f.Name())
		if !is || len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return Shorten(n) == name }) {
			continue
		}
		if gone := os.Remove(filepath.Join(dir, f.Name())); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// Shorten cuts a file's name so that one made from it, such as that of its temporary file, is not longer than file systems allow.
func Shorten(name string) string {
	const most = 200 // bytes, of 255
	if len(name) <= most {
		return name
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// baseOfTemporary returns the name for which a temporary file was made, as Shorten cuts it. The second result is false if the name is
// not that of a temporary file.
func baseOfTemporary(file string) (name string, is bool) {
	at := strings.LastIndex(file, Infix)
	if at < 1 || file[0] != '.' {
		return "", false
	}
	_, err := strconv.ParseUint(file[at+len(Infix):], 10, 32)
	return file[1:at], err == nil
}

// temporary makes a new file. [os.CreateTemp] would set its own permissions.
func temporary(dir, base string) (*os.File, error) {
	for {
		name := filepath.Join(dir, fmt.Sprintf(".%s%s%d", Shorten(base), Infix, rand.Uint32()))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

func writeTo(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
