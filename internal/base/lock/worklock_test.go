package lock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/base/lock"
)

// TestTokens nests the locks of two workspaces.
func TestTokens(t *testing.T) {
	common := t.TempDir()
	take := func(workspace string, environ []string) (*lock.Held, error) {
		return lock.Take(t.Context(), lock.Request{CommonDir: common, Workspace: workspace, Command: t.Name(), Environ: environ, Now: time.Now()})
	}
	must := func(workspace string, environ []string) *lock.Held {
		t.Helper()
		held, err := take(workspace, environ)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	one := must("one", nil)
	both := must("two", one.Environ(nil)).Environ(one.Environ(nil))
	inside := must("one", both)
	if _, err := take("one", both); err == nil {
		t.Error("two inside have the lock")
	}
	if err := inside.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := take("two", one.Environ(nil)); err == nil {
		t.Error("the token of one workspace opens the other")
	}
	if err := errors.Join(must("two", both).Release(), one.Release()); err != nil {
		t.Fatal(err)
	}
	// A token of a lock that nobody holds means nothing.
	if again := must("one", both); again.Environ(nil)[0] == one.Environ(nil)[0] {
		t.Error("the same token twice")
	}
	if _, err := take("one", one.Environ(nil)); err == nil {
		t.Error("a stale token opens the lock")
	}
}
