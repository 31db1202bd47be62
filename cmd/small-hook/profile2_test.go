package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/conformance"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestProfile2 judges every shared history of 2.0.0, whole and as a range, with both readers, and where it is pushed.
func TestProfile2(t *testing.T) {
	gittest.Long(t)
	all, r := conformance.Histories(t)
	server := gittest.New(t, gittest.Bare())
	install := exec.Command("small-hook", "install", "--pre-receive")
	install.Dir, install.Env = server.Dir, server.Environ()
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			for i, args := range [][]string{{"audit", c.Tip}, {"range", c.Root(r) + ".." + c.Tip}} {
				for k, reader := range []string{"git", "go-git"} {
					if i == k || gittest.All() { // the quick tests take each half with one reader
						judgeHistory2(t, r, c, append(args, "--reader", reader))
					}
				}
			}
			if i%conformance.Step() > 0 {
				return
			}
			push := exec.Command("git", "push", "--quiet", server.Dir, c.Tip+":refs/heads/"+c.Name)
			push.Dir, push.Env = r.Dir, r.Environ()
			text, err := push.CombinedOutput()
			out := string(text)
			if (err == nil) != c.Passes() {
				t.Errorf("pushed: %v: %s", err, out)
			}
			if !c.Sound() && (!strings.Contains(out, "["+c.Rule()+"]") || !strings.Contains(out, c.Path)) {
				t.Errorf("pushed: no %s of %q: %s", c.Rule(), c.Path, out)
			}
			if c.Sound() && strings.Contains(out, "fix: ") {
				t.Errorf("pushed: findings in a sound history: %s", out)
			}
		})
	}
}

func judgeHistory2(t *testing.T, r *gittest.Repo, c conformance.History, args []string) {
	t.Helper()
	out, err := smallHook(r, append(args, "--format", "json")...).Output()
	var report struct {
		Verdict  string
		Findings []struct{ Rule, Path, Severity, Fix string }
	}
	if bad := json.Unmarshal(out, &report); bad != nil {
		t.Fatalf("%v: no report: %v (%v)", args, bad, err)
	}
	want := conformance.Fail
	if c.Passes() {
		want = conformance.Pass
	}
	if report.Verdict != want {
		t.Errorf("%v: verdict %s, want %s; findings: %v", args, report.Verdict, want, report.Findings)
	}
	if c.Sound() {
		if len(report.Findings) > 0 {
			t.Errorf("%v: findings in a sound history: %v", args, report.Findings)
		}
		return
	}
	for _, f := range report.Findings {
		if f.Rule == c.Rule() && strings.HasPrefix(f.Path, c.Path) {
			return
		}
	}
	t.Errorf("%v: no %s of %q; findings: %v", args, c.Rule(), c.Path, report.Findings)
}
