package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// However full the disk is, a sync that cannot finish says so and keeps everything; once there is room, the next one completes it.
func TestSyncOnAFullDisk(t *testing.T) {
	gittest.Long(t)
	template := t.TempDir()
	parted(t, template)
	failed, ended := 0, 0
	for free := 0; free <= 512<<10; free += gittest.Cases(192, 12*gittest.OneIn(4)) << 10 {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
			t.Skipf("SKIPPED: no small file system can be mounted here, so a sync on a full disk is NOT tested: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		here, roomy := filepath.Join(dir, "here"), filepath.Join(gittest.TempDir(t), "server.git")
		if err := errors.Join(gittest.CopyTree(here, template), gittest.CopyTree(roomy, filepath.Join(template, "server.git"))); err != nil {
			t.Fatal(err)
		}
		clone := gittest.New(t, gittest.At(filepath.Join(here, "clone")))
		server := gittest.New(t, gittest.At(roomy), gittest.Bare())
		clone.Git("remote", "set-url", "origin", server.Dir)
		fill(t, dir, free)
		for range 2 {
			out, err := smallHook(clone, "sync").CombinedOutput()
			said := strings.ToLower(string(out))
			if err == nil {
				ended++
				break
			}
			failed++
			if !strings.Contains(said, "no space left") {
				t.Errorf("with %d bytes left sync says: %s", free, out)
			}
		}
		if err := os.Remove(filepath.Join(dir, "full")); err != nil {
			t.Fatal(err)
		}
		ends(t, server, clone, fmt.Sprintf("with %d bytes left", free))
	}
	if failed == 0 || ended == 0 {
		t.Errorf("%d syncs failed, %d ended", failed, ended)
	}
}

// fill fills a file system up to a number of bytes.
func fill(t *testing.T, dir string, free int) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "full"))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for {
		if _, err = file.Write(block); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err == nil {
		err = errors.Join(file.Truncate(info.Size()-int64(free)), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
