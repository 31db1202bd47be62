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

// mayComeFromSignal reports whether a signal ended a git process. A terminal sends Ctrl-C to git too, which may end before this program notices
// the signal.
func mayComeFromSignal(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && !exit.Exited()
}

// waitForSignal waits for a signal, which ends the context, and reports whether it came.
func waitForSignal(ctx context.Context) bool {
	grace := time.NewTimer(signalGrace)
	defer grace.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-grace.C:
		return ctx.Err() != nil
	}
}

// interruptible reads until the context ends. Ctrl-C alone does not end a read from a terminal or a pipe.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

// Read fails once the context ends. The input that it was waiting for is then lost.
func (r interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	read := make(chan result, 1)
	buf := make([]byte, len(p)) // not p: the read may go on after Read has returned
	go func() {
		n, err := r.from.Read(buf)
		read <- result{n, err}
	}()
	select {
	case got := <-read:
		return copy(p, buf[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}
