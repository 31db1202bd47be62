package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/report"
)

// TestLaneIsNamed: each report for people names the lane in which a change was judged, who claims it, and the lane that fits, even if
// nothing is wrong.
func TestLaneIsNamed(t *testing.T) {
	claimed := map[lane.Source]string{
		lane.FromCaller: "--lane", lane.FromInput: "the action's lane input", lane.FromEnvironment: "SMALL_LANE",
		lane.FromTrailer: "the trailer of commit 0123456", lane.FromEntry: "an entry for meta/lane-switch", lane.FromLabel: "a label", lane.FromJob: "the job's record", lane.FromPolicy: "the configuration",
	}
	for source, who := range claimed {
		r := &finding.Report{Mode: "range", Verdict: finding.Pass, Lane: &finding.LaneReport{
			Claim: lane.Claim{Lane: lane.Standard, Source: source, Commit: "0123456"}, Fits: lane.Fast,
		}}
		plain := func(s string) string { return strings.NewReplacer("\\", "", "&#39;", "'").Replace(s) }
		for format, where := range map[string]string{"text": "\nlane: ", "markdown": "\n\nLane: ", "html": "<dt>lane</dt><dd>"} {
			var buf bytes.Buffer
			if err := report.Write(&buf, format, r, report.Options{}); err != nil {
				t.Fatal(err)
			}
			if want := where + "standard, by " + who + "; the change fits fast"; !strings.Contains(plain(buf.String()), want) {
				t.Errorf("%s does not say %q", format, want)
			}
			r.Lane, buf = nil, bytes.Buffer{}
			if err := report.Write(&buf, format, r, report.Options{}); err != nil || strings.Contains(buf.String(), where) {
				t.Errorf("%s names a lane where none is claimed: %v", format, err)
			}
			r.Lane = &finding.LaneReport{Claim: lane.Claim{Lane: lane.Standard, Source: source, Commit: "0123456"}, Fits: lane.Fast}
		}
	}
}
