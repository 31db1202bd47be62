package reference

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/conformance"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var (
	cases     = flag.Uint64("cases", 200, "how many mutated workspaces are judged")
	firstSeed = flag.Uint64("seed", gittest.Seed(1), "the first one's seed")
)

// variable names the reference program.
const variable = "SMALL_GATE_REFERENCE"

func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("NOT TESTED: %s names no program, so no verdict is held against it: export %[1]s=\"$(scripts/reference-setup)\"", variable)
	}
	return path
}

// verdict is what the two programs say about one workspace.
type verdict struct {
	report *finding.Report
	// passes and output are the reference's.
	passes bool
	output string
}

func (v verdict) agree() bool { return v.passes == (v.report.Verdict == finding.Pass) }

// judgeBoth runs both on the workspace in a directory.
func judgeBoth(dir, reference string, strict bool) (verdict, error) {
	args := []string{"check", "--dir", dir}
	if strict {
		args = append(args, "--strict")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, reference, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 2) {
		return verdict{}, fmt.Errorf("the reference: %w\n%s", err, out)
	}
	v := verdict{passes: err == nil, output: string(out)}
	v.report, err = ours(ctx, dir, "", strict)
	return v, err
}

// ours is the gate's report on the workspace in a directory.
func ours(ctx context.Context, dir, kind string, strict bool) (*finding.Report, error) {
	req := session.Request{Dir: dir, WorkspaceKind: kind, Strict: strict, Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
	report := judge.Check(ctx, req, session.State{})
	if report.Failure != nil {
		return nil, report.Failure
	}
	return report, nil
}

// write puts a workspace's files into an empty directory.
func (w *workspace) write(dir string) error {
	for _, f := range w.files {
		path := filepath.Join(dir, ".small", filepath.FromSlash(f.name))
		if strings.HasSuffix(f.name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if f.link != "" {
			if err := os.Symlink(f.link, path); err != nil {
				return err
			}
		} else if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tally counts verdicts, and collects failures.
type tally struct {
	sync.Mutex
	verdicts, agreed, passed int
	explained                map[string]int
	failures                 []string
}

// one judges a workspace and compares with the reference, in both modes.
func (n *tally) one(w *workspace, reference, name string) {
	n.judge(w, name, func(dir string, strict bool) (verdict, error) { return judgeBoth(dir, reference, strict) })
}

// recorded judges a workspace with a recorded verdict of the reference.
func (n *tally) recorded(c *recorded) {
	w, err := c.workspace()
	if err != nil {
		n.note(w, false, verdict{}, c.ID, err)
		return
	}
	n.judge(w, c.ID, func(dir string, strict bool) (verdict, error) {
		v := verdict{passes: c.Plain == 0, output: c.Words}
		if strict {
			v.passes = c.Strict == 0
		}
		var err error
		v.report, err = ours(context.Background(), dir, c.Kind, strict)
		return v, err
	})
}

// judge puts a workspace into a directory and has it judged there in both modes.
func (n *tally) judge(w *workspace, name string, both func(dir string, strict bool) (verdict, error)) {
	dir, err := os.MkdirTemp("", "reference")
	if err == nil {
		err = w.write(dir)
	}
	for _, strict := range []bool{false, true} {
		var v verdict
		if err == nil {
			v, err = both(dir, strict)
		}
		n.note(w, strict, v, name, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		n.note(w, false, verdict{}, name, err)
	}
}

func (n *tally) note(w *workspace, strict bool, v verdict, name string, err error) {
	n.Lock()
	defer n.Unlock()
	if err != nil {
		n.failures = append(n.failures, fmt.Sprintf("%s: %v", name, err))
		return
	}
	n.verdicts++
	if v.passes {
		n.passed++
	}
	if v.agree() {
		n.agreed++
		return
	}
	if left := unexplained(w, strict, v.report, v.output); len(left) > 0 {
		text := fmt.Sprintf("%s, strict %v: the reference passes it: %v, here it is %s\n  %s\n  made by %s", name, strict, v.passes, v.report.Verdict, strings.Join(left, "\n  "), w.how)
		if len(n.failures) < 20 {
			for _, f := range w.files {
				text += fmt.Sprintf("\n-- %s %s--\n%s", f.name, f.link, f.data)
			}
		}
		n.failures = append(n.failures, text)
		return
	}
	for _, d := range divergences {
		for i := range v.report.Findings {
			if v.passes && d.explains(w, strict, v.report, &v.report.Findings[i], "") {
				n.explained[d.what]++
				break
			}
		}
		if !v.passes {
			for line := range strings.Lines(v.output) {
				if d.explains(w, strict, v.report, nil, strings.TrimSpace(line)) {
					n.explained[d.what]++
					break
				}
			}
		}
	}
}

// report logs the numbers, and fails the test for each disagreement that no divergence explains.
func (n *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("%d verdicts, %d agree, %d differ as stated, %d fail; the reference passes %d", n.verdicts, n.agreed, n.verdicts-n.agreed-len(n.failures), len(n.failures), n.passed)
	for _, what := range slices.Sorted(maps.Keys(n.explained)) {
		t.Logf("%6d  %s", n.explained[what], what)
	}
	for i, text := range n.failures {
		if i == 20 {
			t.Errorf("and %d more", len(n.failures)-20)
			return
		}
		t.Error(text)
	}
}

// TestReference judges mutated workspaces and compares with the reference, plain and strict. A run of any length can be repeated: -seed and
// -cases select it.
func TestReference(t *testing.T) {
	reference := program(t)
	n := &tally{explained: map[string]int{}}
	seeds := make(chan uint64)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for seed := range seeds {
				n.one(newGenerator(seed).workspace(), reference, fmt.Sprintf("seed %d", seed))
			}
		})
	}
	for seed := *firstSeed; seed < *firstSeed+*cases; seed++ {
		seeds <- seed
	}
	close(seeds)
	workers.Wait()
	n.report(t)
	if *cases >= 100 && (n.passed < n.verdicts/10 || n.verdicts-n.passed < n.verdicts/10) {
		t.Errorf("the reference passes %d of %d: the generator makes too few of one kind", n.passed, n.verdicts)
	}
}

// TestConformance compares the repository's own cases with the reference: either it agrees, or a note says that it does not and there is a
// divergence for that.
func TestConformance(t *testing.T) {
	reference := program(t)
	n := &tally{explained: map[string]int{}}
	for _, c := range conformance.Cases(t) {
		if !strings.HasPrefix(c.Name, "own-") {
			continue
		}
		w := &workspace{}
		for _, path := range slices.Sorted(maps.Keys(c.Files)) {
			w.files = append(w.files, file{name: strings.TrimPrefix(path, ".small/"), data: c.Files[path]})
		}
		before := n.agreed
		n.one(w, reference, c.Name)
		if agrees := n.agreed == before+2; agrees != (c.Note == "") {
			t.Errorf("%s: the reference agrees: %v, but the note is %q", c.Name, agrees, c.Note)
		}
	}
	n.report(t)
}
