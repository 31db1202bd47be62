//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// tampered is an unpublished history in which logs were rewritten, and what must survive whatever is typed.
type tampered struct {
	*gittest.Repo
	t      *testing.T
	random *rand.Rand
	// recorded has the evidence of all entries.
	recorded []string
	branches int
}

const tamperedLog = ".small/progress.small.yml"

// record appends an entry and commits it.
func (h *tampered) record() {
	h.recorded = append(h.recorded, fmt.Sprintf("work %d is done", len(h.recorded)))
	evidence := h.recorded[len(h.recorded)-1]
	if status := exitOf(h.t, smallHook(h.Repo, "append", "--task", "task-1", "--evidence", evidence)); status != 0 {
		h.t.Fatalf("append ended with %d", status)
	}
	h.Git("commit", "-q", "-a", "-n", "-m", evidence)
}

// tamper rewrites the log in a commit that no hook sees, sometimes with new work in it.
func (h *tampered) tamper() {
	items := strings.SplitAfter(contentOf(h.t, h.Path(tamperedLog)), "\n  - ")
	last := len(items) - 1
	items[last] += "  - "
	if at := 1 + h.random.IntN(last); last == 1 || h.random.IntN(3) > 0 {
		items[at] = regexp.MustCompile(`(evidence: ")`).ReplaceAllString(items[at], "${1}TAMPERED ")
	} else {
		items = append(items[:at], items[at+1:]...)
	}
	h.Write(tamperedLog, strings.TrimSuffix(strings.Join(items, ""), "  - "))
	h.Git("commit", "-q", "-a", "-n", "-m", "Tamper")
}

// side has somebody else record work on a branch, and merges it.
func (h *tampered) side() {
	h.branches++
	name := fmt.Sprintf("side-%d", h.branches)
	h.Git("switch", "-q", "-c", name, "HEAD")
	someone := *h
	someone.Repo = h.With("GIT_AUTHOR_NAME=Somebody Else")
	someone.record()
	if h.random.IntN(4) == 0 {
		someone.tamper()
	}
	h.recorded = someone.recorded
	h.Git("switch", "-q", "main")
	h.record()
	if _, err := h.Try("merge", "-q", "--no-commit", name); err != nil {
		if status := exitOf(h.t, smallHook(h.Repo, "reconcile")); status != 0 { // reconcile refuses a side that has lost something
			h.Git("checkout", "-q", "--ours", tamperedLog)
			h.Git("add", "-A")
		}
	}
	h.Git("commit", "-q", "-n", "--no-edit")
}

func (h *tampered) structure() string {
	return h.Git("log", "--topo-order", "--format=%an %ad %s", "HEAD") + h.Git("log", "--topo-order", "--merges", "--format=%s", "HEAD")
}

var typable = regexp.MustCompile("`([^`]+)`")

// follow types what a fix says, and what the remedy of that says, if it fails.
func (h *tampered) follow(fix string, commands int) {
	for _, m := range typable.FindAllStringSubmatch(fix, -1) {
		cmd := exec.Command("sh", "-c", m[1])
		cmd.Dir, cmd.Env = h.Dir, h.Environ()
		out, err := cmd.CombinedOutput()
		if err != nil && commands > 1 {
			h.follow(string(out), commands-1)
		} else if err != nil {
			h.t.Fatalf("%s: %v\n%s", m[1], err, out)
		}
	}
}

// findings is a report on what nobody else has.
func (h *tampered) findings() []struct{ Rule, Fix string } {
	cmd := smallHook(h.Repo, "range", "origin/main..HEAD", "--format", "json")
	cmd.Stdout = nil
	out, _ := cmd.Output() //nolint:errcheck // status 1 is what is looked for
	var report struct {
		Verdict  string
		Findings []struct{ Rule, Severity, Fix string }
	}
	if err := json.Unmarshal(out, &report); err != nil || report.Verdict == "error" {
		h.t.Fatalf("%v: %s", err, out)
	}
	var errors []struct{ Rule, Fix string }
	for _, f := range report.Findings {
		if f.Severity == "error" {
			errors = append(errors, struct{ Rule, Fix string }{f.Rule, f.Fix})
		}
	}
	return errors
}

// TestFixesOfTampering types the first fix of each report on random histories that nobody else has, until there is nothing to type. In the end
// each entry is there once, authors and messages are what they were, merges are merges, and what was not committed is still there.
func TestFixesOfTampering(t *testing.T) {
	gittest.Long(t)
	for seed := range gittest.Rounds(1, 30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			if err := os.CopyFS(r.Path(".small"), os.DirFS("testdata/workspace/.small")); err != nil {
				t.Fatal(err)
			}
			r.Commit("start")
			remote := gittest.New(t, gittest.Bare())
			r.Git("remote", "add", "origin", remote.Dir)
			r.Git("push", "-q", "origin", "main")
			h := &tampered{Repo: r, t: t, random: rand.New(rand.NewPCG(gittest.Seed(uint64(seed)), 1))}
			h.record()
			for range 4 + h.random.IntN(5) {
				[]func(){h.record, h.tamper, h.side}[h.random.IntN(3)]()
			}
			h.tamper()
			h.record()
			before := h.structure()
			if status := exitOf(t, smallHook(r, "append", "--task", "task-1", "--evidence", "not committed")); status != 0 {
				t.Fatalf("append ended with %d", status)
			}
			for typed := 0; ; typed++ {
				found := h.findings()
				if len(found) == 0 {
					break
				}
				if typed > 8 {
					t.Fatalf("the fixes lead nowhere: %v", found)
				}
				h.follow(found[0].Fix, 2)
			}
			if after := h.structure(); after != before {
				t.Errorf("the history was\n%s\nand is\n%s", before, after)
			}
			file, committed := contentOf(t, h.Path(tamperedLog)), r.Git("show", "HEAD:"+tamperedLog)
			for _, evidence := range append(h.recorded, "not committed") {
				if n := strings.Count(file, `"`+evidence+`"`); n != 1 {
					t.Errorf("%q is there %d times:\n%s", evidence, n, file)
				}
				if n := strings.Count(committed, `"`+evidence+`"`); n != 1 && evidence != "not committed" {
					t.Errorf("%q is committed %d times", evidence, n)
				}
			}
			if strings.Contains(file, "TAMPERED") {
				t.Errorf("the edit is still there:\n%s", file)
			}
			if status := exitOf(t, smallHook(r, "audit")); status != 0 {
				t.Errorf("audit ends with %d", status)
			}
		})
	}
}
