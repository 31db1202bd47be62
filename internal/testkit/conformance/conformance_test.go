package conformance

import (
	"os"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/secret"
)

// TestOwnCases checks the form of the repository's own cases.
func TestOwnCases(t *testing.T) {
	dir := casesDir(t, "own")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	own := read(t, dir)
	if len(own) < 25 || len(own) != len(entries) {
		t.Fatalf("%d cases in %d files", len(own), len(entries))
	}
	for i, c := range own {
		if c.Name+".txtar" != entries[i].Name() {
			t.Errorf("the case in %s calls itself %q", entries[i].Name(), c.Name)
		}
		for name := range c.Files {
			if !strings.HasPrefix(name, ".small/") {
				t.Errorf("%s holds %s, outside .small/", c.Name, name)
			}
		}
	}
}

// TestRecordedCases notices if the recorded cases are no longer read.
func TestRecordedCases(t *testing.T) {
	if n := len(read(t, casesDir(t, "recorded"))); n != 204 {
		t.Errorf("%d recorded conformance cases, not 204", n)
	}
	names := map[string]bool{}
	for _, c := range Cases(t) {
		if names[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		names[c.Name] = true
	}
}

// TestNoSecrets demands that nothing in the cases is taken for a credential.
func TestNoSecrets(t *testing.T) {
	for _, c := range Cases(t) {
		for name, content := range c.Files {
			for _, m := range secret.Find(string(content)) {
				t.Errorf("%s: %s: %s is taken for %s", c.Name, name, content[m.Start:m.End], m.Shape.Name)
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	for header, want := range map[string]string{
		"case: x\ncheck: pass\nstrict: maybe\n":             `the header "strict" is "maybe"`,
		"case: x\ncheck: pass\n":                            `the header "strict" is ""`,
		"case: x\ncheck: pass\ncheck: pass\nstrict: fail\n": `"check" is there twice`,
		"case: x\ncheck: fail\nstrict: pass\n":              "the strict one rejects too",
		"case: x\ncheck: pass\nstrict: pass\nwhy: no\n":     "unknown header line",
		"check: pass\nstrict: pass\n":                       "a case has a name",
	} {
		_, err := parse([]byte(header + "-- .small/a --\nx\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", header, err, want)
		}
	}
	if _, err := parse([]byte("case: x\ncheck: pass\nstrict: pass\n-- .small/a --\n-- .small/a --\n")); err == nil {
		t.Error("a file that is there twice is accepted")
	}
}
