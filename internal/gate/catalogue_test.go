package gate_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
)

var update = flag.Bool("update", false, "rewrite the expectations of the cases in testdata and the pages of the rules")

var idForm = regexp.MustCompile(`^[a-z]+(-[a-z]+)*/[a-z]+(-[a-z0-9]+)*$`)

// TestCatalogue demands of every rule what a person needs to understand it and
// what a contributor needs to trust it.
func TestCatalogue(t *testing.T) {
	ok, bad := casesByRule(t, "ok"), casesByRule(t, "err")
	seen := map[string]bool{}
	for _, rule := range catalogue.All() {
		t.Run(rule.ID, func(t *testing.T) {
			if !idForm.MatchString(rule.ID) {
				t.Error("the id is not family/name in kebab-case")
			}
			if seen[rule.ID] {
				t.Error("the id is there twice")
			}
			seen[rule.ID] = true
			for field, text := range map[string]string{
				"Summary": rule.Summary, "Why": rule.Why, "Wrong": rule.Wrong, "Right": rule.Right,
			} {
				if strings.TrimSpace(text) == "" {
					t.Errorf("%s is empty", field)
				}
			}
			if strings.ContainsAny(rule.Summary, "\n`") || strings.HasSuffix(rule.Summary, ".") {
				t.Error("the summary is not one line without a final period")
			}
			if len(ok[rule.ID]) == 0 {
				t.Errorf("there is no testdata/ok/%s.txtar, a case that keeps the rule", caseName(rule.ID))
			}
			if len(bad[rule.ID]) == 0 {
				t.Errorf("there is no testdata/err/%s.txtar, a case that breaks the rule", caseName(rule.ID))
			}
			family, _, _ := strings.Cut(rule.ID, "/")
			if page := familyPage(family); !strings.Contains(readFile(t, page), "\n## "+rule.ID+"\n") {
				t.Errorf("%s has no section for it: run go generate ./internal/gate", page)
			}
		})
	}
}

// TestTexts demands that no text of a removed rule is left.
func TestTexts(t *testing.T) {
	files, err := filepath.Glob("catalogue/texts/*/*.txt")
	plugged, err2 := filepath.Glob("rules/*/texts/*/*.txt")
	if files = append(files, plugged...); err != nil || err2 != nil || len(files) != len(catalogue.All()) {
		t.Errorf("%d texts for %d rules (%v)", len(files), len(catalogue.All()), err)
	}
}

// TestBase demands that what examples are laid over is right in every respect.
func TestBase(t *testing.T) {
	for _, strict := range []bool{false, true} {
		if found := newExample(t, "-- readme --\n").judge(t, settings{strict: strict}); len(found) > 0 {
			t.Errorf("strict %v: %v", strict, found)
		}
	}
}

// besides names the rule that is always broken along with another: work
// on the same task on two branches is always work on two branches.
var besides = map[string]string{"divergence/double-claim": "divergence/concurrent-append"}

// TestExamples demands that a rule's wrong example breaks that rule and no
// other one, and that the right one breaks none.
func TestExamples(t *testing.T) {
	for _, rule := range catalogue.All() {
		t.Run(rule.ID+"/wrong", func(t *testing.T) {
			found := newExample(t, rule.Wrong).judge(t, settings{strict: rule.StrictOnly})
			if !found.has(rule.ID) {
				t.Errorf("the example does not break the rule; findings: %v", found)
			}
			for _, f := range found {
				if f.rule != rule.ID && f.rule != besides[rule.ID] {
					t.Errorf("the example breaks another rule: %v", f)
				}
			}
		})
		t.Run(rule.ID+"/right", func(t *testing.T) {
			// What is shown as right holds in strict mode, too.
			for _, strict := range []bool{false, true} {
				if found := newExample(t, rule.Right).judge(t, settings{strict: strict}); len(found) > 0 {
					t.Errorf("strict %v: the example breaks a rule: %v", strict, found)
				}
			}
		})
	}
}

// TestCases judges every case of testdata/ok and testdata/err. A case is an
// example whose remark says what it shows, then settings and findings:
//
//	strict: true      (also each: true)
//	index: true       the last step is not committed yet
//	kinds: repo-root
//	agent: agent-1    SMALL_AGENT_ID (also branch: small/agent-1)
//	findings:
//	.small/plan.small.yml:4:12 error lint/blank commit 2
//
// The name of a case begins with the id of its rule, - in place of /. In ok it
// has no error and no finding of the rule; in err it has one.
func TestCases(t *testing.T) {
	for _, kind := range []string{"ok", "err"} {
		for id, paths := range casesByRule(t, kind) {
			for _, path := range paths {
				t.Run(kind+"/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
					runCase(t, path, id, kind == "err")
				})
			}
		}
	}
}

