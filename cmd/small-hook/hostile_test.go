package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestHostile runs every script of testdata/hostile with both readers side by
// side: what somebody may put into a repository, a file or an environment to
// mislead the gate or its reader, to make it run something, or to make it cost
// too much.
func TestHostile(t *testing.T) {
	gittest.Long(t)
	run := &kindRun{reader: sideBySide}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "hostile"),
		WorkdirRoot:         gittest.TempDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Condition:           run.condition,
		Setup:               func(env *testscript.Env) error { return setupReader(env, sideBySide) },
	})
}
