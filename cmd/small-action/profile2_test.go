package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/conformance"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestProfile2 has CI judge every shared history of 2.0.0.
func TestProfile2(t *testing.T) {
	gittest.Long(t)
	all, r := conformance.Histories(t)
	for i, c := range all {
		if i%conformance.Step() > 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			cmd := exec.Command("small-action", "--base", c.Root(r), "--head", c.Tip)
			cmd.Dir, cmd.Env = r.Dir, r.Environ()
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.Passes() {
				t.Errorf("%v: %s", err, out)
			}
			if !c.Sound() && (!strings.Contains(string(out), c.Rule()) || !strings.Contains(string(out), c.Path)) {
				t.Errorf("no %s of %q: %s", c.Rule(), c.Path, out)
			}
		})
	}
}
