package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// TestParseCases reads each case of testdata/parse and compares the problems,
// or the policy, with what the case says.
func TestParseCases(t *testing.T) {
	cases(t, "parse", func(t *testing.T, _ string, files map[string]string) (string, string) {
		p, err := Parse("HEAD", []byte(files["config"]), knownRules)
		if err == nil {
			return "policy", string(render(t, p)) + "\n"
		}
		return "problems", problemLines(t, err)
	})
}

func problemLines(t *testing.T, err error) string {
	t.Helper()
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("%T is not an *InvalidError: %v", err, err)
	}
	if invalid.Source != "HEAD" || len(invalid.Problems) == 0 {
		t.Fatalf("source %q, %d problems", invalid.Source, len(invalid.Problems))
	}
	var b strings.Builder
	for _, p := range invalid.Problems {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}

// TestMinimal checks that a file which sets nothing is the default.
func TestMinimal(t *testing.T) {
	got, err := Parse("HEAD", []byte("version: 1\n"), knownRules)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Source = "HEAD"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDesignExample reads the example that the format was designed with: it has
// all keys, days without quotes, and "off" with and without.
func TestDesignExample(t *testing.T) {
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	config := `version: 1
strict: true
mode: observe            # report only
workspaces: {include: ["**"], exclude: ["**/testdata/**"]}
rules: {lint/duplicate-id: error, divergence/plan: "off", lint/blank: off}
append_only: {scope: published}
agents: {authors: ["*[[]bot]*"], trailers: {Co-authored-by: ["Claude*", "Copilot*"]}}
waivers:
  - {rule: append-only/modified, path: .small/progress.small.yml, from: "sha256:` + a + `", to: "sha256:` + b + `", reason: "a key", until: 2026-12-31}
  - {rule: append-only/deleted, path: web/.small/progress.small.yml, from: sha256:` + a + `, reason: twice, until: "2027-01-01"}
baseline:
  - {path: .small/progress.small.yml, entries: 104, head: "sha256:` + b + `", reason: "adopted the gate here"}
limits: {file_size: 33_554_432}
workflows: {include: ["flows/*.md"], exclude: [old/**], jobs: ["jobs/*.json"], campaigns: ["c/*.yml"], roots: [base/, "./over"]}
`
	workflows := defaultsOf("workflows")
	for key, list := range map[string][]string{
		"include": {"flows/*.md"}, "exclude": {"old/**"}, "jobs": {"jobs/*.json"}, "campaigns": {"c/*.yml"}, "roots": {"base", "over"},
	} {
		into, is := workflows.Values()[key].(*[]string)
		if !is {
			t.Fatalf("%s is no list", key)
		}
		*into = list
	}
	want := &Policy{
		Source: "the index", Strict: true, Mode: Observe, Scope: Published,
		Include: []string{"**"}, Exclude: []string{"**/testdata/**"},
		Rules:         map[string]Level{"lint/duplicate-id": Error, "divergence/plan": Off, "lint/blank": Off},
		AgentAuthors:  []string{"*[[]bot]*"},
		AgentTrailers: map[string][]string{"Co-authored-by": {"Claude*", "Copilot*"}},
		Robots:        Default().Robots,
		Waivers: []Waiver{
			{
				Rule: "append-only/modified", Edit: ledger.EntryChanged, Path: ".small/progress.small.yml", From: digest(t, "a"), To: digest(t, "b"),
				Reason: "a key", Until: date(2026, 12, 31), Pos: small.Pos{Line: 9, Column: 5},
			},
			{
				Rule: "append-only/deleted", Edit: ledger.EntryLost, Path: "web/.small/progress.small.yml", From: digest(t, "a"),
				Reason: "twice", Until: date(2027, 1, 1), Pos: small.Pos{Line: 10, Column: 5},
			},
		},
		Baselines: []Baseline{{
			Path: ".small/progress.small.yml", Entries: 104, Head: *digest(t, "b"),
			Reason: "adopted the gate here", Pos: small.Pos{Line: 12, Column: 5},
		}},
		MaxFileSize: 32 << 20,
		Sections:    map[string]Settings{"workflows": workflows},
	}
	got, err := Parse("the index", []byte(config), knownRules)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := Parse("the index", render(t, got), knownRules)
	if err != nil || !equal(got, again) {
		t.Errorf("as JSON it reads differently: %v\n%s", err, cmp.Diff(got, again))
	}
}

// TestGiven checks that a given list replaces the default one, even if it is
// empty.
func TestGiven(t *testing.T) {
	p, err := Parse("HEAD", []byte("version: 1\nworkspaces: {exclude: []}\nagents: {authors: [], trailers: {}}\n"), knownRules)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Exclude) != 0 || len(p.AgentAuthors) != 0 || len(p.AgentTrailers) != 0 {
		t.Errorf("excluded %q, authors %q, trailers %q", p.Exclude, p.AgentAuthors, p.AgentTrailers)
	}
	if !cmp.Equal(p.Include, Default().Include) {
		t.Errorf("included %q", p.Include)
	}
}

// TestNoRules checks that a forgotten list of rules does not accept every id.
func TestNoRules(t *testing.T) {
	if _, err := Parse("HEAD", []byte("version: 1\nrules: {lint/blank: off}\n"), NewKnown(nil, nil)); err == nil {
		t.Error("accepted without knowing any rule")
	}
}

// TestErrorIsBounded checks that the text of an error stays short and names
// every control character of the file rather than printing it, while the value
// has every problem.
func TestErrorIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range 900 {
		fmt.Fprintf(&b, "  \"lint/\\e[31m\u202e%d\": error\n", i)
	}
	_, err := Parse("HEAD\x1b[2J", []byte(b.String()), knownRules)
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 900 {
		t.Fatalf("got %v", err)
	}
	text := err.Error()
	if strings.Count(text, "\n") > maxPrinted+1 || !strings.HasSuffix(text, "and 880 more") {
		t.Errorf("%d lines, ending in %q", strings.Count(text, "\n"), text[len(text)-40:])
	}
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Errorf("control characters reach the output: %q", text)
	}
}

// TestTooLarge checks the limit of the file itself.
func TestTooLarge(t *testing.T) {
	data := append([]byte("version: 1\n#"), make([]byte, MaxSize)...)
	_, err := Parse("HEAD", data, knownRules)
	if err == nil || !strings.Contains(err.Error(), "the limit is 1048576") {
		t.Errorf("got %v", err)
	}
}
