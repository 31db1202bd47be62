package install

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// failed is an error that says what failed and where, what to type or change next (may be empty), and the cause (may be nil).
func failed(what, remedy string, cause error) error {
	if cause != nil {
		what += ": " + show(failure.Of(cause).Message)
	}
	return &failure.Error{Message: what, Remedy: remedy, Err: cause}
}

// fileError wraps a failed file operation on path; it is nil for a nil cause. Its remedy suits missing permission and a full or read-only
// disk.
func fileError(doing, path string, cause error) error {
	if cause == nil {
		return nil
	}
	return failed(fmt.Sprintf("cannot %s %s", doing, show(path)),
		"Make sure that you can write there, then run the command again. What was there before still works.", cause)
}

// typed quotes a path for a command that a person types; an unprintable path is quoted like other text.
func typed(path string) string {
	if show(path) != path {
		return show(path)
	}
	return wording.ShellWord(filepath.ToSlash(path))
}

// show makes text from outside safe for one line of a terminal: anything unprintable is quoted.
func show(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) < 0 {
		return text
	}
	return strconv.Quote(text)
}
