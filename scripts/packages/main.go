// Command packages makes the packages for people without Go, from the archives of a release:
//
//	go run ./scripts/packages VERSION DIST
//
// DIST is goreleaser's folder. It writes DIST/packages/npm (one package that chooses among six, each with the programs for one system),
// DIST/packages/pypi (one wheel for each system) and DIST/packages/homebrew (the formula). The same archives give the same bytes.
package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	name    = "small-gate"
	home    = "https://github.com/small-gate/small-gate"
	summary = "Guards the append-only progress log of the SMALL protocol"
)

// programs are in every archive.
var programs = []string{"small-hook", "small-action"}

//go:embed text/README.md
var readme []byte

// target is a system for which there are releases, and the registries' names for it.
type target struct {
	os, arch string // as in the archives' names
	node     string // process.platform-process.arch
	wheel    string // platform tags, for static programs; macOS is the oldest that Go 1.26 supports, as is said in the program
}

var targets = []target{
	{"linux", "amd64", "linux-x64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "linux-arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "darwin-x64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "darwin-arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win32-x64", "win_amd64"},
	{"windows", "arm64", "win32-arm64", "win_arm64"},
}

// archive is a release's archive for a target.
type archive struct {
	target
	sum      string // SHA-256 of the archive, in hexadecimal
	programs []file
	license  []byte
}

// extension is the file extension of the archive.
func (t target) extension() string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/packages VERSION DIST")
		os.Exit(2)
	}
	if err := makePackages(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "scripts/packages:", err)
		os.Exit(2)
	}
}

// released matches the versions that scripts/release allows: both npm and PyPI can express them.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

func makePackages(tag, dist string) error {
	if !released.MatchString(tag) {
		return fmt.Errorf("%q is not a version such as v1.2.3 or v1.2.3-rc.1", tag)
	}
	version := strings.TrimPrefix(tag, "v")
	var archives []archive
	for _, t := range targets {
		a, err := open(t, dist)
		if err != nil {
			return err
		}
		archives = append(archives, a)
	}
	folder := filepath.Join(dist, "packages")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for _, kind := range []struct {
		folder string
		write  func(folder, version string, archives []archive) error
	}{{"npm", writeNPM}, {"pypi", writeWheels}, {"homebrew", writeFormula}} {
		into := filepath.Join(folder, kind.folder)
		if err := os.MkdirAll(into, 0o755); err != nil {
			return err
		}
		if err := kind.write(into, version, archives); err != nil {
			return err
		}
	}
	return nil
}

// open reads the only archive in dist for a target. A snapshot's name has another version.
func open(t target, dist string) (archive, error) {
	pattern := filepath.Join(dist, name+"_*_"+t.os+"_"+t.arch+t.extension())
	found, err := filepath.Glob(pattern)
	if err != nil {
		return archive{}, err
	}
	if len(found) != 1 {
		return archive{}, fmt.Errorf("%d files match %s instead of one: run goreleaser first", len(found), pattern)
	}
	packed, err := os.ReadFile(found[0])
	if err != nil {
		return archive{}, err
	}
	unpack := readTar
	if t.os == "windows" {
		unpack = readZip
	}
	files, err := unpack(packed)
	if err != nil {
		return archive{}, fmt.Errorf("%s: %w", found[0], err)
	}
	sum := sha256.Sum256(packed)
	a := archive{target: t, sum: hex.EncodeToString(sum[:]), license: files["LICENSE"]}
	for _, program := range programs {
		if t.os == "windows" {
			program += ".exe"
		}
		a.programs = append(a.programs, file{program, 0o755, files[program]})
		err = errors.Join(err, present(files[program], program))
	}
	if err := errors.Join(err, present(a.license, "LICENSE")); err != nil {
		return archive{}, fmt.Errorf("%s: %w", found[0], err)
	}
	return a, nil
}

func present(data []byte, name string) error {
	if len(data) == 0 {
		return fmt.Errorf("it has no %s", name)
	}
	return nil
}