func runCase(t *testing.T, path, id string, breaks bool) {
	data := readFile(t, path)
	remark, want := splitRemark(catalogue.ParseExample(data).Remark)
	found := newExample(t, data).judge(t, readSettings(t, remark))
	if found.has(id) != breaks {
		t.Errorf("breaks %s: %v; findings: %v", id, !breaks, found)
	}
	for _, f := range found {
		if !breaks && f.severity == string(finding.SeverityError) {
			t.Errorf("an ok case has an error: %v", f)
		}
	}
	got := found.lines()
	if *update && !slices.Equal(want, got) {
		rewriteFindings(t, path, data, got)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the findings differ (-want +got); if that is meant, run the test with -update:\n%s", diff)
	}
}

// casesByRule lists the cases of one kind. If a name begins with the ids of
// several rules, the longest is meant.
func casesByRule(t *testing.T, kind string) map[string][]string {
	t.Helper()
	var paths []string
	for _, dir := range []string{"testdata", "rules/*/testdata"} {
		found, err := filepath.Glob(filepath.Join(dir, kind, "*"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	ids := catalogue.IDs()
	slices.SortFunc(ids, func(a, b string) int { return len(b) - len(a) })
	out := map[string][]string{}
	for _, path := range paths {
		name, isCase := strings.CutSuffix(filepath.Base(path), ".txtar")
		i := slices.IndexFunc(ids, func(id string) bool {
			return name == caseName(id) || strings.HasPrefix(name, caseName(id)+"-")
		})
		if !isCase || i < 0 {
			t.Errorf("%s is named after no rule", path)
			continue
		}
		out[ids[i]] = append(out[ids[i]], path)
	}
	return out
}

func caseName(id string) string { return strings.ReplaceAll(id, "/", "-") }

// splitRemark takes the expected findings off a case's remark.
func splitRemark(remark string) (rest string, findings []string) {
	rest, after, _ := strings.Cut(remark, "findings:")
	for line := range strings.Lines(after) {
		if line = strings.TrimSpace(line); line != "" {
			findings = append(findings, line)
		}
	}
	return rest, findings
}

// rewriteFindings puts findings into a case; what is before them, and the
// files, stay byte for byte.
func rewriteFindings(t *testing.T, path, data string, findings []string) {
	t.Helper()
	i := strings.Index("\n"+data, "\n-- ")
	if i < 0 {
		t.Fatalf("%s has no files", path)
	}
	head, _, _ := strings.Cut(data[:i], "findings:\n")
	var out bytes.Buffer
	out.WriteString(head)
	if len(findings) > 0 {
		fmt.Fprintf(&out, "findings:\n%s\n", strings.Join(findings, "\n"))
	}
	out.WriteString(data[i:])
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is missing", path)
	} else if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// settings are the ways in which a case can be judged differently.
type settings struct {
	strict, each bool
	// index makes the last step the index.
	index bool
	kinds []string
	// agent is SMALL_AGENT_ID, branch the branch that is judged.
	agent, branch string
}

func readSettings(t *testing.T, remark string) settings {
	t.Helper()
	var s settings
	for line := range strings.Lines(remark) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.Contains(key, " ") {
			continue // a sentence
		}
		switch key {
		case "strict":
			s.strict = value == "true"
		case "each":
			s.each = value == "true"
		case "index":
			s.index = value == "true"
		case "agent":
			s.agent = value
		case "branch":
			s.branch = value
		case "kinds":
			s.kinds = strings.Fields(value)
		default:
			t.Fatalf("the setting %q is not known", key)
		}
	}
	return s
}

// found is one finding as a case states it.
type found struct {
	place, severity, rule, step, message, fix string
}

func (f found) String() string { return f.line() + " (" + f.message + ")" }

func (f found) line() string {
	line := f.place + " " + f.severity + " " + f.rule
	if f.step != "" {
		line += " " + f.step
	}
	return line
}

type foundList []found

func (l foundList) has(rule string) bool {
	return slices.ContainsFunc(l, func(f found) bool { return f.rule == rule })
}

// lines are the findings as a case states them, those of several judgements of
// one example once.
func (l foundList) lines() []string {
	var out []string
	for _, f := range l {
		if line := f.line(); !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}
