//go:build !windows

package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// graphical is d as a graphical client starts git: without the user's PATH.
func (d *desk) graphical() *desk { return d.with("PATH=/usr/bin:/bin") }

// install's hooks name the program by its path, so that a client without the user's PATH is guarded as well.
func TestGraphicalClient(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	d := newDesk(t)
	d.must(0, "small-hook install")
	d.graphical().guarded(only{})
}

// A manager's configuration is shared with other machines, and names the program without a path. If a client does not find it, nothing
// passes.
func TestGraphicalClientWithManager(t *testing.T) {
	for name, m := range oneOfEach() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, m)
			d.follow(d.refuse(m.name))
			d.Git("add", "-A")
			d.committed("commit", "-q", "-m", "add the gate")
			gui := d.graphical()
			gui.entry()
			gui.stopped("small-hook", "commit", "-a", "-m", "append")
			gui.held("small-hook", "main")
			if m.name != "husky" {
				return
			}
			put(t, filepath.Join(d.home, ".config", "husky", "init.sh"), "PATH=\"$PATH:"+program()+"\"\n", 0o644)
			gui.commits()
		})
	}
}

// Chained in, the gate is found by its path there too.
func TestGraphicalClientChainedIn(t *testing.T) {
	for name, m := range oneOfEach() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, m)
			d.must(0, "small-hook install --force")
			gui := d.graphical()
			gui.rewrite()
			gui.stopped("append-only/modified", "commit", "-a", "-m", "rewrite")
			gui.entry()
			gui.committed("commit", "-q", "-a", "-m", "append")
			gui.pushed("main")
		})
	}
}

// If the program is gone, the hook says what was not judged and what to type, and lets nothing pass.
func TestProgramHasMoved(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	d := newDesk(t)
	text, err := os.ReadFile(filepath.Join(program(), "small-hook"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.home, "go bin", "small-hook")
	put(t, path, string(text), 0o755)
	d.must(0, `"$1" install`, path)
	d.diagnosed(true)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	gone := d.graphical()
	gone.entry()
	said, status := gone.run("git commit -q -a -m append")
	for _, want := range []string{"nothing was judged", path, "go install ", "small-hook install"} {
		if status == 0 || !strings.Contains(said, want) {
			t.Fatalf("exit status %d, without %q:\n%s", status, want, said)
		}
	}
	gone.held("nothing was judged", "main")
	// If another one is on PATH, it is used, with a message.
	d.stoppedRewriteSaying(t, path+" is missing or cannot be run: using ")
	if said := d.must(0, "small-hook doctor"); !strings.Contains(said, "missing or cannot be run: "+filepath.Join("~", "go bin", "small-hook")) {
		t.Error(said)
	}
	d.must(0, "small-hook install")
	gone.discard()
	gone.guarded(only{})
}

func (d *desk) stoppedRewriteSaying(t *testing.T, words string) {
	t.Helper()
	d.discard()
	d.rewrite()
	said, status := d.run("git commit -q -a -m rewrite")
	if status == 0 || !strings.Contains(said, words) || !strings.Contains(said, "append-only/modified") {
		t.Fatalf("exit status %d, without %q:\n%s", status, words, said)
	}
	d.discard()
}
