package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/cli"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// readerVariable names the reader that the program is to use in a script.
const readerVariable = "SMALL_ACTION_TEST_READER"

// TestMain registers the program as a command of the scripts, and the hooks' program, which writes baselines and waivers.
func TestMain(m *testing.M) {
	testscript.Main(gittest.Suite{M: m}, map[string]func(){"small-action": func() {
		if reader := os.Getenv(readerVariable); reader != "" {
			os.Args = slices.Insert(os.Args, 1, "--reader="+reader)
		}
		main()
	}, "small-hook": func() { os.Exit(program.Run(cli.Run)) }})
}

// TestScripts runs the program with the real git on repositories as CI systems leave them: each with the default reader, and a third with
// git's (SMALL_GATE_TIMES=3 for all). They seldom differ here: CI walks history, and few of its checkouts are plain.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, reader := range []string{"git", "auto"} {
		t.Run(reader, func(t *testing.T) {
			t.Parallel()
			files := scripts
			if reader == "git" {
				gittest.Long(t)
				files = nil
				for i := 0; i < len(scripts); i += gittest.OneIn(3) {
					files = append(files, scripts[i])
				}
			}
			testscript.Run(t, testscript.Params{
				Files:               files,
				WorkdirRoot:         gittest.TempDir(t),
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Cmds:                commands,
				Condition: func(cond string) (bool, error) {
					switch cond {
					case "all":
						return gittest.All(), nil
					case "root":
						return os.Geteuid() == 0, nil
					case "git":
						return cond == reader, nil
					}
					return false, fmt.Errorf("there is no condition %q", cond)
				},
				Setup: func(env *testscript.Env) error {
					env.Vars = append(env.Vars, readerVariable+"="+reader)
					return setup(env)
				},
			})
		})
	}
}

// setup keeps the machine's configuration and CI variables out of a script.
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
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "GITHUB_") && !strings.HasPrefix(kv, "CI") {
			vars = append(vars, kv)
		}
	}
	workspace, err := filepath.Abs(filepath.Join("..", "small-hook", "testdata", "workspace"))
	if err != nil {
		return err
	}
	env.Vars = slices.Concat(vars, []string{
		"HOME=" + home, "LC_ALL=C", "WORKSPACE=" + workspace, "ZERO=" + strings.Repeat("0", 40),
		"GONE=" + strings.Repeat("d", 40),
		"GIT_CONFIG_GLOBAL=" + config, "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_AUTHOR_NAME=A Writer", "GIT_AUTHOR_EMAIL=writer@example.com",
		"GIT_COMMITTER_NAME=A Writer", "GIT_COMMITTER_EMAIL=writer@example.com",
		"GIT_AUTHOR_DATE=2026-03-01T12:00:00Z", "GIT_COMMITTER_DATE=2026-03-01T12:00:00Z",
		"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
	})
	return nil
}
