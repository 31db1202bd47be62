package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestExamples demands an example in the help of every command, and runs it in a shell: each call of small-hook must be a valid command
// line, and one of them must be the command's own.
func TestExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	bin := t.TempDir()
	for name, script := range map[string]string{"small-hook": `for word; do printf '%s\0' "$word"; done >>"$CALLS"; echo >>"$CALLS"`, "git": "echo id", "small": ""} {
		if err := gittest.WriteProgram(filepath.Join(bin, name), "#!/bin/sh\n"+script+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	root := Command()
	for _, c := range append(root.Commands(), root) {
		t.Run(c.Name(), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "event.json"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			calls := filepath.Join(dir, "calls")
			sh := exec.Command("sh", "-e", "-c", c.Example)
			sh.Dir, sh.Env = dir, append(os.Environ(), "CALLS="+calls, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			if out, err := sh.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%s", err, out, c.Example)
			}
			read, err := os.ReadFile(calls)
			if err != nil {
				t.Fatalf("no example calls small-hook: %v\n%s", err, c.Example)
			}
			own := false
			for line := range strings.Lines(string(read)) {
				words := strings.Split(strings.TrimSuffix(line, "\x00\n"), "\x00")
				called, rest, err := Command().Find(words)
				if err == nil {
					err = called.ParseFlags(rest)
				}
				if err == nil {
					err = called.ValidateArgs(called.Flags().Args())
				}
				if err != nil {
					t.Errorf("%q: %v", words, err)
				}
				own = own || strings.HasPrefix(called.CommandPath()+" ", c.CommandPath()+" ")
			}
			if !own {
				t.Errorf("no example of it:\n%s", c.Example)
			}
		})
	}
}
