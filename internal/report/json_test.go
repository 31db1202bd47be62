package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	lanes "github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

// The contract: exact keys in exact order, everywhere in the document.
func TestJSONKeys(t *testing.T) {
	r := reporttest.OneFail()
	waived := r.Findings[0]
	waived.Reason, waived.EntryAfter = "known", nil
	r.Waived = []finding.Finding{waived}
	r.Lane = &finding.LaneReport{
		Claim: lanes.Claim{Lane: lanes.Fast, Source: lanes.FromTrailer, Commit: "1"}, Fits: lanes.Deep,
		Signals: []lanes.Signal{{Name: "n", Fits: lanes.Deep, Why: "w", Files: []string{"f"}, Lines: []lanes.Line{{Path: "f", Number: 1, Text: "t"}}}},
	}
	r.Failure = &failure.Error{Message: "m", Remedy: "r"}
	entry := "{index line task_id timestamp digest}"
	finding := "rule severity stage message path line column commit parent entry" + entry + " entry_after"
	want := "{schema verdict mode strict tool{name version} time examined{commits workspaces base head merge repository branch commit_link policy floor reader source notes[]} ledgers[{path entries head}] findings[{" +
		finding + entry + " changes[{field from to}] fix fingerprint edit{from to}}] waived[{" +
		finding + " changes[{field from to}] fix fingerprint edit{from to} reason}] commits[{id author subject date}] lane{claim{lane source commit} signals[{name fits why files[] lines[{path line text}]}] fits why} summary{errors warnings waived} error{message remedy}}"
	dec := json.NewDecoder(strings.NewReader(render(t, "json", r, Options{})))
	if diff := cmp.Diff(want, keys(t, dec)); diff != "" {
		t.Errorf("keys differ (-want +got):\n%s", diff)
	}
}

// keys reads one JSON value and returns the keys in it, in order.
func keys(t *testing.T, dec *json.Decoder) string {
	t.Helper()
	token, err := dec.Token()
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	switch token {
	case json.Delim('{'):
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			name, ok := key.(string)
			if !ok {
				t.Fatalf("key %v", key)
			}
			parts = append(parts, name+keys(t, dec))
		}
	case json.Delim('['):
		for dec.More() {
			parts = append(parts, keys(t, dec))
		}
	default:
		return ""
	}
	end, err := dec.Token()
	if err != nil {
		t.Fatal(err)
	}
	closing := string(rune(end.(json.Delim)))
	opening := map[string]string{"}": "{", "]": "["}[closing]
	return opening + strings.Join(parts, " ") + closing
}

func TestJSONHoldsWhatTheReportSays(t *testing.T) {
	r := reporttest.OneFail()
	r.Findings[0].Changes = append(r.Findings[0].Changes,
		ledger.FieldChange{Field: "added", To: "", HasTo: true}, ledger.FieldChange{Field: "removed", From: "x", HasFrom: true})
	r.Findings[0].Line, r.Findings[0].Column = 0, 0
	var got jsonReport
	if err := json.Unmarshal([]byte(render(t, "json", r, Options{})), &got); err != nil {
		t.Fatal(err)
	}
	f := got.Findings[0]
	if f.Fingerprint != r.Findings[0].Fingerprint() || f.Line != 1 || f.Column != 1 || f.EntryAfter.Digest != reporttest.Digest("new", 0).String() {
		t.Errorf("finding = %+v", f)
	}
	if c := f.Changes[1]; c.From != nil || c.To == nil || *c.To != "" {
		t.Errorf("an added empty field: %+v", c)
	}
	if c := f.Changes[2]; c.To != nil || c.From == nil || *c.From != "x" {
		t.Errorf("a removed field: %+v", c)
	}
	if got.Error != nil || got.Verdict != finding.Fail || got.Summary.Errors != 1 {
		t.Errorf("report = %+v", got)
	}
}

// Empty lists are [], and an unknown verdict is an error with a message.
func TestJSONOfAnEmptyReport(t *testing.T) {
	out := render(t, "json", &finding.Report{}, Options{})
	for _, want := range []string{`"ledgers": []`, `"findings": []`, `"waived": []`, `"verdict": "error"`, `"message": "the run ended`} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %s:\n%s", want, out)
		}
	}
	if !strings.HasSuffix(out, "}\n") {
		t.Errorf("output ends in %q", out[max(0, len(out)-5):])
	}
}

// Nothing in the output works as a command, and every value survives.
func FuzzJSON(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+3)%len(reporttest.Texts)])
	}
	f.Add("<a href='x'>&", "\U0001f469\u200d\U0001f4bb")
	f.Fuzz(func(t *testing.T, a, b string) {
		r := reporttest.Hostile(a)
		r.Findings[0].Message, r.Failure.Remedy = b, b
		out := render(t, "json", r, Options{})
		if fault := reporttest.Unsafe(out); fault != "" {
			t.Fatal(fault)
		}
		var got jsonReport
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]string{
			{a, got.Findings[1].Message}, {a, got.Findings[0].Path}, {a, got.Waived[0].Reason}, {a, *got.Findings[0].Entry.TaskID},
			{a, *got.Findings[0].Changes[0].From}, {b, got.Findings[0].Message}, {b, got.Error.Remedy},
		} {
			if want := valid(pair[0]); pair[1] != want {
				t.Fatalf("got %q, want %q", pair[1], want)
			}
		}
	})
}

// valid replaces each byte that is not UTF-8.
func valid(s string) string { return string([]rune(s)) }
