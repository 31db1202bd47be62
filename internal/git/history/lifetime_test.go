package githistory

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func wantCancelled(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want one that wraps context.Canceled", err)
	}
}

// No process outlives Close, which may be called twice, or first.
func TestCloseEndsTheProcess(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile(".small/x", "1")
	repo := open(t, r)
	content(t, repo, r.ID("HEAD:.small/x"))
	process := repo.batch.cmd
	for range 2 {
		if err := repo.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if process.ProcessState == nil {
		t.Error("the process was not waited for")
	}
	if err := open(t, r).Close(); err != nil {
		t.Error(err)
	}
}

// A context that ends during an answer ends the process.
func TestContextEndsAReading(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile(".small/x", "1")
	object := r.ID("HEAD:.small/x")
	repo := open(t, r)
	content(t, repo, object)
	process := repo.batch.cmd
	repo.batch.stop()                                                    // what context.AfterFunc does
	if _, err := repo.batch.stdout.ReadByte(); !errors.Is(err, io.EOF) { // until it ends
		t.Errorf("reading from it is %v", err)
	}
	_, err := repo.Blob(t.Context(), object, 10)
	wantFailure(t, err, object)
	if process.ProcessState == nil {
		t.Error("the process was not waited for")
	}
	if got := content(t, repo, object); got != "1" {
		t.Errorf("the blob is %q", got)
	}
}

// A git that waits for input, or for a remote, ends with the context.
func TestContextEndsAStream(t *testing.T) {
	t.Parallel()
	repo := open(t, gittest.New(t))
	never, keep, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = repo.git.Stream(ctx, never, func(out *bufio.Reader) error {
		cancel()
		_, err := io.Copy(io.Discard, out)
		return err
	}, "cat-file", "--batch")
	wantCancelled(t, err)

	// It also ends when its output is not understood.
	refused := errors.New("refused")
	err = repo.git.Stream(t.Context(), never, func(*bufio.Reader) error { return refused }, "cat-file", "--batch")
	if !errors.Is(err, refused) {
		t.Errorf("the error is %v", err)
	}
	if err := errors.Join(never.Close(), keep.Close()); err != nil {
		t.Error(err)
	}
}

func TestOpenWithoutGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	_, err := Open(t.Context(), r.Dir, Options{Environ: r.Environ(), Git: "no-such-git"})
	wantFailure(t, err, "no-such-git", "install git")
}
