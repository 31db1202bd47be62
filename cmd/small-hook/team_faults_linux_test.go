package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// teamDisk is a file system of its own, which can be filled.
type teamDisk struct {
	*testing.T
	dir string
	// mounted is false without the right to mount one: then it is never full.
	mounted bool
}

const roomOnDisk = "size=64m"

var saidNoDisk sync.Once

func newTeamDisk(t *testing.T) *teamDisk {
	disk := &teamDisk{T: t, dir: gittest.TempDir(t)}
	if err := syscall.Mount("tmpfs", disk.dir, "tmpfs", 0, roomOnDisk); err != nil {
		saidNoDisk.Do(func() {
			t.Logf("NOT TESTED: no small file system can be mounted here, so no disk fills during the day: %v", err)
		})
		return disk
	}
	disk.mounted = true
	t.Cleanup(func() {
		if err := syscall.Unmount(disk.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// fill leaves room for only some pages.
func (d *teamDisk) fill(pages int) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &stat); err != nil {
		d.Fatal(err)
	}
	used := stat.Blocks - stat.Bfree
	d.resize(fmt.Sprintf("size=%d", (used+uint64(pages))*uint64(stat.Bsize)))
}

func (d *teamDisk) free() { d.resize(roomOnDisk) }

func (d *teamDisk) resize(size string) {
	d.Helper()
	if err := syscall.Mount("", d.dir, "", syscall.MS_REMOUNT, size); err != nil {
		d.Fatal(err)
	}
}

// gitFaults is a directory with a program git that behaves like the real one until a certain call.
type gitFaults struct {
	*testing.T
	dir string
}

// faultyGit is that program. Its environment says what happens at which call; optionally only calls that write count.
const faultyGit = `#!/bin/sh
if [ "$TEAM_COUNTED" = writing ]; then
	case " $* " in
	*" fetch "* | *" worktree "* | *" fast-import "* | *" reset "* | *" cherry-pick "* | *" rebase "* | *" merge "* | *" commit "*) ;;
	*" update-index "* | *" read-tree "* | *" update-ref "* | *" push "* | *" hash-object "* | *" checkout "* | *" add "*) ;;
	*) exec "$TEAM_GIT" "$@" ;;
	esac
fi
read -r n <"$TEAM_DIR/calls"
n=$((n + 1))
echo $n >"$TEAM_DIR/calls"
[ $n = "$TEAM_AT" ] || exec "$TEAM_GIT" "$@"
case $TEAM_KIND in
before) kill -9 0 ;;
parent) kill -9 $PPID && exec "$TEAM_GIT" "$@" ;;
after) "$TEAM_GIT" "$@"; kill -9 0 ;;
lock)
	case " $* " in
	*" reset "* | *" cherry-pick "* | *" rebase "* | *" merge "* | *" commit "* | *" update-index "* | *" read-tree "* | *" checkout "* | *" add "*)
		case " $* " in *" worktree "*) ;; *) : >"$("$TEAM_GIT" rev-parse --git-path index.lock)" ;; esac ;;
	esac
	kill -9 0
	;;
meanwhile)
	(
		unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE SMALL_HOOK_LOCK TEAM_AT
		PATH=$TEAM_PATH
		cd "$TEAM_TREE" && sh -c "$TEAM_MEANWHILE" >"$TEAM_DIR/said" 2>&1 </dev/null
		echo $? >"$TEAM_DIR/status"
	)
	exec "$TEAM_GIT" "$@"
	;;
esac
`

func newGitFaults(t *testing.T) *gitFaults {
	f := &gitFaults{T: t, dir: gittest.TempDir(t)}
	if err := gittest.WriteProgram(filepath.Join(f.dir, "git"), faultyGit); err != nil {
		t.Fatal(err)
	}
	return f
}

// fault is something that fails during a command.
type fault struct {
	// kind is what happens at the call of git with this number: see faultyGit.
	kind string
	at   int
	// counted is "writing" if only such calls count.
	counted string
	// meanwhile is what somebody else types in dir.
	meanwhile, dir string
}

func (f fault) String() string {
	return fmt.Sprintf("%s at call %d of git, counting %s: %s", f.kind, f.at, f.counted, f.meanwhile[strings.LastIndex(f.meanwhile, "; ")+1:])
}

// environ makes the fault happen to a command with that environment.
func (g *gitFaults) environ(environ []string, f fault) []string {
	real, err := exec.LookPath("git")
	if err != nil {
		g.Fatal(err)
	}
	g.write("calls", "0\n")
	g.write("said", "")
	g.write("status", "")
	path := os.Getenv("PATH")
	return append(environ[:len(environ):len(environ)],
		"PATH="+g.dir+string(filepath.ListSeparator)+path, "TEAM_PATH="+path, "TEAM_DIR="+g.dir, "TEAM_GIT="+real,
		"TEAM_AT="+fmt.Sprint(f.at), "TEAM_KIND="+f.kind, "TEAM_COUNTED="+f.counted, "TEAM_MEANWHILE="+f.meanwhile, "TEAM_TREE="+f.dir)
}

func (g *gitFaults) write(name, text string) {
	g.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o644); err != nil {
		g.Fatal(err)
	}
}

func (g *gitFaults) read(name string) string {
	g.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		g.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
