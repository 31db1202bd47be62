package directory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// TestWalkWhileABuildRuns: a directory that is deleted during a walk is no longer there, and no reason to fail.
func TestWalkWhileABuildRuns(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"a/file", "b/file", "c/file"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := tree.listBelow(t.Context(), ".", func(history.File) bool {
		return os.RemoveAll(filepath.Join(root, "b")) == nil
	})
	if err != nil || len(files) != 2 || files[0].Path != "a/file" || files[1].Path != "c/file" {
		t.Errorf("%v, %v", files, err)
	}
}

// TestGoneMeanwhile: a file that is deleted between the listing of its folder and a look at it is not there.
func TestGoneMeanwhile(t *testing.T) {
	tree, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if files, err := tree.filesAt([]string{"gone", "gone/below"}); len(files) > 0 || err != nil {
		t.Errorf("files %v, error %v", files, err)
	}
	if files, err := tree.listTwins("gone"); len(files) > 0 || err != nil {
		t.Errorf("twins %v, error %v", files, err)
	}
}
