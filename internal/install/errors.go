package install

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// newError returns an error with message, which says what failed and where, followed by the cause's message unless cause is nil. The remedy says
// what to type or change next, and may be empty.
func newError(message, remedy string, cause error) error {
	if cause != nil {
		message += ": " + wording.Printable(failure.Of(cause).Message)
	}
	return &failure.Error{Message: message, Remedy: remedy, Err: cause}
}

// fileError returns the error for a failed operation on path, or nil if cause is nil. Its remedy suits missing permission and a full or
// read-only disk.
func fileError(operation, path string, cause error) error {
	if cause == nil {
		return nil
	}
	return newError(fmt.Sprintf("cannot %s %s", operation, wording.Printable(path)),
		"Make sure that you can read and write there, then run the command again. What worked before still works.", cause)
}

// configError returns the error for a failed change of config, a file of git's configuration. Git refuses to change it while config.lock is there.
func configError(config string, cause error) error {
	if _, err := os.Lstat(config + ".lock"); err == nil {
		return newError("cannot change git's configuration in "+wording.Printable(config), "If no git is running here, an earlier one was killed and left its lock: `rm -f "+shellPath(config+".lock")+"`. Then run the command again.", cause)
	}
	return fileError("change git's configuration in", config, cause)
}

// shellPath writes a path as one word of a shell, for a command that a person types.
func shellPath(path string) string { return wording.ShellWord(filepath.ToSlash(path)) }
