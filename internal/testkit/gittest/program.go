package gittest

import (
	"os"
	"syscall"
)

// WriteProgram writes a program that can be started at once. A process that a parallel test starts meanwhile would inherit the open file, and the
// system refuses to start a program that is open for writing ("text file busy"): so none is started until the file is closed.
func WriteProgram(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o755)
}
