package cli

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

// signalGrace is how long a failure waits for the signal that may be its cause.
const signalGrace = 200 * time.Millisecond

// mayBeSignal reports whether an error may be from a git that a signal ended. A terminal sends Ctrl-C to git as well as to this program,
// and git may fail before this program notices the signal.
func mayBeSignal(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && !exit.Exited()
}

// interrupted reports whether such a failure is due to a signal.
func interrupted(ctx context.Context) bool {
	grace := time.NewTimer(signalGrace)
	defer grace.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-grace.C:
		return ctx.Err() != nil
	}
}

// interruptible reads until the context ends. A read from a terminal or a pipe does not end by itself on Ctrl-C.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

// Read reads once, or fails with the context's error; in that case later input is lost.
func (r interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	read := make(chan result, 1)
	own := make([]byte, len(p)) // after the context ends, p belongs to the caller again
	go func() {
		n, err := r.from.Read(own)
		read <- result{n, err}
	}()
	select {
	case got := <-read:
		return copy(p, own[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}
