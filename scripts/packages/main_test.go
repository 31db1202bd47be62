package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// release is a folder as goreleaser leaves it, with short texts for programs.
func release(t *testing.T) string {
	t.Helper()
	dist := t.TempDir()
	for _, target := range targets {
		end, write := "", writeTar
		if target.os == "windows" {
			end, write = ".exe", writeZip
		}
		files := []file{{"LICENSE", 0o644, []byte("license")}, {"small-hook" + end, 0o755, []byte(target.node)}, {"small-action" + end, 0o755, []byte("action")}}
		if err := write(filepath.Join(dist, "small-gate_1.2.3-rc.4_"+target.os+"_"+target.arch+target.extension()), files); err != nil {
			t.Fatal(err)
		}
	}
	return dist
}

// contents is the content of the files below a folder.
func contents(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found[strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(folder)+"/")], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSameBytes(t *testing.T) {
	dist := release(t)
	var made [2]map[string][]byte
	for i := range made {
		if err := makePackages("v1.2.3-rc.4", dist); err != nil {
			t.Fatal(err)
		}
		made[i] = contents(t, filepath.Join(dist, "packages"))
	}
	if len(made[0]) != 14 {
		t.Errorf("%d packages", len(made[0]))
	}
	for path, data := range made[0] {
		if !bytes.Equal(data, made[1][path]) {
			t.Errorf("%s is not the same when it is made again", path)
		}
	}
	for _, target := range targets {
		packed := made[0]["npm/small-gate-"+target.node+"-1.2.3-rc.4.tgz"]
		files, err := readTar(packed)
		if err != nil {
			t.Fatal(err)
		}
		end := ""
		if target.os == "windows" {
			end = ".exe"
		}
		if got := string(files["package/bin/small-hook"+end]); got != target.node {
			t.Errorf("the package for %s has the program for %q", target.node, got)
		}
		wheel, err := readZip(made[0]["pypi/small_gate-1.2.3rc4-py3-none-"+target.wheel+".whl"])
		if err != nil {
			t.Fatal(err)
		}
		if got := string(wheel["small_gate-1.2.3rc4.data/scripts/small-hook"+end]); got != target.node {
			t.Errorf("the wheel for %s has the program for %q", target.node, got)
		}
	}
}

func TestRefused(t *testing.T) {
	spoil := map[string]func(dist string) error{
		"0 files match": func(dist string) error {
			return os.Remove(filepath.Join(dist, "small-gate_1.2.3-rc.4_darwin_arm64.tar.gz"))
		},
		"2 files match": func(dist string) error {
			return writeTar(filepath.Join(dist, "small-gate_1.2.2_darwin_arm64.tar.gz"), nil)
		},
		"it has no small-action": func(dist string) error {
			return writeTar(filepath.Join(dist, "small-gate_1.2.3-rc.4_linux_amd64.tar.gz"), []file{{"LICENSE", 0o644, []byte("l")}, {"small-hook", 0o755, []byte("p")}})
		},
		"unexpected EOF": func(dist string) error {
			return os.Truncate(filepath.Join(dist, "small-gate_1.2.3-rc.4_linux_amd64.tar.gz"), 40)
		},
	}
	for want, change := range spoil {
		dist := release(t)
		if err := change(dist); err != nil {
			t.Fatal(err)
		}
		if err := makePackages("v1.2.3-rc.4", dist); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not what is said: %v", want, err)
		}
		if _, err := os.Stat(filepath.Join(dist, "packages")); err == nil {
			t.Errorf("%s: packages were written", want)
		}
	}
	for _, version := range []string{"1.2.3", "v1.2", "v1.2.3-4", "v1.2.3-rc4", "v1.2.3-rc.1.dirty"} {
		if err := makePackages(version, release(t)); err == nil {
			t.Errorf("%s is taken for a version", version)
		}
	}
}
