package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// diskStates are the states and wrongs tried on a full disk; the first one always runs.
var diskStates = []string{
	"plain/added_unstaged", "merge/nothing", "rebase/nothing", "pick_several/nothing", "plain/modified_unstaged", "merge_no_commit/deleted", "published/moved_on",
	"stash_pop/nothing",
}

// writing are the commands that need room.
var writing = []string{
	going, "git commit -q -a -m all", "small-hook restore", "small-hook reconcile", "small-hook append --task task-1 --evidence appended", "small-hook guard -- true",
	"small-hook sync", "small-hook reconcile origin/side", "small-hook replay-id --write", "small-hook baseline",
}

// TestStatesOnAFullDisk runs commands that write on a disk with a few pages left, or none. They report the lack of space, or do without.
// Once there is room, the same command and what it says to type finish what git had begun, with nothing lost and nothing twice.
func TestStatesOnAFullDisk(t *testing.T) {
	gittest.Long(t)
	w := newWorlds(t)
	w.place = smallDisk
	only := regexp.MustCompile(*onlyStates)
	turn := 0
	for _, at := range diskStates[:gittest.Cases(1, len(diskStates))] {
		s, wr := at, ""
		s, wr, _ = strings.Cut(s, "/")
		for i, speaker := range writing {
			c := cell{gitStates[slices.IndexFunc(gitStates, func(g gitState) bool { return g.name == s })], wrongs[slices.IndexFunc(wrongs, func(w wrong) bool { return w.name == wr })], speaker}
			turn++
			if one := gittest.OneIn(3); i%one != one-1 || !only.MatchString(c.String()) {
				continue
			}
			pages := turn * 5 % 24 // varies over the loop, not between runs of the test
			t.Run(fmt.Sprintf("%s/%d", c, pages), func(t *testing.T) {
				a := newTypist(t, w, c)
				filler := filepath.Join(filepath.Dir(a.dir), "filler")
				fillDisk(t, filler, pages)
				code, said := a.typed(a.line())
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
				heard := len(a.heard)
				if code != 0 {
					a.persist(a.line())
				}
				a.settle()
				if strings.HasPrefix(speaker, "small-hook") && code == statusCannot && a.heard[heard] != said && !strings.Contains(strings.ToLower(said), "no space left") {
					a.problem("silent: it does not say that there is no space left")
				}
				a.report()
			})
		}
	}
}

// smallDisk is a directory on a file system of its own.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("SKIPPED: no small file system can be mounted here, so a full disk is NOT tested: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk writes a file that takes all but some pages of the remaining room.
func fillDisk(t *testing.T, name string, pages int) {
	t.Helper()
	f, err := os.Create(name)
	if err == nil {
		_, err = io.Copy(f, zeros{})
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		err = errors.Join(f.Truncate(max(size-int64(pages*os.Getpagesize()), 0)), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// zeros is an endless source of zeros.
type zeros struct{}

// Read leaves zeros in what is given.
func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
