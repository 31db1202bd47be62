package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// referenceProgram is the variable with the path of the protocol's own program; scripts/reference-setup prints it.
const referenceProgram = "SMALL_GATE_REFERENCE"

// TestLife plays whole sessions with real hooks and the protocol's own program, the command `small` of these scripts. Each script is a
// place where people got stuck, and ends with the work done.
func TestLife(t *testing.T) {
	bin := referenceBin(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "life"),
		WorkdirRoot:         gittest.TempDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			if err := setup(env); err != nil {
				return err
			}
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			return nil
		},
		Cmds:      commands,
		Condition: condition,
	})
}

// referenceBin is a directory with the protocol's own program as the command `small`. It skips the test if there is none.
func referenceBin(t *testing.T) string {
	t.Helper()
	reference := os.Getenv(referenceProgram)
	if reference == "" {
		t.Skipf("NOT TESTED: %s names no program, so nothing was lived beside the protocol's own: export %[1]s=\"$(scripts/reference-setup)\"", referenceProgram)
	}
	bin := t.TempDir()
	if err := os.Symlink(reference, filepath.Join(bin, "small")); err != nil {
		t.Fatal(err)
	}
	return bin
}
