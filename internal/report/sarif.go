package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/wording"
)

const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

	// maxResults is how many results are written: GitHub keeps no more.
	maxResults = 5000
	// maxResultChanges is how many changed fields one message tells.
	maxResultChanges = 3

	cannotJudge  = "could-not-judge"
	leftOut      = "left-out"
	worthKnowing = "note"
)

// renderSARIF writes the report for code scanning, in SARIF 2.1.0. What is
// waived is there as suppressed. A judgement that could not be made is a run
// that was not successful, with the reason as a notification: results would
// say that something was found. Which commits were compared stands in the
// properties; versionControlProvenance would need the repository's address,
// which nobody told.
func renderSARIF(buf *bytes.Buffer, r *finding.Report, opts Options) error {
	return encodeJSON(buf, sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{sarifRunOf(r, opts)}})
}

// sarifRunOf is the report as a run of the tool.
func sarifRunOf(r *finding.Report, opts Options) sarifRun {
	rules, index := sarifRules()
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "small-gate", InformationURI: projectPage,
			Version: strings.TrimPrefix(clip(opts.Version, maxName), "v"), SemanticVersion: semanticVersion(opts.Version),
			Rules: rules, Notifications: sarifNotices,
		}},
		Invocations: []sarifInvocation{sarifInvocationOf(r)},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
		Properties: sarifProperties{
			"verdict": string(verdict(r)), "mode": clip(r.Mode, maxName), "policy": clip(r.Examined.Policy, maxText),
			"base": clip(r.Examined.Base, maxName), "head": clip(r.Examined.Head, maxName),
		},
	}
	names := identities(r.Findings, r.Waived)
	for _, f := range bySeverity(r.Findings) {
		run.add(r, f, names[f], index, []sarifSuppression{})
	}
	for i := range r.Waived {
		f := &r.Waived[i]
		run.add(r, f, names[f], index, []sarifSuppression{{Kind: "external", Status: "accepted", Justification: clip(f.Reason, maxText)}})
	}
	return run
}

// sarifInvocationOf says whether the judgement was made, and what this file
// does not hold.
func sarifInvocationOf(r *finding.Report) sarifInvocation {
	out := sarifInvocation{ExecutionSuccessful: verdict(r) != finding.Error}
	if f := failureOf(r); f != nil {
		out.ExecutionSuccessful = false
		out.Notifications = append(out.Notifications, sarifNotification{
			Level: "error", Message: sarifText{literal(lines(f.Message + "\n" + f.Remedy))}, Descriptor: notice(cannotJudge),
		})
	}
	if notes := r.Examined.Notes; len(notes) > 0 {
		out.Notifications = append(out.Notifications, sarifNotification{
			Level: "note", Message: sarifText{literal(lines(strings.Join(notes, "\n")))}, Descriptor: notice(worthKnowing),
		})
	}
	if words := unlisted(r); words != "" {
		out.Notifications = append(out.Notifications, sarifNotification{Level: "warning", Message: sarifText{words + "."}, Descriptor: notice(leftOut)})
	}
	if all := len(r.Findings) + len(r.Waived); all > maxResults {
		out.Notifications = append(out.Notifications, sarifNotification{
			Level:      "warning",
			Message:    sarifText{fmt.Sprintf("Only %d of %d results are listed, errors first; %s.", maxResults, all, seeRest(r))},
			Descriptor: notice(leftOut),
		})
	}
	return out
}

