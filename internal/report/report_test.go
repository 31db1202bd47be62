package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// TestGolden writes every sample in every format. A new format needs a golden file for each; run the test with -update and read the result.
func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		for _, s := range reporttest.Samples() {
			t.Run(format+"/"+s.Name, func(t *testing.T) {
				var out bytes.Buffer
				if err := Write(&out, format, s.Report, Options{Version: "v1.2.3"}); err != nil {
					t.Fatal(err)
				}
				got := hideRules(hideFingerprints(out.String(), s.Report))
				path := filepath.Join("testdata", s.Name+"."+format)
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatalf("%v (run the test with -update)", err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s differs (-want +got); if that is meant, run the test with -update:\n%s", path, diff)
				}
			})
		}
	}
}

// hideFingerprints replaces fingerprints, which the gate's tests cover.
func hideFingerprints(out string, r *finding.Report) string {
	for i := range r.Findings {
		out = strings.ReplaceAll(out, r.Findings[i].Fingerprint(), "FINGERPRINT")
	}
	for i := range r.Waived {
		out = strings.ReplaceAll(out, r.Waived[i].Fingerprint(), "FINGERPRINT")
	}
	return out
}

// hideRules replaces SARIF's list of all rules and the indexes into it, which TestSARIFRules checks, and the parts of every HTML page: the
// style, its digest, the rules' explanations.
func hideRules(out string) string {
	out = sarifRuleIndex.ReplaceAllString(sarifRuleList.ReplaceAllString(out, "RULES"), `"ruleIndex": INDEX`)
	return htmlFixed.ReplaceAllString(out, "FIXED")
}

var htmlFixed = regexp.MustCompile(`(?s)<style>.*?</style>|content="default-src[^"]*"|<details class="why">.*?</details>`)

var sarifRuleIndex = regexp.MustCompile(`"ruleIndex": \d+`)

var sarifRuleList = regexp.MustCompile(`(?s)\[\n {12}\{\n {14}"id": "validate/.*?\n {10}\]`)

func TestWriteErrors(t *testing.T) {
	t.Run("unknown format", func(t *testing.T) {
		var out bytes.Buffer
		err := Write(&out, "yaml", reporttest.OnePass(), Options{})
		if err == nil || !strings.Contains(err.Error(), `"yaml"`) {
			t.Fatalf("error = %v, want one that names the format", err)
		}
		for _, name := range Formats() {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("error %q does not name %s", err, name)
			}
		}
		if out.Len() > 0 {
			t.Errorf("wrote %q", out.String())
		}
	})
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			if err := Write(io.Discard, format, nil, Options{}); err == nil {
				t.Error("no error without a report")
			}
			broken := errors.New("no space left on device")
			if err := Write(writer(func([]byte) (int, error) { return 0, broken }), format, reporttest.OneFail(), Options{}); !errors.Is(err, broken) {
				t.Errorf("error = %v, want %v", err, broken)
			}
			short := writer(func(p []byte) (int, error) { return len(p) - 1, nil })
			if err := Write(short, format, reporttest.OneFail(), Options{}); !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("error = %v, want %v", err, io.ErrShortWrite)
			}
		})
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestWriteIsDeterministicAndKeepsTheReport(t *testing.T) {
	for _, format := range Formats() {
		for _, s := range reporttest.Samples() {
			first := render(t, format, s.Report, Options{})
			for range 8 {
				if again := render(t, format, s.Report, Options{}); again != first {
					t.Fatalf("%s of %s differs between two runs", format, s.Name)
				}
			}
		}
	}
}

func render(t testing.TB, format string, r *finding.Report, opts Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, r, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func BenchmarkWrite(b *testing.B) {
	for _, format := range Formats() {
		for _, n := range []int{1, 1_000, 20_000} {
			b.Run(fmt.Sprintf("%s/%d", format, n), func(b *testing.B) {
				r := reporttest.OneFail()
				for len(r.Findings) < n {
					r.Findings = append(r.Findings, r.Findings[0])
				}
				b.ReportAllocs()
				for b.Loop() {
					render(b, format, r, Options{})
				}
			})
		}
	}
}
