package main

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/gittest"
)

// parted makes, in a directory, a server and a clone whose branches have parted: both sides have recorded work, and the clone has an
// entry that is not committed.
func parted(t *testing.T, dir string) {
	t.Helper()
	server, first := receiver(t)
	clone := server.Clone()
	if status := exitOf(t, smallHook(clone, "install")); status != 0 {
		t.Fatalf("install ended with %d", status)
	}
	theirs := &teamMember{Repo: first, name: "theirs"}
	ours := &teamMember{Repo: clone, name: "ours"}
	for piece := range 2 {
		for _, m := range []*teamMember{theirs, ours} {
			if _, _, err := m.work(piece); err != nil {
				t.Fatal(err)
			}
		}
	}
	first.Git("push", "-q", server.Dir, "main")
	if err := ours.record("task-2", "not committed"); err != nil {
		t.Fatal(err)
	}
	clone.Git("remote", "set-url", "origin", "../server.git")
	for from, to := range map[string]string{server.Dir: "server.git", clone.Dir: "clone"} {
		if err := gittest.CopyTree(filepath.Join(dir, to), from); err != nil {
			t.Fatal(err)
		}
	}
}

// killSync begins a sync and kills it after n changes in a directory of the clone, alone or with the git that it runs; then it waits
// until all that it has started has ended.
func killSync(t *testing.T, clone *gittest.Repo, watched string, n int, group bool, flags []string) (finished bool) {
	t.Helper()
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, alive)
	cmd := smallHook(clone, append([]string{"sync"}, flags...)...)
	cmd.ExtraFiles = []*os.File{held} // which its children inherit
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	finished = killAfter(t, clone.Path(watched), n, cmd)
	if group && !finished {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	closeAll(t, held)
	if _, err := io.Copy(io.Discard, alive); err != nil {
		t.Fatal(err)
	}
	return finished
}

// removeLocks removes the locks of a git that was killed, as git says to do.
func removeLocks(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") && filepath.Base(path) != "sync.lock" {
			t.Logf("%s had to be taken away", path)
			return os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whenever a sync is killed, it can be taken up or taken back, and nothing that was committed, or was not, is lost.
func TestSyncKilled(t *testing.T) {
	gittest.Long(t)
	template := t.TempDir()
	parted(t, template)
	random := rand.New(rand.NewPCG(14, 4))
	ended := map[string]int{}
	for range 40 {
		dir := filepath.Join(gittest.TempDir(t), "here")
		if err := gittest.CopyTree(dir, template); err != nil {
			t.Fatal(err)
		}
		server, clone := gittest.New(t, gittest.At(filepath.Join(dir, "server.git")), gittest.Bare()), gittest.New(t, gittest.At(filepath.Join(dir, "clone")))
		before, uncommitted := clone.ID("HEAD"), contentOf(t, clone.Path(progressFile))
		watched := []string{".git", ".git", ".small", ".git/refs/heads", ".git/refs/remotes/origin"}[random.IntN(5)]
		n, group, back := random.IntN(map[bool]int{true: 150, false: 6}[watched == ".git"]), random.IntN(2) == 0, random.IntN(2) == 0
		flags := [][]string{nil, {"--merge"}}[random.IntN(2)]
		finished := killSync(t, clone, watched, n, group, flags)
		removeLocks(t, clone.Path(".git"))
		where := strings.Join(append(flags, watched, map[bool]string{true: "with git", false: "alone"}[group]), " ")
		take := []string{"sync", "--continue"}
		if back {
			take = []string{"sync", "--abort"}
		}
		out, err := smallHook(clone, take...).CombinedOutput()
		var exit *exec.ExitError
		none := errors.As(err, &exit) && strings.Contains(string(out), "no sync is under way")
		if err != nil && !none {
			t.Errorf("killed after %d changes, %s: %q ended with %v: %s\n%s", n, where, take, err, out, clone.Git("status"))
			continue
		}
		pushed := strings.Contains(server.Git("show", "main:"+progressFile), "piece 1 of ours")
		if back && !pushed && (clone.ID("HEAD") != before || contentOf(t, clone.Path(progressFile)) != uncommitted || clone.Git("symbolic-ref", "HEAD") != "refs/heads/main") {
			t.Errorf("killed after %d changes, %s, and taken back: it is not as it was:\n%s", n, where, clone.Git("status"))
		}
		ended[map[bool]string{true: "finished", false: "killed"}[finished]+map[bool]string{true: ", nothing under way", false: ", " + take[1]}[none]]++
		if out, err := smallHook(clone, "sync").CombinedOutput(); err != nil {
			t.Errorf("killed after %d changes, %s, then %q, and then sync ended with %v: %s", n, where, take, err, out)
			continue
		}
		log := server.Git("show", "main:"+progressFile)
		for _, piece := range []string{"piece 0 of ours", "piece 1 of ours", "piece 0 of theirs", "piece 1 of theirs"} {
			if strings.Count(log, piece) != 1 {
				t.Errorf("killed after %d changes, %s, then %q: %q is %d times in the log", n, where, take, piece, strings.Count(log, piece))
			}
		}
		if clone.ID("HEAD") != server.ID("main") || !strings.Contains(contentOf(t, clone.Path(progressFile)), "task-2") || strings.Contains(log, "task-2") {
			t.Errorf("killed after %d changes, %s, then %q: what was not committed is lost, or was pushed:\n%s", n, where, take, clone.Git("status"))
		}
		if status := exitOf(t, smallHook(server, "audit")); status != 0 {
			t.Errorf("killed after %d changes, %s, then %q: audit ends with %d", n, where, take, status)
		}
	}
	t.Log(ended)
}
