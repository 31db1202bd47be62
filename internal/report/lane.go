package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"

	changes "github.com/small-gate/small-gate/internal/lane"
)

// laneSchema names the contract of jsonLane. It is stable: keys are added, never
// removed or renamed.
const laneSchema = "small-gate/lane/v1"

// jsonLane is a change's lane, for programs.
type jsonLane struct {
	// Claim is null where nobody claims a lane.
	Claim   *jsonClaim   `json:"claim"`
	Signals []jsonSignal `json:"signals"`
	Fits    changes.Lane `json:"fits"`
	Why     string       `json:"why"`
}

type jsonClaim struct {
	Lane   changes.Lane   `json:"lane"`
	Source changes.Source `json:"source"`
	// Commit is the one whose trailer it is, else "".
	Commit string `json:"commit"`
}

type jsonSignal struct {
	Name  string       `json:"name"`
	Fits  changes.Lane `json:"fits"`
	Why   string       `json:"why"`
	Files []string     `json:"files"`
	// Lines is empty for a signal that paths gave.
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
	out := &jsonLane{Fits: r.Fits, Why: changes.Why(r.Signals), Signals: make([]jsonSignal, len(r.Signals))}
	if r.Claim.Made() {
		out.Claim = &jsonClaim{Lane: r.Claim.Lane, Source: r.Claim.Source, Commit: r.Claim.Commit}
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

// CheckLaneFormat returns an error that names the valid formats if a lane is not
// written in the one of this name.
func CheckLaneFormat(name string) error {
	if slices.Contains(LaneFormats(), name) {
		return nil
	}
	return fmt.Errorf("a lane is not written as %q: valid formats are %s", name, strings.Join(LaneFormats(), ", "))
}

// WriteLane writes what is known of a change's lane, in one of LaneFormats. It
// returns the error of w.
func WriteLane(w io.Writer, format string, doc *finding.LaneReport) error {
	var buf bytes.Buffer
	switch format {
	case "json":
		err := encodeJSON(&buf, struct {
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
	t := &text{buf: buf, width: defaultWidth}
	t.line("change:  ", clip(doc.Change, maxText))
	t.line("claim:   ", claimText(doc.Claim))
	if len(doc.Signals) == 0 {
		t.line("signals: none")
	} else {
		t.line("signals:")
	}
	for i := range doc.Signals {
		s := &doc.Signals[i]
		t.line("  ", s.Name, " (", string(s.Fits), "): ", clip(s.Why, maxText))
		places := placesOf(s)
		for n, place := range places {
			if n == maxPlaces && len(places) > maxPlaces+1 {
				t.line("    … and ", strconv.Itoa(len(places)-n), " more", "; ", seeAll)
				break
			}
			t.line("    ", place)
		}
	}
	t.line("fits:    ", string(doc.Fits))
	t.line("why:     ", changes.Why(doc.Signals))
	if doc.Claim.Made() && doc.Claim.Lane.Less(doc.Fits) {
		t.line("the claim is too low: `small-hook explain lane/under-classified` says how to go on")
	}
}

// placesOf are the lines that gave a signal, and the files that gave it by their
// paths.
func placesOf(s *changes.Signal) []string {
	var out []string
	for _, l := range s.Lines {
		out = append(out, fmt.Sprintf("%s:%d: %s", clip(l.Path, maxPath), l.Number, clip(strings.TrimSpace(l.Text), maxText)))
	}
	for _, file := range s.Files {
		if !slices.ContainsFunc(s.Lines, func(l changes.Line) bool { return l.Path == file }) {
			out = append(out, clip(file, maxPath))
		}
	}
	return out
}

// claimText says who claims which lane.
func claimText(c changes.Claim) string {
	if !c.Made() {
		return "none, so nothing is judged by lane"
	}
	return string(c.Lane) + ", by " + c.By()
}

// laneWords say which lane a change was judged by, and which one fits.
func laneWords(r *finding.LaneReport) string {
	return claimText(r.Claim) + "; the change fits " + string(r.Fits)
}
