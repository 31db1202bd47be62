package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// RoundTrip is lint/round-trip: other programs corrupt a text when they rewrite the file.
var RoundTrip = rule.New("lint/round-trip", finding.SeverityWarning, finding.StageLint, rule.On(checkRoundTrip), rule.On(checkRoundTripOfNew))

// maxTried bounds how many texts of a file are tried; the rest count as broken.
const maxTried = 1000

const removeWhiteSpace = "remove the leading white space"

func checkRoundTrip(w *subject.Workspace, r *rule.Reporter) {
	for _, a := range small.Artifacts {
		var found []finding.Finding
		tried := 0
		if a == small.Progress && w.HasLedger() {
			for _, e := range w.Ledger().Entries {
				if e.Index < w.Baseline {
					continue
				}
				for _, f := range brokenTexts(w.Path(a), &e, e.Suspects, &tried) {
					if f.Fix = "leave it: a committed entry is never edited"; e.Index >= w.Settled {
						f.Fix = w.Correct(a, fmt.Sprintf("entries.%d", e.Index), removeWhiteSpace)
					}
					found = append(found, f)
				}
			}
		} else if doc := w.Doc(a); doc != nil {
			found = brokenTexts(w.Path(a), nil, small.Suspects(doc), &tried)
		}
		for _, f := range found {
			r.Add(f)
		}
	}
}

// checkRoundTripOfNew makes the finding an error for new entries, at the commit that adds them. In a whole history everything is new:
// there it is one in strict mode alone.
func checkRoundTripOfNew(e *subject.LogChange, r *rule.Reporter) {
	if e.Whole && !e.Strict {
		return
	}
	tried := 0
	for _, at := range e.NewEntries {
		entry := e.New.Entries[at]
		for _, f := range brokenTexts(e.Path, &entry, entry.Suspects, &tried) {
			f.Severity, f.Fix = finding.SeverityError, e.Correct(removeWhiteSpace)
			r.Add(f)
		}
	}
}

// brokenTexts are findings about the suspects of a file, or of one entry, that do not survive.
func brokenTexts(path string, e *ledger.Entry, suspects []small.Suspect, tried *int) (out []finding.Finding) {
	for _, s := range suspects {
		if *tried++; *tried <= maxTried && !s.Broken() {
			continue
		}
		f := finding.Finding{
			Path: path, Line: s.Pos.Line, Column: s.Pos.Column, Subject: s.Subject,
			Message: fmt.Sprintf("%s begins with white space and has several lines: programs that rewrite the file with yaml.v3 corrupt it", describeSubject(s.Subject)),
			Fix:     removeWhiteSpace,
		}
		if e != nil {
			f.Entry, f.EditTo = finding.RefOf(*e), e.Digest.String()
			f.Edits = []finding.EditKey{{Path: path + "\x00round-trip", From: s.Subject, To: f.EditTo}}
			f.Message = fmt.Sprintf("%s of entry %d begins with white space and has several lines: programs that rewrite the log with yaml.v3 corrupt it", describeSubject(s.Subject), e.Index+1)
		}
		out = append(out, f)
	}
	return out
}
