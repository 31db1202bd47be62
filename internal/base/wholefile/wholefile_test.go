package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "one")
	want(t, file, "one")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	write(t, file, "longer than before")
	want(t, file, "longer than before")
	write(t, file, "")
	want(t, file, "")
	if got := permissions(t, file); got != 0o640 {
		t.Errorf("the permissions were 0640 and are %o", got)
	}
	names(t, dir, "file")
}

// A new file has the permissions that any other program gives it.
func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	ours, other := filepath.Join(dir, "ours"), filepath.Join(dir, "other")
	write(t, ours, "text")
	if err := os.WriteFile(other, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := permissions(t, ours), permissions(t, other); got != want {
		t.Errorf("the permissions are %o, not %o", got, want)
	}
}

func TestWriteThroughLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	write(t, file, "one")
	if err := os.Symlink("file", link); err != nil {
		t.Skipf("NOT TESTED: no symbolic link can be made here: %v", err)
	}
	write(t, link, "two")
	want(t, file, "two")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is a link no more (%v)", err)
	}
}

// A broken link and its target stay as they are.
func TestWriteThroughLinkToNowhere(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("gone", link); err != nil {
		t.Skipf("NOT TESTED: no symbolic link can be made here: %v", err)
	}
	if err := Write(link, []byte("text")); err == nil {
		t.Error("no error")
	}
	names(t, dir, "link")
}

// Something other than a file stays what it is.
func TestWriteToDevice(t *testing.T) {
	before, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	write(t, os.DevNull, "text")
	after, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if after.Mode() != before.Mode() {
		t.Errorf("the device was %s and is %s", before.Mode(), after.Mode())
	}
}

func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "file"), filepath.Join(dir, "a\x00b"), ""} {
		if err := Write(path, []byte("text")); err == nil {
			t.Errorf("%q: no error", path)
		}
	}
	names(t, dir)
}

// Nothing is written beside the file unless the git directory is unusable: missing, or on another file system.
func TestWriteVia(t *testing.T) {
	gitDir, dir := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "file")
	if other, err := os.MkdirTemp("/dev/shm", "wholefile"); err != nil {
		t.Logf("NOT TESTED: there is no other file system here: %v", err)
	} else {
		t.Cleanup(func() {
			if err := os.RemoveAll(other); err != nil {
				t.Error(err)
			}
		})
		via(t, other, file, "over there")
		names(t, other)
	}
	via(t, filepath.Join(gitDir, "none"), file, "none")
	via(t, gitDir, file, "here")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	via(t, gitDir, file, "again")
	if got := permissions(t, file); got != 0o640 {
		t.Errorf("the permissions were 0640 and are %o", got)
	}
	names(t, gitDir)
	names(t, dir, "file")
}

// A link is replaced, and its target stays unchanged.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	write(t, file, "one")
	if err := os.Symlink("file", link); err != nil {
		t.Skipf("NOT TESTED: no symbolic link can be made here: %v", err)
	}
	if err := Replace(link, []byte("two"), 0o755); err != nil {
		t.Fatal(err)
	}
	want(t, file, "one")
	want(t, link, "two")
	if got := permissions(t, link); got != 0o755 {
		t.Errorf("the permissions are %o", got)
	}
	names(t, dir, "file", "link")
}

func via(t *testing.T, gitDir, path, content string) {
	t.Helper()
	if err := WriteVia(gitDir, path, []byte(content)); err != nil {
		t.Fatal(err)
	}
	want(t, path, content)
}

// A prepared file is not in place yet; those of killed processes are swept, and nothing else.
func TestPrepareAndSweep(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "one")
	p, err := Prepare(file, []byte("two"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	want(t, file, "one")
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	want(t, file, "two")
	for _, name := range []string{"file", "file", "other"} {
		if _, err := Prepare(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	others := []string{"file" + Infix + "7", ".file" + Infix + "old", ".file" + Infix, ".file" + Infix + "7.txt"}
	for _, name := range others {
		write(t, filepath.Join(dir, name), "somebody else's")
	}
	if err := Sweep(dir, "file"); err != nil {
		t.Fatal(err)
	}
	for _, name := range others {
		want(t, filepath.Join(dir, name), "somebody else's")
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) != 1 || !strings.HasPrefix(filepath.Base(left[0]), ".other"+Infix) {
		t.Errorf("there is %v, %v", left, err)
	}
	if err := Sweep(dir); err != nil {
		t.Fatal(err)
	}
	names(t, dir, "file")
	if err := Sweep(filepath.Join(dir, "none")); err != nil {
		t.Error(err)
	}
}

// A file whose name is as long as the system allows is written and swept like any other.
func TestLongName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{strings.Repeat("n", 255), strings.Repeat("é", 127)} {
		file := filepath.Join(dir, name)
		write(t, file, "one")
		want(t, file, "one")
		write(t, file, "two")
		want(t, file, "two")
		if _, err := Prepare(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Sweep(dir, name); err != nil {
			t.Fatal(err)
		}
		names(t, dir, name)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := Write(path, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, path, content string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("%s holds %q (%v), not %q", path, got, err, content)
	}
}

func permissions(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// names demands that a directory has exactly these files.
func names(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(want) {
		t.Errorf("the directory holds %v, not %v", entries, want)
	}
}

func TestStart(t *testing.T) {
	dir := t.TempDir()
	file, empty := filepath.Join(dir, "file"), filepath.Join(dir, "empty")
	write(t, file, "text")
	write(t, empty, "")
	for most, want := range map[int64]string{3: "tex", 4: "text", 5: "text"} {
		if got, err := Start(file, most); err != nil || string(got) != want {
			t.Errorf("up to %d bytes are %q, %v", most, got, err)
		}
	}
	if got, err := Start(empty, 1); err != nil || got == nil {
		t.Errorf("an empty file: %v, %v", got, err)
	}
	if _, err := Start(filepath.Join(dir, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for _, path := range []string{dir, os.DevNull} {
		if _, err := Start(path, 1); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
