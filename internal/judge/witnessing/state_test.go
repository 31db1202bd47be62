package witnessing

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/witness"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestOneAtATime demands that two looks at one state exclude each other, and that the lock leaves nothing behind.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot lock a directory")
	}
	o := Options{State: filepath.Join(t.TempDir(), "state")}
	first, err := openState(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openState(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another witness is at work") {
		t.Errorf("a second look: %v", err)
	}
	if _, err := first.write(&witness.State{Repository: "r", Refs: []witness.Ref{{Name: "HEAD"}}}); err != nil {
		t.Error(err)
	}
	if err := first.unlock(); err != nil {
		t.Error(err)
	}
	second, err := openState(t.Context(), o)
	if err != nil || second.state.Repository != "r" {
		t.Fatalf("%+v %v", second, err)
	}
	if err := second.unlock(); err != nil {
		t.Error(err)
	}
	names, err := os.ReadDir(o.State)
	if err != nil || len(names) != 1 || names[0].Name() != stateFileName {
		t.Errorf("%v %v", names, err)
	}
}

// TestUnwritable demands that a state that cannot be written is an error, and stays as it was.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k, err := openState(t.Context(), Options{State: dir})
	if err != nil {
		t.Fatal(err)
	}
	k.path = filepath.Join(dir, "gone", stateFileName)
	if _, err := k.write(&witness.State{Repository: "r"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := k.unlock(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openState(t.Context(), Options{State: file}); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// TestTooLarge demands that an endless state or key is refused, and that no state is written that the next look could not read.
func TestTooLarge(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int64{stateFileName: maxState + 1, "key": maxKeys + 1} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []Options{{State: dir}, {State: t.TempDir(), Sign: filepath.Join(dir, "key")}, {State: t.TempDir(), Verify: filepath.Join(dir, "key")}} {
		if _, err := openState(t.Context(), o); err == nil || !strings.Contains(err.Error(), "it has more than ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	k, err := openState(t.Context(), Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	large := witness.State{Repository: "r", Config: []string{strings.Repeat("x", maxState)}, Refs: []witness.Ref{{Name: "HEAD"}}}
	if _, err := k.write(&large); err == nil || !strings.Contains(err.Error(), "it would be larger than") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(k.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is written: %v", err)
	}
	if err := k.unlock(); err != nil {
		t.Error(err)
	}
}
