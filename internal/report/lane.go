package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// laneSchema names the contract of jsonLane, as stable as jsonSchema.
const laneSchema = "small-gate/lane/v1"

// jsonLane is a change's lane, for programs.
type jsonLane struct {
	// Claim is null if nobody claims a lane.
	Claim   *jsonClaim   `json:"claim"`
	Signals []jsonSignal `json:"signals"`
	Fits    lane.Lane    `json:"fits"`
	Why     string       `json:"why"`
}

type jsonClaim struct {
	Lane   lane.Lane   `json:"lane"`
	Source lane.Source `json:"source"`
	// Commit is the commit that makes the claim; "" for other sources.
	Commit string `json:"commit"`
}

type jsonSignal struct {
	Name  string    `json:"name"`
	Fits  lane.Lane `json:"fits"`
	Why   string    `json:"why"`
	Files []string  `json:"files"`
	// Lines is empty if the paths gave the signal.
	Lines []jsonLine `json:"lines"`
}

type jsonLine struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func laneJSON(r *finding.LaneReport) *jsonLane {
	if r == nil {
		return nil
	}
	out := &jsonLane{Fits: r.Fits, Why: lane.Why(r.Signals), Signals: make([]jsonSignal, len(r.Signals))}
	if r.Claim.Made() {
		out.Claim = (*jsonClaim)(&r.Claim)
	}
	for i := range r.Signals {
		s := &r.Signals[i]
		out.Signals[i] = jsonSignal{Name: s.Name, Fits: s.Fits, Why: s.Why, Files: s.Files, Lines: []jsonLine{}}
		for _, l := range s.Lines {
			out.Signals[i].Lines = append(out.Signals[i].Lines, jsonLine{Path: l.Path, Line: l.Number, Text: l.Text})
		}
	}
	return out
}

// LaneFormats lists the formats that a lane is written in.
func LaneFormats() []string { return []string{"text", "json"} }

// CheckLaneFormat is [CheckFormat] for LaneFormats.
func CheckLaneFormat(name string) error { return checkFormat(name, LaneFormats()) }

// WriteLane writes the report on a change's lane, in one of LaneFormats. It returns the error of w.
func WriteLane(w io.Writer, format string, doc *finding.LaneReport) error {
	var buf bytes.Buffer
	switch format {
	case "json":
		err := sanitize.JSON(&buf, struct {
			Schema string `json:"schema"`
			Change string `json:"change"`
			Policy string `json:"policy"`
			Reader string `json:"reader"`
			*jsonLane
		}{laneSchema, doc.Change, doc.Policy, doc.Reader, laneJSON(doc)})
		if err != nil {
			return err
		}
	case "text":
		laneText(&buf, doc)
	default:
		return CheckLaneFormat(format)
	}
	return send(w, &buf)
}

// laneText writes for a person.
func laneText(buf *bytes.Buffer, doc *finding.LaneReport) {
	t := &text{buf: buf, width: content.Width}
	t.line("change:  ", content.Text(doc.Change))
	t.line("claim:   ", content.Claim(doc.Claim))
	if len(doc.Signals) == 0 {
		t.line("signals: none")
	} else {
		t.line("signals:")
	}
	for i := range doc.Signals {
		s := &doc.Signals[i]
		t.line("  ", s.Name, " (", string(s.Fits), "): ", content.Text(s.Why))
		places := signalPlaces(s)
		for n, place := range places {
			if n == maxPlaces && len(places) > maxPlaces+1 {
				t.line("    … and ", strconv.Itoa(len(places)-n), " more; ", content.SeeAll)
				break
			}
			t.line("    ", place)
		}
	}
	t.line("fits:    ", string(doc.Fits))
	t.line("why:     ", lane.Why(doc.Signals))
	if doc.Claim.Made() && doc.Claim.Lane.Less(doc.Fits) {
		t.line("the claim is too low: run `small-hook explain lane/under-classified`")
	}
}

// signalPlaces lists the lines, and the files without such a line, that gave a signal.
func signalPlaces(s *lane.Signal) []string {
	var out []string
	for _, l := range s.Lines {
		out = append(out, fmt.Sprintf("%s:%d: %s", content.Path(l.Path), l.Number, content.Text(strings.TrimSpace(l.Text))))
	}
	for _, file := range s.Files {
		if !slices.ContainsFunc(s.Lines, func(l lane.Line) bool { return l.Path == file }) {
			out = append(out, content.Path(file))
		}
	}
	return out
}
