package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleRoundTrip = Rule{
	ID: "lint/round-trip", Severity: SeverityWarning, Stage: StageLint,
	Checks: []RuleCheck{On(checkRoundTrip), On(checkRoundTripOfNew)},
}

// mostTried bounds how many texts are written and read for one judgement of one
// file; the rest count as broken.
const mostTried = 1000

func checkRoundTrip(w *Workspace, r *Reporter) {
	for _, a := range small.Artifacts {
		var log *small.Log
		if a == small.Progress {
			if art := w.artifacts[a]; art != nil {
				log = art.log
			}
		}
		if log != nil {
			tried := 0
			for i, e := range log.Entries {
				if i >= w.baseline {
					breaks(w.path(a), &e, e.Suspects, &tried, r, "")
				}
			}
			continue
		}
		if doc := w.doc(a); doc != nil {
			tried := 0
			breaks(w.path(a), nil, small.Suspects(doc), &tried, r, "")
		}
	}
}

// checkRoundTripOfNew makes the same finding of a new entry an error in strict
// mode, at the commit that adds it.
func checkRoundTripOfNew(e *LogEdge, r *Reporter) {
	if !e.strict {
		return
	}
	tried := 0
	for _, at := range e.fresh {
		entry := e.now.Entries[at]
		breaks(e.path, &entry, entry.Suspects, &tried, r, SeverityError)
	}
}

// breaks reports the suspects of a file, or of one entry of a log, that do not
// come back.
func breaks(path string, e *small.Entry, suspects []small.Suspect, tried *int, r *Reporter, severity Severity) {
	for _, s := range suspects {
		if *tried++; *tried <= mostTried && !s.Broken() {
			continue
		}
		f := Finding{
			Path: path, Line: s.Pos.Line, Column: s.Pos.Column, subject: s.Subject, Severity: severity,
			Message: fmt.Sprintf("%s begins with white space and has several lines: programs that rewrite the file with yaml.v3 break it", describeSubject(s.Subject)),
			Fix:     "begin the text with its first word",
		}
		if e != nil {
			f.Entry, f.EditTo = refOf(*e), e.Digest.String()
			f.edits = []editKey{{path: path + "\x00round-trip", from: s.Subject, to: f.EditTo}}
			f.Message = fmt.Sprintf("%s of entry %d begins with white space and has several lines: programs that rewrite the log with yaml.v3 break it", describeSubject(s.Subject), e.Index+1)
		}
		r.Add(f)
	}
}
