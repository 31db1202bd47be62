package reference

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestSwitchLane has the reference program make a workspace and begin a run, with entries dated by the clock. Both judge it after a switch
// of lane; then the program appends to it.
func TestSwitchLane(t *testing.T) {
	reference := program(t)
	r := gittest.New(t)
	small := func(args ...string) {
		t.Helper()
		cmd := exec.Command(reference, args...)
		cmd.Dir = r.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("small %v: %v\n%s", args, err, out)
		}
	}
	small("init", "--intent", "a resumable importer")
	for _, start := range []bool{false, true} {
		if start {
			small("start")
		}
		req := session.Request{Dir: r.Dir, Now: time.Now(), Environ: r.Environ()}
		if _, err := edit.SwitchLane(t.Context(), req, edit.Locking{}, "deep", "it \"stores\" data: é"); err != nil {
			t.Fatal(err)
		}
		for _, strict := range []bool{false, true} {
			if !start && strict {
				continue // a fresh workspace does not pass the strict check yet
			}
			v, err := judge(r.Dir, reference, strict)
			if err != nil {
				t.Fatal(err)
			}
			if !v.passes || v.report.Verdict != finding.Pass {
				t.Errorf("started %v, strict %v: the reference passes it: %v, we say %v:\n%s\n%v", start, strict, v.passes, v.report.Verdict, v.output, v.report.Findings)
			}
		}
	}
	small("progress", "add", "--task", "meta/qa", "--status", "completed", "--evidence", "tried", "--dir", filepath.Clean(r.Dir))
	small("check", "--strict")
}
