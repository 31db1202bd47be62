package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestMain registers the program as a command of the scripts: git's hooks find
// it on the path, and it is the code under test that runs.
func TestMain(m *testing.M) {
	testscript.Main(gittest.Suite{M: m}, map[string]func(){
		"small-hook":  scriptedMain,
		"team-writer": teamWriter,
		"peak-of":     peakOf,
	})
}

// TestScripts runs the program with the real git, one script per behaviour. A script that is large, or repeats cases of internal/gate, is a
// long test: it begins with [!all] skip.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		WorkdirRoot:         gittest.TempDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds:                commands,
		Condition:           condition,
	})
}

// condition knows [all], which is true if the long tests run, and [root].
func condition(cond string) (bool, error) {
	switch cond {
	case "all":
		return gittest.All(), nil
	case "root":
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("there is no condition %q", cond)
}

// setup keeps the user's git configuration, clock and locale out of a script, and puts a valid workspace into it as $WORKSPACE.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	config, err := gittest.GlobalConfig()
	if err != nil {
		return err
	}
	var vars []string
	for _, kv := range env.Vars {
		if !strings.HasPrefix(kv, "GIT_") {
			vars = append(vars, kv)
		}
	}
	workspace, err := filepath.Abs(filepath.Join("testdata", "workspace"))
	if err != nil {
		return err
	}
	env.Vars = slices.Concat(vars, []string{
		"HOME=" + home, "LC_ALL=C", "NO_COLOR=1", "WORKSPACE=" + workspace,
		"GIT_CONFIG_GLOBAL=" + config, "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_AUTHOR_NAME=A Writer", "GIT_AUTHOR_EMAIL=writer@example.com",
		"GIT_COMMITTER_NAME=A Writer", "GIT_COMMITTER_EMAIL=writer@example.com",
		"GIT_AUTHOR_DATE=2026-03-01T12:00:00Z", "GIT_COMMITTER_DATE=2026-03-01T12:00:00Z",
		"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "SMALL_GATE_TIMES=" + os.Getenv("SMALL_GATE_TIMES"),
	})
	return nil
}