// add appends the result of one finding, if there is room.
func (run *sarifRun) add(r *finding.Report, f *finding.Finding, name string, index map[string]int, s []sarifSuppression) {
	if len(run.Results) == maxResults {
		return
	}
	result := sarifResult{
		RuleID: clip(f.Rule, maxName), Level: sarifLevel(f.Severity),
		Message:             sarifText{resultText(f)},
		Locations:           []sarifLocation{sarifPlace(filePath(r, f), headLine(r, f), f.Column)},
		PartialFingerprints: map[string]string{"smallGate/v1": name},
		Suppressions:        s,
		Properties: sarifProperties{
			"stage": clip(string(f.Stage), maxName), "commit": clip(f.Commit, maxName), "parent": clip(f.Parent, maxName),
		},
	}
	if i, known := index[f.Rule]; known {
		result.RuleIndex = &i
	}
	if before := earlier(f); before != nil {
		place := sarifPlace(filePath(r, f), before.Line, 0)
		place.ID = 1
		place.Message = &sarifText{literal(fmt.Sprintf("%s %d as it was%s: %s", entryKind(before), before.Index+1, inCommit(f.Parent), entryLabel(before)))}
		result.RelatedLocations = []sarifLocation{place}
	}
	run.Results = append(run.Results, result)
}

func inCommit(id string) string {
	if id == "" {
		return ""
	}
	return " in " + abbreviate(id)
}

func sarifLevel(s finding.Severity) string {
	if s == finding.SeverityError {
		return "error"
	}
	return "warning"
}

// sarifPlace is a place in a file; a column below 1 is not known. Regions end
// where they begin, as nobody knows more.
func sarifPlace(path string, line, column int) sarifLocation {
	return sarifLocation{Physical: sarifPhysical{
		Artifact: sarifArtifact{URI: relativeURI(path)},
		Region:   sarifRegion{StartLine: max(line, 1), StartColumn: max(column, 0)},
	}}
}

// resultText is a finding in words: the sentence, what changed, what to do.
func resultText(f *finding.Finding) string {
	parts := []string{upperFirst(sentence(clip(f.Message, maxText)))}
	changes := f.Changes
	if isWhole(f) {
		parts, changes = append(parts, "The entry:\n"+strings.Join(wholeEntry(f), "\n")), nil
	}
	for i := range changes {
		if i == maxResultChanges {
			parts = append(parts, sentence("And "+wording.Count(len(f.Changes)-i+f.MoreChanges, "more changed field")))
			break
		}
		parts = append(parts, sentence(changeWords(&f.Changes[i])))
	}
	if fix := strings.TrimSpace(f.Fix); fix != "" {
		parts = append(parts, "Fix: "+lines(fix))
	}
	return literal(strings.Join(parts, "\n"))
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// literal keeps a viewer from taking a message's brackets for a link.
func literal(s string) string {
	if !strings.Contains(s, "](") {
		return s
	}
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(s)
}

// lines cleans a text of several lines, and bounds it.
func lines(s string) string {
	all := strings.Split(strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n"), "\n")
	var out []string
	for i, line := range all {
		if i == maxFixLines {
			out = append(out, more(strings.Join(all[i:], "\n")))
			break
		}
		out = append(out, clip(line, maxText))
	}
	return strings.Join(out, "\n")
}

// changeWords tells one changed field in one line.
func changeWords(c *ledger.FieldChange) string {
	const width = 160
	field := clip(c.Field, maxName)
	if field == "" {
		field = "(the entry)"
	}
	quoted := func(values []string) string { return `"` + strings.Join(values, `\n`) + `"` }
	switch {
	case !c.HasFrom:
		return "Field " + field + " was added: " + quoted(excerpt(c.To, width))
	case !c.HasTo:
		return "Field " + field + " was removed: " + quoted(excerpt(c.From, width))
	}
	d := differ(c.From, c.To, width)
	words := "Field " + field + ": " + quoted(d.removed) + " became " + quoted(d.added)
	if d.note != "" {
		words += " (" + d.note + ")"
	}
	return words
}

// relativeURI writes a path as a relative reference: every byte that is not
// plainly harmless is percent-encoded, so that none can be taken for a scheme,
// a host, a query or a command.
func relativeURI(path string) string {
	var b strings.Builder
	for _, c := range []byte(strings.TrimLeft(path, "/")) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
