package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/small"
)

const docsPath = "../../docs/configuration.md"

var yamlBlock = regexp.MustCompile("(?s)(<!-- test: (\\w+) -->\n\n)?```yaml\n(.*?)```")

// TestDocs reads every configuration that the documentation shows.
func TestDocs(t *testing.T) {
	docs := readDocs(t)
	blocks := yamlBlock.FindAllStringSubmatch(docs, -1)
	if len(blocks) < 8 {
		t.Fatalf("only %d YAML blocks in %s", len(blocks), docsPath)
	}
	seen, lanes := 0, 0
	for _, block := range blocks {
		if block[2] == "patterns" {
			continue // not a configuration, and tested by the package that has them
		}
		if strings.Contains(block[3], "forbid:") {
			mustFloor(t, block[3], knownRules)
			continue
		}
		p, err := Parse("the documentation", []byte(block[3]), knownRules)
		if err != nil {
			t.Errorf("%v\n%s", err, block[3])
			continue
		}
		if block[2] == "lanes" {
			lanes++
			if diff := cmp.Diff(defaultsOf("lanes"), p.Sections["lanes"], cmpopts.EquateEmpty(), anySection); diff != "" {
				t.Errorf("the lanes as documented differ (-want +got):\n%s", diff)
			}
		}
		if block[2] != "defaults" {
			continue
		}
		seen++
		want := Default()
		want.MaxFileSize = small.Limits{}.FileSize()
		if diff := cmp.Diff(want, p, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Policy{}, "Source", "Sections")); diff != "" {
			t.Errorf("the defaults as documented differ (-want +got):\n%s", diff)
		}
	}
	if seen != 1 || lanes != 1 {
		t.Errorf("the defaults are shown %d times, those of lanes %d times", seen, lanes)
	}
}

// TestLogsGuide reads the configurations that the guide to logs shows: five lines each.
func TestLogsGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/logs.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 6 {
		t.Errorf("only %d configurations", len(blocks))
	}
	for _, block := range blocks {
		if p, err := Parse("the guide", []byte(block[3]), knownRules); err != nil || len(p.Logs) == 0 || strings.Count(block[3], "\n") > 5 {
			t.Errorf("%v\n%s", err, block[3])
		}
	}
}

// TestDocsCoverage fails if a key is not explained.
func TestDocsCoverage(t *testing.T) {
	docs := readDocs(t)
	for key, node := range knownRules.vocabulary().Properties {
		keys := []string{key}
		switch {
		case node.Items != nil:
			for member := range node.Items.Properties {
				keys = append(keys, member)
			}
		case node.Properties != nil:
			keys = nil
			for member := range node.Properties {
				keys = append(keys, key+"."+member)
			}
		}
		for _, k := range keys {
			if !strings.Contains(docs, "\n| `"+k+"` ") {
				t.Errorf("no table has a row for %q", k)
			}
		}
	}
}

// TestDocsError checks that the error in the documentation is the one that
// people get.
func TestDocsError(t *testing.T) {
	_, err := Parse("HEAD", []byte("version: 1\nstrickt: true\nrules:\n  lint/blank: error\n  lint/evidnce: error\n"), knownRules)
	if err == nil || !strings.Contains(readDocs(t), "```text\n"+err.Error()+"\n```") {
		t.Errorf("not in the documentation: %v", err)
	}
}

func readDocs(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(docsPath)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
