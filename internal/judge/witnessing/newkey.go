package witnessing

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/witness"
)

// NewKey writes a pair of keys to two new files: the secret key signs, and only its owner may read the file; the public key verifies.
func NewKey(name, secretFile, publicFile string) error {
	secret, public, err := witness.NewKey(rand.Reader, name)
	if err != nil {
		return err
	}
	if err := createFile(secretFile, secret, 0o600); err != nil {
		return err
	}
	if err := createFile(publicFile, public, 0o666); err != nil {
		return errors.Join(err, os.Remove(secretFile))
	}
	return nil
}

// createFile writes a new file. It never replaces one, which may be the only copy of a key.
func createFile(path, text string, permissions fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, permissions)
	if errors.Is(err, fs.ErrExist) {
		return &failure.Error{Message: path + " is there already", Remedy: "name a new file", Err: err}
	}
	if err != nil {
		return fileError("the key cannot be written", err)
	}
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fileError("the key cannot be written", errors.Join(err, os.Remove(path)))
	}
	return nil
}
