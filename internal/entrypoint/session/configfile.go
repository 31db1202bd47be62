package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/policy"
)

// ReadConfig reads a configuration from disk; it is nil if there is none. Only an ordinary file is read, and no more of it than a
// configuration may have: a pipe or a device could have no end.
func ReadConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, &failure.Error{
			Message: path + " is not an ordinary file",
			Remedy:  "replace it with a configuration, or remove it; docs/configuration.md lists every key",
		}
	}
	var data []byte
	if err == nil {
		data, err = readStart(path, policy.MaxSize+1) // one byte too many is noticed when it is parsed
	}
	if err != nil {
		return nil, &failure.Error{
			Message: fmt.Sprintf("cannot read the configuration: %v", err),
			Remedy:  "make the file readable, or name another one with --config",
			Err:     err,
		}
	}
	return data, nil
}

// readStart reads up to most bytes of a file. They are not nil, even if the file is empty.
func readStart(path string, most int64) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, most))
}
