package failure_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/small-gate/small-gate/internal/failure"
)

func TestOf(t *testing.T) {
	t.Parallel()
	own := &failure.Error{Message: "no commit", Remedy: "git fetch origin", Err: io.EOF}
	for _, err := range []error{own, fmt.Errorf("wrapped: %w", own), errors.Join(own, io.ErrClosedPipe)} {
		if failure.Of(err) != own || !errors.Is(err, io.EOF) {
			t.Errorf("Of(%v) = %v", err, failure.Of(err))
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
