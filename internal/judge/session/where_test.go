package session

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSplitExisting: below a file nothing exists, though the system says something else than of a path below a missing folder.
func TestSplitExisting(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, existing, missing string }{
		{"", "", ""},
		{"file", "file", ""},
		{"file/x/y", "file", "x/y"},
		{"gone/x", "", "gone/x"},
	} {
		existing, missing := SplitExisting(filepath.Join(dir, c.path))
		if existing != filepath.Join(dir, c.existing) || missing != filepath.FromSlash(c.missing) {
			t.Errorf("%q is split into %q and %q", c.path, existing, missing)
		}
	}
}
