package workgit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// ReadFile reads a file of a work tree; nil if there is none. Symbolic links in the path are refused: their targets are not in the
// repository.
func ReadFile(top, path string) ([]byte, error) {
	at := top
	for _, name := range strings.Split(path, "/") {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, &failure.Error{Message: "cannot look at " + wording.Printable(path) + ": " + err.Error(), Err: err}
		}
		last := at == filepath.Join(top, filepath.FromSlash(path))
		if !info.IsDir() && !last || last && !info.Mode().IsRegular() {
			away := "mv -- " + wording.ShellWord(at) + " " + wording.ShellWord(filepath.Join(top, filepath.Base(at)+".aside"))
			if info.Mode()&fs.ModeSymlink != 0 {
				away = "rm -- " + wording.ShellWord(at)
			}
			return nil, &failure.Error{
				Message: fmt.Sprintf("%s is not an ordinary file in the work tree: %s is in the way", wording.Printable(path), wording.Printable(at)),
				Remedy:  wording.Commands(away) + ", then run the command again",
			}
		}
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return nil, &failure.Error{Message: "cannot read " + wording.Printable(path) + ": " + err.Error(), Err: err}
	}
	return data, nil // not nil, even if the file is empty
}
