package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// logCase is a small repository with logs of the configuration, and what the gate has to answer. README.md beside the cases describes it.
type logCase struct {
	ID, Title, Config, Script, State, Why string
	Check                                 []string
	Want                                  struct {
		Status          *int
		Rules, Any, Not []string
		Says            []string
		Path            *string
		Line            *int
	}
}

// logCases are the shared cases. It skips the test aloud if they are not beside the repository.
func logCases(t *testing.T) []logCase {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "conformance", "logs", "cases.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("NOT TESTED: no shared case of a configured log is judged: ../shared/conformance/logs is not beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	var all []logCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c logCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%d cases: %v", len(all), err)
	}
	return all
}

// caseHelpers are the commands that the cases' scripts use.
const caseHelpers = `set -e
c() { git add -A; git commit -q -m "$1"; }
n() { printf '{"id":"%s","text":"%s"}\n' "$1" "$2"; }
b() { printf '\n## %s\n- what: %s\n- fix: none\n' "$1" "$2"; }
h() { small-hook audit "$1" --format json | sed -n '/"ledgers"/,$s/.*"head": "\(sha256:[0-9a-f]*\)".*/\1/p' | head -n 1; }
`

// notYet are the shared cases that the gate does not answer as they ask, and why.
var notYet = map[string]string{}

// TestLogCases judges each shared case with both readers.
func TestLogCases(t *testing.T) {
	gittest.Long(t)
	for _, c := range logCases(t) {
		if why := notYet[c.ID]; why != "" {
			t.Run(c.ID, func(t *testing.T) { t.Skip("NOT YET: " + why) })
			continue
		}
		for _, reader := range []string{"git", "auto"} {
			t.Run(c.ID+"/"+reader, func(t *testing.T) {
				t.Parallel()
				c.judge(t, reader)
			})
		}
	}
}

// judge plays the case and compares the gate's answer.
func (c logCase) judge(t *testing.T, reader string) {
	r := gittest.New(t)
	r.Write(".small-gate.yml", c.Config)
	play := exec.Command("bash", "-c", caseHelpers+c.Script+"\n"+c.State)
	play.Dir, play.Env = r.Dir, r.Environ()
	if out, err := play.CombinedOutput(); err != nil {
		t.Fatalf("%s: the script fails: %v\n%s", c.Title, err, out)
	}
	cmd := smallHook(r, slices.Concat(c.Check, []string{"--dir", r.Dir, "--format", "json", "--reader", reader})...)
	switch c.Check[0] {
	case "push":
		ref := "refs/heads/" + c.Check[1]
		cmd = smallHook(r, "pre-push", "origin", strings.TrimSpace(r.Git("remote", "get-url", "origin")), "--dir", r.Dir, "--format", "json", "--reader", reader)
		cmd.Stdin = strings.NewReader(ref + " " + r.ID(ref) + " " + ref + " " + r.ID("refs/remotes/origin/"+c.Check[1]) + "\n")
	case "doctor":
		cmd = smallHook(r, "doctor", "--dir", r.Dir)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	status := exitOf(t, cmd)
	answer := stdout.String() + stderr.String()
	if c.Want.Status != nil && status != *c.Want.Status {
		t.Errorf("%s: exit status %d, not %d (%s)\n%s", c.Title, status, *c.Want.Status, c.Why, answer)
	}
	for _, text := range c.Want.Says {
		if !strings.Contains(answer, text) {
			t.Errorf("%s: the answer does not say %q (%s)\n%s", c.Title, text, c.Why, answer)
		}
	}
	if c.Check[0] == "doctor" {
		return
	}
	c.compare(t, stdout.Bytes())
}

// compare compares the report with the rules, path and line that are wanted.
func (c logCase) compare(t *testing.T, text []byte) {
	var report struct {
		Findings []struct {
			Rule, Path string
			Line       int
		}
		Error *struct{ Message, Remedy string }
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatalf("%s: %v\n%s", c.Title, err, text)
	}
	spoke := func(rule string) bool {
		for _, f := range report.Findings {
			if f.Rule == rule {
				return true
			}
		}
		return false
	}
	for _, rule := range c.Want.Rules {
		if !spoke(rule) {
			t.Errorf("%s: %s is silent (%s)\n%s", c.Title, rule, c.Why, text)
		}
	}
	if len(c.Want.Any) > 0 && !slices.ContainsFunc(c.Want.Any, spoke) {
		t.Errorf("%s: none of %v speaks (%s)\n%s", c.Title, c.Want.Any, c.Why, text)
	}
	for _, rule := range c.Want.Not {
		if spoke(rule) {
			t.Errorf("%s: %s speaks (%s)\n%s", c.Title, rule, c.Why, text)
		}
	}
	of := c.Want.Any
	if len(c.Want.Rules) > 0 {
		of = c.Want.Rules[:1]
	}
	if c.Want.Path == nil || len(of) == 0 {
		return
	}
	for _, f := range report.Findings {
		if slices.Contains(of, f.Rule) && f.Path == *c.Want.Path && (c.Want.Line == nil || f.Line == *c.Want.Line) {
			return
		}
	}
	t.Errorf("%s: no finding of %v at %s (%s)\n%s", c.Title, of, *c.Want.Path, c.Why, text)
}
