// Package wholefile writes files in one step: who reads one finds what it was or
// what it will be, never half of it.
package wholefile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write makes content all that is in the file at path. The file keeps its
// permissions; a new one gets what the user's umask leaves. A symbolic link is
// followed. What is no regular file, such as /dev/stdout or a pipe, is written
// to as it is. After an error the file is as it was.
func Write(path string, content []byte) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return create(path, content)
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
	return replace(target, content, &permissions)
}

// create makes a file that is not there yet. A link that leads nowhere is not
// replaced.
func create(path string, content []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "write through a link", Path: path, Err: fs.ErrNotExist}
	}
	return replace(path, content, nil)
}

// replace writes the content beside the file and puts it there in one step. Nil
// permissions are those that the system gives a new file.
func replace(path string, content []byte, permissions *fs.FileMode) (err error) {
	file, err := beside(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(content)
	if permissions != nil {
		err = errors.Join(err, file.Chmod(*permissions))
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// beside makes a new file in the directory of another. [os.CreateTemp] would
// give it permissions of its own.
func beside(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d", base, rand.Uint32()))
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
