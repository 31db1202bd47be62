package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

// The contract: exact keys in exact order.
func TestJSONLinesKeys(t *testing.T) {
	r := reporttest.OneFail()
	r.Failure = &failure.Error{Message: "m", Remedy: "r"}
	const all = "kind repository branch head time version verdict mode "
	entry := "{index line task_id timestamp digest}"
	want := []string{
		"{" + all + "schema strict policy floor commits workspaces summary{errors warnings waived} error{message remedy}}",
		"{" + all + "rule severity stage message path line column commit parent entry" + entry + " entry_after" + entry +
			" changes[{field from to}] fix fingerprint edit{from to} waived reason}",
	}
	var got []string
	for line := range strings.Lines(render(t, "jsonl", r, Options{})) {
		got = append(got, keys(t, json.NewDecoder(strings.NewReader(line))))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys differ (-want +got):\n%s", diff)
	}
}

// Every sample, also a hostile one, has one line for the report and one for each finding; each is one JSON object that agrees with json.
func TestJSONLinesSayWhatJSONSays(t *testing.T) {
	for _, s := range append(reporttest.Samples(), reporttest.Sample{Name: "empty", Report: &finding.Report{}}) {
		var whole struct {
			Verdict          string
			Examined         struct{ Repository string }
			Summary          map[string]int
			Findings, Waived []map[string]any
		}
		if err := json.Unmarshal([]byte(render(t, "json", s.Report, Options{Version: "v1"})), &whole); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(render(t, "jsonl", s.Report, Options{Version: "v1"}), "\n")
		if n := 1 + len(whole.Findings) + len(whole.Waived); len(lines) != n+1 || lines[n] != "" {
			t.Fatalf("%s: %d lines, not %d", s.Name, len(lines)-1, n)
		}
		for i, line := range lines[:len(lines)-1] {
			var got map[string]any
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%s, line %d: %v", s.Name, i+1, err)
			}
			if got["repository"] != whole.Examined.Repository || got["verdict"] != whole.Verdict || got["version"] != "v1" {
				t.Errorf("%s, line %d: %s", s.Name, i+1, line)
			}
			if i == 0 {
				continue
			}
			want := append(whole.Findings, whole.Waived...)[i-1]
			want["waived"] = i > len(whole.Findings)
			for key, value := range want {
				if diff := cmp.Diff(value, got[key]); diff != "" {
					t.Errorf("%s, line %d, %s:\n%s", s.Name, i+1, key, diff)
				}
			}
		}
	}
}
