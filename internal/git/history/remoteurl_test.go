package githistory_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestRemoteURL(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testRemoteURL)
}

func testRemoteURL(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile("f", "1")
	want := func(remote, url string) {
		t.Helper()
		if got, err := rd.open(t, r).RemoteURL(t.Context(), remote); err != nil || got != url {
			t.Errorf("%s leads to %q, %v, not %q", remote, got, err, url)
		}
	}
	want("origin", "")
	r.Git("remote", "add", "origin", "https://example.com/o/r.git")
	r.Git("remote", "set-url", "--add", "origin", "https://example.com/second.git")
	r.Git("remote", "add", "Upstream", "git@example.com:o/r")
	r.Git("config", "url.https://mirror.example.com/.insteadOf", "https://example.com/")
	want("origin", "https://example.com/o/r.git")
	want("Upstream", "git@example.com:o/r")
	want("upstream", "")
	want("a b", "")
}
