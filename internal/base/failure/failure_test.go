package failure_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/failure"
)

func TestOf(t *testing.T) {
	t.Parallel()
	own := &failure.Error{Message: "no commit", Remedy: "git fetch origin", Err: io.EOF}
	for _, err := range []error{own, fmt.Errorf("wrapped: %w", own), errors.Join(own, io.ErrClosedPipe)} {
		if failure.Of(err) != own || !errors.Is(err, io.EOF) {
			t.Errorf("Of(%v) = %v", err, failure.Of(err))
		}
	}
	for message, want := range map[string]string{
		"git update-index: fatal: Unable to create '/a repo/.git/index.lock': File exists.": "`rm -f '/a repo/.git/index.lock'`",
		"git add: fatal: Unable to create '/it's/.git/index.lock': File exists.":            `'/it'\''s/.git/index.lock'`,
		"git add: fatal: Unable to create '/a`b/.git/index.lock': File exists.":             "`rm -f '/a'\"$(printf '\\140')\"'b/.git/index.lock'`",
		"cannot write the log: write x: no space left on device":                            "make room, then type the same command again",
		"error: file write error: No space left on device":                                  "make room, then type the same command again",
		"write x: There is not enough space on the disk.":                                   "make room, then type the same command again",
		"write x: disk quota exceeded":                                                      "make room, then type the same command again",
	} {
		for _, err := range []error{&failure.Error{Message: message, Remedy: "see git fsck"}, errors.New(message)} {
			if got := failure.Of(err); !strings.Contains(got.Remedy, want) || strings.Contains(got.Remedy, "fsck") {
				t.Errorf("%s: %q", message, got.Remedy)
			}
		}
	}
	plain := errors.New("two\nlines")
	if got := failure.Of(plain); got.Message != "two\nlines" || got.Remedy != "" || !errors.Is(got, plain) {
		t.Errorf("%+v", got)
	}
	if got := failure.Of(nil); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestIsComplete(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, &failure.Error{Message: "no commit"}, fmt.Errorf("wrapped: %w", &failure.Error{}), fmt.Errorf("git: %w", context.Canceled), context.DeadlineExceeded} {
		if !failure.IsComplete(err) {
			t.Errorf("%v needs more", err)
		}
	}
	if failure.IsComplete(io.EOF) {
		t.Error("io.EOF says neither where nor what to type")
	}
}
