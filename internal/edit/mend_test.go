package edit_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/restore"
)

// TestMendLocksInOrder mends the log of a workspace that has moved from the root into a directory, whose lock somebody else holds. Meanwhile that one
// gets the lock of the root, too, which all processes take last.
func TestMendLocksInOrder(t *testing.T) {
	r := gittest.New(t)
	if err := os.CopyFS(r.Path(".small"), os.DirFS(filepath.Join("..", "..", "cmd", "small-hook", "testdata", "workspace", ".small"))); err != nil {
		t.Fatal(err)
	}
	r.Commit("a workspace")
	log, err := os.ReadFile(r.Path(".small/progress.small.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(log), "entries: []\n", "entries:\n", 1) +
		"  - task_id: \"task-1\"\n    timestamp: \"2026-03-01T09:10:00.000000001Z\"\n    status: \"completed\"\n    evidence: \"read 1204 rows\"\n"
	r.CommitFile(".small/progress.small.yml", text)
	bad := r.CommitFile(".small/progress.small.yml", strings.Replace(text, "1204", "all", 1))
	if err := os.Mkdir(r.Path("moved"), 0o777); err != nil {
		t.Fatal(err)
	}
	r.Git("mv", ".small", "moved/.small")
	r.Commit("move it")

	take := func(dir string) *lock.Held {
		held, err := lock.Take(t.Context(), lock.Request{CommonDir: r.Path(".git"), Workspace: dir, Command: "the test", Wait: 10 * time.Second, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	moved := take(r.Path("moved"))
	rewritten, ended := make(chan struct{}), make(chan error)
	var once sync.Once
	go func() {
		_, err := edit.Mend(t.Context(), session.Request{Dir: r.Dir, Environ: r.Environ(), Now: time.Now()}, edit.Locking{Wait: time.Minute}, restore.MendOptions{
			Commit: bad, Progress: func(done, total int) {
				if done == total {
					once.Do(func() { close(rewritten) })
				}
			},
		})
		ended <- err
	}()
	select {
	case <-rewritten:
	case err := <-ended:
		t.Fatalf("it ended before it had rewritten the commits: %v", err)
	}
	if err := take(r.Dir).Release(); err != nil {
		t.Error(err)
	}
	if err := moved.Release(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(r.Path("moved/.small/progress.small.yml")); err != nil || string(got) != text {
		t.Errorf("%v\n%s", err, got)
	}
}
