package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// parted makes, in a directory, a server and a clone whose branches have diverged: both sides have recorded work, and the clone has an
// uncommitted entry.
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

// killSync starts a sync and kills it after n changes in a directory of the clone, alone or with the git that it runs; then it waits until
// all its children have ended.
func killSync(t *testing.T, clone *gittest.Repo, watched string, n int, group bool, flags []string) (finished bool) {
	t.Helper()
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, alive)
	cmd := smallHook(clone, append([]string{"sync"}, flags...)...)
	cmd.ExtraFiles = []*os.File{held} // its children inherit it
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

// removeLocks removes the locks of a killed git, as git advises.
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

// counting is a git that counts its calls by sync, and kills sync at one of them, before or after the call does its work. Calls by git's
// children and by hooks are not counted.
const counting = `#!/bin/sh
read pid <"$COUNTED/pid"
if [ "$PPID" = "$pid" ]; then
	read calls <"$COUNTED/calls"
	echo $((calls + 1)) >"$COUNTED/calls"
	if [ $((calls + 1)) = "$KILL_AT" ]; then
		[ "$KILL" = after ] && "$REAL_GIT" "$@"
		kill -KILL "$PPID"
		exit 1
	fi
fi
exec "$REAL_GIT" "$@"
`

// killed runs a sync and kills it at a call of git; calls is the number it reached.
func killed(t *testing.T, clone *gittest.Repo, at int, when string, flags ...string) (calls int) {
	t.Helper()
	dir := gittest.TempDir(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(gittest.WriteProgram(filepath.Join(dir, "git"), counting), os.WriteFile(filepath.Join(dir, "calls"), []byte("0\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{"-c", `echo $$ >"$COUNTED/pid"; exec small-hook sync "$@"`, "sync"}, flags...)...)
	cmd.Dir = clone.Dir
	cmd.Env = append(clone.Environ(), "COUNTED="+dir, "REAL_GIT="+real, fmt.Sprint("KILL_AT=", at), "KILL="+when, "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if at == 0 && err != nil {
		t.Fatalf("sync ended with %v: %s", err, out)
	}
	if _, err := fmt.Sscan(contentOf(t, filepath.Join(dir, "calls")), &calls); err != nil {
		t.Fatal(err)
	}
	return calls
}

// ends demands that another sync completes an interrupted one, and that nothing is lost, doubled or left behind.
func ends(t *testing.T, server, clone *gittest.Repo, where string) {
	t.Helper()
	if out, err := smallHook(clone, "sync").CombinedOutput(); err != nil {
		t.Errorf("%s: the next sync ended with %v: %s", where, err, out)
		return
	}
	log := server.Git("show", "main:"+progressFile)
	for _, piece := range []string{"piece 0 of ours", "piece 1 of ours", "piece 0 of theirs", "piece 1 of theirs"} {
		if strings.Count(log, piece) != 1 {
			t.Errorf("%s: %q is %d times in the log", where, piece, strings.Count(log, piece))
		}
	}
	if clone.ID("HEAD") != server.ID("main") || strings.Count(contentOf(t, clone.Path(progressFile)), "task-2") != 1 || strings.Contains(log, "task-2") {
		t.Errorf("%s: what was not committed is lost, or was pushed:\n%s", where, clone.Git("status"))
	}
	if got := clone.Git("symbolic-ref", "HEAD") + clone.Git("status", "--porcelain"); got != "refs/heads/main M "+progressFile {
		t.Errorf("%s: it is left with %s", where, got)
	}
	if left := clone.Git("stash", "list") + clone.Git("for-each-ref", "refs/small-gate", "refs/worktree"); left != "" || strings.Count(clone.Git("worktree", "list"), "\n") > 0 {
		t.Errorf("%s: it has left %s\n%s", where, left, clone.Git("worktree", "list"))
	}
	if status := exitOf(t, smallHook(server, "audit")); status != 0 {
		t.Errorf("%s: audit ends with %d", where, status)
	}
}

// Whichever call of git a sync is killed at, the next sync completes it. One call in four is tried, or each with SMALL_GATE_TIMES=4.
func TestSyncKilledAtACall(t *testing.T) {
	gittest.Long(t)
	template := t.TempDir()
	parted(t, template)
	here := func(t *testing.T) (server, clone *gittest.Repo) {
		dir := filepath.Join(gittest.TempDir(t), "here")
		if err := gittest.CopyTree(dir, template); err != nil {
			t.Fatal(err)
		}
		return gittest.New(t, gittest.At(filepath.Join(dir, "server.git")), gittest.Bare()), gittest.New(t, gittest.At(filepath.Join(dir, "clone")))
	}
	for _, flags := range [][]string{nil, {"--merge"}}[:gittest.Cases(1, 2)] {
		_, clone := here(t)
		all := killed(t, clone, 0, "", flags...)
		if all < 20 {
			t.Fatalf("sync calls git %d times", all)
		}
		for at := 1; at <= all; at++ {
			for _, when := range []string{"before", "after"} {
				if !gittest.All() && at != all || at != all && (at+len(when))%gittest.OneIn(8) != 0 { // by then the last step has begun
					continue
				}
				t.Run(fmt.Sprint(when, at, flags), func(t *testing.T) {
					t.Parallel()
					server, clone := here(t)
					killed(t, clone, at, when, flags...)
					ends(t, server, clone, fmt.Sprintf("killed %s call %d of %d %v", when, at, all, flags))
				})
			}
		}
	}
}

// Whenever a sync is killed, between any two writes, the next one completes it.
func TestSyncKilled(t *testing.T) {
	gittest.Long(t)
	template := t.TempDir()
	parted(t, template)
	random := rand.New(rand.NewPCG(gittest.Seed(14), 4))
	ended := map[bool]int{}
	for range gittest.Rounds(1, 40) {
		dir := filepath.Join(gittest.TempDir(t), "here")
		if err := gittest.CopyTree(dir, template); err != nil {
			t.Fatal(err)
		}
		server, clone := gittest.New(t, gittest.At(filepath.Join(dir, "server.git")), gittest.Bare()), gittest.New(t, gittest.At(filepath.Join(dir, "clone")))
		watched := []string{".git", ".git", ".small", ".", ".git/refs/heads", ".git/refs/remotes/origin"}[random.IntN(6)]
		n, group := random.IntN(map[bool]int{true: 60, false: 6}[watched == ".git"]), random.IntN(2) == 0
		flags := [][]string{nil, {"--merge"}}[random.IntN(2)]
		ended[killSync(t, clone, watched, n, group, flags)]++
		removeLocks(t, clone.Path(".git"))
		ends(t, server, clone, fmt.Sprintf("killed after %d changes in %s, %v, with git: %v", n, watched, flags, group))
	}
	t.Logf("%d had ended, %d were killed", ended[true], ended[false])
}
