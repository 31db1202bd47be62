package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestUpgrade replaces the last release's program by this one, and demands that everything it has set up still works: hooks, the merge
// driver, a harness's settings, a configuration with a baseline, and a witness's state. Before the first release the old program is this
// one, to test the test itself.
func TestUpgrade(t *testing.T) {
	gittest.Long(t)
	recent := builtFrom(t, filepath.Join("..", "..", ".."))
	old := recent
	if tag := lastRelease(t); tag == "" {
		t.Log("there is no release in this clone: the old program is this one")
	} else {
		source := filepath.Join(t.TempDir(), "source")
		if said, err := exec.Command("git", "clone", "-q", "--branch", tag, filepath.Join("..", "..", ".."), source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		old = builtFrom(t, source)
	}
	p := newPlace(t, "an upgrade", programName(), old)
	_, path := gitAlone(t)
	p.env = append(p.env, "PATH="+filepath.Dir(p.hook)+string(os.PathListSeparator)+path) // where a harness looks for it
	p.do("init", "-q")
	p.does("", p.hook, "install", "--merge-driver")
	p.does("", p.hook, "install", "--agent", "claude")
	p.do("add", "-A")
	p.do("commit", "-q", "-m", "start")
	p.log(0)
	p.do("-c", "core.hooksPath=nowhere", "commit", "-q", "-a", "-m", "rewrite")
	p.does("append-only/modified", p.hook, "audit")
	p.does("", p.hook, "baseline")
	p.do("add", "-A")
	p.do("commit", "-q", "-m", "accept")
	p.does("", p.hook, "audit")
	p.does("", p.hook, "witness", "--state", "../state")

	if err := gittest.WriteProgram(p.hook, string(recent)); err != nil {
		t.Fatal(err)
	}
	p.does("", p.hook, "doctor")
	p.does("", p.hook, "install", "--agent", "claude")
	p.do("diff", "--exit-code") // this program would write the same settings
	p.does("", p.hook, "audit")
	p.does("", p.hook, "witness", "--state", "../state")
	p.log(10)
	p.do("commit", "-q", "-a", "-m", "append")
	p.does("", p.hook, "witness", "--state", "../state")
	p.forge()
	p.does("append-only/modified", p.git, "commit", "-a", "-m", "forge")
	p.do("-c", "core.hooksPath=nowhere", "commit", "-q", "-a", "--amend", "-m", "forge")
	p.does("witness/rewritten", p.hook, "witness", "--state", "../state")
	p.does("", p.hook, "uninstall")
	p.does("", p.hook, "uninstall", "--agent", "claude")
	hooks, err := filepath.Glob(filepath.Join(p.dir, ".git", "hooks", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if left := slices.DeleteFunc(hooks, func(hook string) bool { return strings.HasSuffix(hook, ".sample") }); len(left) > 0 {
		t.Errorf("the hooks of the old program stay: %q", left)
	}
}

// lastRelease is the tag of the last release that this clone knows, or empty.
func lastRelease(t *testing.T) string {
	t.Helper()
	tags, err := exec.Command("git", "tag", "--list", "--sort=-version:refname", "v*.*.*").Output()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^v\d+\.\d+\.\d+$`).FindString(string(tags)) // not a candidate
}

func programName() string {
	if runtime.GOOS == "windows" {
		return "small-hook.exe"
	}
	return "small-hook"
}

// builtFrom is the program built from a source.
func builtFrom(t *testing.T, source string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), programName())
	cmd := exec.Command("go", "build", "-o", file, "./cmd/small-hook")
	cmd.Dir = source
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return program
}
