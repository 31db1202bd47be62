package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

// Tests that check the reports with schemas and programs that are not in this repository. scripts/report-setup fetches them.

// outside returns the path of a schema or a program in the folder that scripts/report-setup filled. Without that folder it skips the test.
func outside(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("SMALL_GATE_REPORT_TOOLS")
	if folder == "" {
		t.Skip("the reports' validators are not here: export SMALL_GATE_REPORT_TOOLS=\"$(scripts/report-setup)\" in the repository's root gets them")
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the reports' validators are not all here: scripts/report-setup could not get %s", name)
	}
	return path
}

// manySamples are the samples, and a report that exceeds every bound of a format.
func manySamples() []reporttest.Sample {
	long := reporttest.OneFail()
	for len(long.Findings) < 6000 {
		long.Findings = append(long.Findings, long.Findings[0])
	}
	noted := reporttest.OnePass()
	noted.Examined.Notes = []string{"one", "two"}
	var all []reporttest.Sample
	for i, s := range reporttest.Texts {
		all = append(all, reporttest.Sample{Name: "hostile" + strings.Repeat("'", i), Report: reporttest.Hostile(s)})
	}
	return append(append(reporttest.Samples(), reporttest.Sample{Name: "long", Report: long}, reporttest.Sample{Name: "noted", Report: noted}, reporttest.Sample{Name: "empty", Report: &finding.Report{}}), all...)
}

func TestOutsideSARIFSchema(t *testing.T) {
	text, err := os.ReadFile(outside(t, "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range manySamples() {
		result, err := schema.Validate(gojsonschema.NewStringLoader(render(t, "sarif", s.Report, Options{Version: "v1.2.3"})))
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range result.Errors() {
			t.Errorf("%s: %s", s.Name, fault)
		}
	}
	// Check that the schema does find faults.
	if result, err := schema.Validate(gojsonschema.NewStringLoader(`{"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}`)); err != nil || result.Valid() {
		t.Errorf("a driver without a name is valid: %v", err)
	}
}

func TestOutsideSARIFValidator(t *testing.T) {
	program := outside(t, "sarif-multitool")
	dir := t.TempDir()
	out := filepath.Join(dir, "validated.sarif")
	args := []string{"validate"}
	for _, s := range append(reporttest.Samples(), reporttest.Sample{Name: "empty", Report: &finding.Report{}}) {
		name := filepath.Join(dir, s.Name+".sarif")
		writeFile(t, name, render(t, "sarif", s.Report, Options{Version: "v1.2.3"}))
		args = append(args, name)
	}
	args = append(args, "--rule-kind", "Sarif;Ghas", "--output", out, "--log", "ForceOverwrite")
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), fmt.Sprintf("%d files scanned", len(reporttest.Samples())+1)) {
		t.Fatalf("%v\n%s", err, said)
	}
	// Its exit status means nothing; its report counts.
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Level     string
				Message   struct{ Text string }
				Locations json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) != 1 {
		t.Fatalf("%d runs", len(log.Runs))
	}
	for _, fault := range log.Runs[0].Results {
		if fault.Level != "note" {
			t.Errorf("%s %s: %s\n%s", fault.Level, fault.RuleID, fault.Message.Text, fault.Locations)
		}
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOutsideJUnitSchema(t *testing.T) {
	xmllint, schema := outside(t, "xmllint"), outside(t, "jenkins-junit.xsd")
	for _, s := range manySamples() {
		validateXML(t, xmllint, schema, s.Name, render(t, "junit", s.Report, Options{}))
	}
}

// Ant's older schema requires parts that only a test run has (a time of day, a host, an output) and lacks skipped cases. With these added
// and removed, it accepts the rest.
func TestOutsideJUnitSchemaOfAnt(t *testing.T) {
	xmllint, schema := outside(t, "xmllint"), outside(t, "JUnit.xsd")
	for _, s := range manySamples() {
		text := render(t, "junit", s.Report, Options{})
		for _, change := range []struct{ pattern, with string }{
			{`(?s)<skipped>.*?</skipped>`, ""},
			{`(?s)<system-out>.*?</system-out>`, ""},
			{` skipped="\d+"`, ""},
			{`<testsuite [^>]*`, `$0 id="0" package="p" hostname="localhost" timestamp="2026-01-01T00:00:00"`},
			{`<testsuite [^>]*>`, `$0<properties/>`},
			{`</testsuite>`, `<system-out/><system-err/>$0`},
		} {
			text = regexp.MustCompile(change.pattern).ReplaceAllString(text, strings.ReplaceAll(change.with, "$0", "${0}"))
		}
		validateXML(t, xmllint, schema, s.Name, text)
	}
}

func validateXML(t *testing.T, xmllint, schema, name, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), xmllint, "--noout", "--nonet", "--huge", "--schema", schema, "-")
	cmd.Stdin = strings.NewReader(text)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%.2000s", name, err, said)
	}
}
