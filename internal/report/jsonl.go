package report

import (
	"bytes"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// linesSchema names the contract below, for reports of many repositories and runs that are gathered in one place: a report's first line sums it up, and each other line is a finding. Keys mean
// the same as in the JSON report, and are as stable.
const linesSchema = "small-gate/lines/v1"

// lineBase has the values that begin every line, by which lines can be grouped.
type lineBase struct {
	// Kind is report or finding.
	Kind       string          `json:"kind"`
	Repository string          `json:"repository"`
	Branch     string          `json:"branch"`
	Head       string          `json:"head"`
	Time       string          `json:"time"`
	Version    string          `json:"version"`
	Verdict    finding.Verdict `json:"verdict"`
	// Mode is the command's name.
	Mode string `json:"mode"`
}

type reportLine struct {
	lineBase
	Schema string `json:"schema"`
	Strict bool   `json:"strict"`
	// Policy and Floor say where the configuration and the floor came from.
	Policy     string      `json:"policy"`
	Floor      string      `json:"floor"`
	Commits    int         `json:"commits"`
	Workspaces int         `json:"workspaces"`
	Summary    jsonSummary `json:"summary"`
	// More counts the findings that have no line; left out if there are none.
	More  *jsonSummary `json:"more,omitempty"`
	Error *jsonError   `json:"error"`
}

type findingLine struct {
	lineBase
	jsonFinding
	Waived bool `json:"waived"`
	// Reason is the waiver's.
	Reason string `json:"reason"`
}

// renderJSONLines writes a report as lines of JSON. There is always a line of kind report: without it, the report would look like a pass.
func renderJSONLines(buf *bytes.Buffer, r *finding.Report, opts Options) error {
	doc := document(r, opts)
	line := lineBase{
		Repository: doc.Examined.Repository, Branch: doc.Examined.Branch, Head: doc.Examined.Head, Time: doc.Time, Version: doc.Tool.Version,
		Verdict: doc.Verdict, Mode: doc.Mode,
	}
	line.Kind = "report"
	lines := []any{reportLine{
		lineBase: line, Schema: linesSchema, Strict: doc.Strict, Policy: doc.Examined.Policy, Floor: doc.Examined.Floor,
		Commits: doc.Examined.Commits, Workspaces: doc.Examined.Workspaces, Summary: doc.Summary, More: doc.More, Error: doc.Error,
	}}
	line.Kind = "finding"
	for _, f := range doc.Findings {
		lines = append(lines, findingLine{lineBase: line, jsonFinding: f})
	}
	for _, f := range doc.Waived {
		lines = append(lines, findingLine{lineBase: line, jsonFinding: f.jsonFinding, Waived: true, Reason: f.Reason})
	}
	for _, l := range lines {
		if err := sanitize.JSONLine(buf, l); err != nil {
			return err
		}
	}
	return nil
}
