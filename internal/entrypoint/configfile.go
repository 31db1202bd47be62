package entrypoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/policy"
)

// readConfig reads a configuration from disk; it is nil if there is none. Only
// an ordinary file is read, and no more of it than a configuration may have: a
// pipe would be waited for without end, a device could be read without end.
func readConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, &gate.Failure{
			Message: path + " is not an ordinary file; a configuration is one",
			Remedy:  "put a file there, or remove what stands there; docs/configuration.md lists every key",
		}
	}
	var data []byte
	if err == nil {
		data, err = readBounded(path, policy.MaxSize)
	}
	if err != nil {
		return nil, &gate.Failure{
			Message: fmt.Sprintf("cannot read the configuration: %v", err),
			Remedy:  "make the file readable, or name another one with --config",
			Err:     err,
		}
	}
	return data, nil
}

// readBounded reads at most one byte more than limit, so that the reader of
// the content sees that it is too large.
func readBounded(path string, limit int64) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if data == nil {
		data = []byte{}
	}
	return data, err
}
