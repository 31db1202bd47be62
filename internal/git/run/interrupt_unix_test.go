//go:build unix

package gitcmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

// An interrupt kills git before this process notices it: the error is nevertheless that of the context, and not that of git.
func TestInterruptArrivesLater(t *testing.T) {
	git := Git{Program: "sh"}
	for name, do := range map[string]func(context.Context) error{
		"run": func(ctx context.Context) error {
			_, err := git.Run(ctx, nil, "-c", "kill -INT $$")
			return err
		},
		"stream": func(ctx context.Context) error {
			return git.Stream(ctx, nil, func(out *bufio.Reader) error {
				_, err := io.Copy(io.Discard, out)
				return err
			}, "-c", "kill -TERM $$")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			if err := do(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}
