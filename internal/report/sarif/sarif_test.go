package sarif

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

func render(t testing.TB, r *finding.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := Render(&out, r, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func readSARIF(t testing.TB, r *finding.Report) run {
	t.Helper()
	var log document
	dec := json.NewDecoder(strings.NewReader(render(t, r)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) != 1 || log.Version != "2.1.0" {
		t.Fatalf("version %s, %d runs", log.Version, len(log.Runs))
	}
	return log.Runs[0]
}

// Only rules that fired are described, in the catalogue's order, and each page has its anchor.
func TestSARIFRules(t *testing.T) {
	if got := readSARIF(t, reporttest.OnePass()).Tool.Driver.Rules; len(got) != 0 {
		t.Errorf("%d rules, and none fired", len(got))
	}
	r := reporttest.OneFail()
	waived := r.Findings[0]
	waived.Rule = "lint/blank"
	r.Waived = []finding.Finding{waived}
	if got := readSARIF(t, r).Tool.Driver.Rules; len(got) != 2 || got[0].ID != "lint/blank" || got[1].ID != "append-only/modified" {
		t.Errorf("the rules that fired: %+v", got)
	}
	all := catalogue.All()
	r.Waived = nil
	for _, rule := range slices.Backward(all) {
		r.Waived = append(r.Waived, waived)
		r.Waived[len(r.Waived)-1].Rule = rule.ID
	}
	got := readSARIF(t, r).Tool.Driver.Rules
	if len(got) != len(all) {
		t.Fatalf("%d rules, want %d", len(got), len(all))
	}
	for i, rule := range got {
		family, _, _ := strings.Cut(rule.ID, "/")
		page, err := os.ReadFile("../../../docs/rules/" + family + ".md")
		switch {
		case rule.ID != all[i].ID:
			t.Errorf("rule %d is %s, want %s", i, rule.ID, all[i].ID)
		case err != nil || rule.HelpURI != content.RulePages+rule.ID+".html" || !strings.Contains(string(page), "\n## "+rule.ID+"\n"): // scripts/site makes the page from that
			t.Errorf("%s: %s is not there (%v)", rule.ID, rule.HelpURI, err)
		case rule.ShortDescription.Text == "", len(rule.FullDescription.Text) < 40, len(rule.FullDescription.Text) > maxDescription:
			t.Errorf("%s: descriptions %+v, %+v", rule.ID, rule.ShortDescription, rule.FullDescription)
		case !strings.HasSuffix(rule.ShortDescription.Text, "."), !strings.HasSuffix(rule.FullDescription.Text, "."):
			t.Errorf("%s: descriptions that do not end: %+v, %+v", rule.ID, rule.ShortDescription, rule.FullDescription)
		case rule.Help.Markdown == "", rule.Help.Text == "":
			t.Errorf("%s: help %+v", rule.ID, rule.Help)
		case rule.DefaultConfiguration.Level != string(all[i].Severity):
			t.Errorf("%s: level %s", rule.ID, rule.DefaultConfiguration.Level)
		}
	}
}

func TestSARIFProvenance(t *testing.T) {
	r := reporttest.OneFail()
	want := []provenance{{RepositoryURI: "https://git.example.com/example/ledger", MappedTo: artifact{Base: sourceRoot}, RevisionID: reporttest.Head, Branch: "feature"}}
	if diff := cmp.Diff(want, readSARIF(t, r).Provenance); diff != "" {
		t.Error(diff)
	}
	for _, link := range []string{"", "javascript:x/commit/", "https://user@example.com/a/commit/"} {
		r.Examined.CommitLink = link
		if got := readSARIF(t, r).Provenance; got != nil {
			t.Errorf("%q: %+v", link, got)
		}
	}
}

func TestSARIFResults(t *testing.T) {
	r := reporttest.Many()
	gone := reporttest.Modified(40, 300)
	gone.Rule, gone.EntryAfter, gone.EditTo = "append-only/deleted", nil, ""
	r.Findings = append(r.Findings, gone)
	got := readSARIF(t, r)
	if len(got.Results) != len(r.Findings)+len(r.Waived) || got.ColumnKind != "unicodeCodePoints" {
		t.Fatalf("%d results, columns %s", len(got.Results), got.ColumnKind)
	}
	var deleted, inserted, waived *result
	warned := false
	for i := range got.Results {
		result := &got.Results[i]
		if result.RuleIndex == nil && result.RuleID != "divergence/run" || result.RuleIndex != nil && got.Tool.Driver.Rules[*result.RuleIndex].ID != result.RuleID {
			t.Errorf("%s has the index %v", result.RuleID, result.RuleIndex)
		}
		if result.Level == "error" && warned && len(result.Suppressions) == 0 {
			t.Errorf("the error %s comes after a warning", result.RuleID)
		}
		warned = warned || result.Level == "warning"
		switch {
		case result.RuleID == "append-only/deleted":
			deleted = result
		case result.RuleID == "append-only/inserted":
			inserted = result
		case len(result.Suppressions) > 0:
			waived = result
		}
	}
	if deleted == nil || len(deleted.RelatedLocations) != 1 || deleted.RelatedLocations[0].Physical.Region.StartLine != 300 {
		t.Errorf("a deleted entry's old place: %+v", deleted)
	}
	if inserted == nil || len(inserted.RelatedLocations) != 0 {
		t.Errorf("an inserted entry has no old place: %+v", inserted)
	}
	if waived == nil || waived.Suppressions[0].Justification != "redacted before the release" || waived.Suppressions[0].Kind != "external" {
		t.Errorf("the waived finding: %+v", waived)
	}
	if !got.Invocations[0].ExecutionSuccessful {
		t.Error("findings are no failure of the run")
	}
}

// Outcome 2 is a failed run, whatever else the report has.
func TestSARIFOfAFailure(t *testing.T) {
	contradictory := reporttest.OneFail()
	contradictory.Failure = reporttest.Failed().Failure
	for name, r := range map[string]*finding.Report{"failure": reporttest.Failed(), "no verdict": {}, "findings and a failure": contradictory} {
		invocation := readSARIF(t, r).Invocations[0]
		if invocation.ExecutionSuccessful || len(invocation.Notifications) != 1 || invocation.Notifications[0].Level != "error" ||
			invocation.Notifications[0].Message.Text == "" {
			t.Errorf("%s: %+v", name, invocation)
		}
	}
}

func TestSARIFIsBounded(t *testing.T) {
	r := reporttest.OneFail()
	warning := r.Findings[0]
	warning.Severity = finding.SeverityWarning
	blocking := r.Findings[0]
	long := strings.Repeat("long ", 1_000)
	r.Findings = nil
	for range 6000 {
		warning.Message = long
		r.Findings = append(r.Findings, warning)
	}
	r.Findings[0].Fix = strings.Repeat(long+"\n", 20)
	r.Findings = append(r.Findings, blocking)
	r.Waived = reporttest.OneFail().Findings
	got := readSARIF(t, r)
	if len(got.Results) != maxResults || got.Results[0].Level != "error" {
		t.Errorf("%d results, the first a %s", len(got.Results), got.Results[0].Level)
	}
	want := "Only 5000 of 6002 results are listed, errors first; --format json lists all."
	if n := got.Invocations[0].Notifications; len(n) != 1 || n[0].Message.Text != want || n[0].Level != "warning" {
		t.Errorf("notifications %+v", n)
	}
	if text := got.Results[1].Message.Text; len(text) > 20_000 {
		t.Errorf("a message of %d bytes", len(text))
	}
}

func TestRelativeURI(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{".small/progress.small.yml", ".small/progress.small.yml"},
		{"a b/ü/.small/x", "a%20b/%C3%BC/.small/x"},
		{"https://example.com/x", "https%3A//example.com/x"},
		{"//example.com/x", "example.com/x"},
		{"a?b#c%41", "a%3Fb%23c%2541"},
		{"\xff\n##[x", "%FF%0A%23%23%5Bx"},
	} {
		if got := relativeURI(tt.in); got != tt.want {
			t.Errorf("relativeURI(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestSemanticVersion(t *testing.T) {
	for in, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.2.3-rc.1+x": "1.2.3-rc.1+x", "devel": "", "devel-0123456789ab": "", "v1.2": "", "v1.2.3 x": "", "": "",
	} {
		if got := semanticVersion(in); got != want {
			t.Errorf("semanticVersion(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSARIF(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+5)%len(reporttest.Texts)])
	}
	f.Add("[click](https://example.com)", "a/../..//b?c#d")
	f.Fuzz(func(t *testing.T, a, b string) {
		r := reporttest.Hostile(a)
		r.Findings[0].Path, r.Findings[0].Message = b, b
		r.Findings[0].Commit = a + "](" + b
		got := runOf(r, a)
		var out bytes.Buffer
		if err := sanitize.JSON(&out, got); err != nil {
			t.Fatal(err)
		}
		if fault := reporttest.Unsafe(out.String()); fault != "" {
			t.Fatal(fault)
		}
		got = run{}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Results) != 3 {
			t.Fatalf("%d results", len(got.Results))
		}
		for i, result := range got.Results {
			texts := []string{result.Message.Text, result.RuleID}
			for _, related := range result.RelatedLocations {
				texts = append(texts, related.Message.Text)
			}
			for _, text := range texts[:1] {
				if strings.Contains(strings.ReplaceAll(text, `\]`, ""), "](") {
					t.Fatalf("a link in %q", text)
				}
			}
			for _, text := range texts {
				for line := range strings.Lines(text) {
					if fault := reporttest.Unsafe(strings.TrimSuffix(line, "\n")); fault != "" {
						t.Fatal(fault)
					}
				}
			}
			place := result.Locations[0].Physical
			u, err := url.Parse(place.Artifact.URI)
			if err != nil || u.IsAbs() || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || place.Region.StartLine < 1 {
				t.Fatalf("place %+v: %v, %+v", place, err, u)
			}
			path := content.PlacesOf(r).Path([]*finding.Finding{&r.Findings[0], &r.Findings[1], &r.Waived[0]}[i].Path)
			if diff := cmp.Diff(strings.TrimLeft(path, "/"), u.Path); diff != "" {
				t.Fatalf("the path differs (-want +got):\n%s", diff)
			}
		}
	})
}
