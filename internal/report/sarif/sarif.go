// Package sarif writes a report for code scanning, in SARIF 2.1.0.
package sarif

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

const (
	version = "2.1.0"
	schema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

	// sourceRoot is code scanning's name for the repository's root.
	sourceRoot = "%SRCROOT%"

	// maxResults is the largest number of results. GitHub keeps no more.
	maxResults = 5000
)

// Render appends the report. Waived findings are suppressed results. A failure is an unsuccessful run with the reason as a notification; a result would
// mean that something was found. The properties say which commits were compared, and versionControlProvenance names the head if a CI system gives the
// repository's address.
func Render(buf *bytes.Buffer, r *finding.Report, programVersion string) error {
	return sanitize.JSON(buf, document{Schema: schema, Version: version, Runs: []run{runOf(r, programVersion)}})
}

// runOf returns the report as one run of the tool.
func runOf(r *finding.Report, programVersion string) run {
	rules, index := ruleDescriptors(r)
	out := run{
		Invocations: []invocation{invocationOf(r)},
		ColumnKind:  "unicodeCodePoints",
		Results:     []result{},
		Properties: properties{
			"verdict": string(content.Verdict(r)), "mode": content.Name(r.Mode), "policy": content.Text(r.Examined.Policy), "floor": content.Text(r.Examined.Floor),
			"base": content.Name(r.Examined.Base), "head": content.Name(r.Examined.Head),
		},
	}
	if page := content.RepositoryPage(r); page != "" {
		out.Provenance = []provenance{{
			RepositoryURI: page, MappedTo: artifact{Base: sourceRoot}, RevisionID: content.Name(r.Examined.Head), Branch: content.Name(r.Examined.Branch),
		}}
	}
	out.Tool.Driver = driver{
		Name: "small-gate", InformationURI: wording.Project,
		Version: strings.TrimPrefix(content.Name(programVersion), "v"), SemanticVersion: semanticVersion(programVersion),
		Rules: rules, Notifications: notices,
	}
	names, places := content.Identities(r.Findings, r.Waived), content.PlacesOf(r)
	add := func(f *finding.Finding, s []suppression) {
		if len(out.Results) < maxResults {
			out.Results = append(out.Results, resultOf(f, places, names[f], index, s))
		}
	}
	for _, f := range content.BySeverity(r.Findings) {
		add(f, []suppression{})
	}
	for i := range r.Waived {
		f := &r.Waived[i]
		add(f, []suppression{{Kind: "external", Status: "accepted", Justification: content.Text(f.Reason)}})
	}
	return out
}

// invocationOf says whether everything could be judged, and what this file leaves out.
func invocationOf(r *finding.Report) invocation {
	out := invocation{ExecutionSuccessful: content.Verdict(r) != finding.Error}
	notify := func(level, id, words string) {
		out.Notifications = append(out.Notifications, notification{Level: level, Message: text{words}, Descriptor: noticeReference(id)})
	}
	if f := content.Failure(r); f != nil {
		out.ExecutionSuccessful = false
		notify("error", content.CouldNotJudge, literal(content.FailureLines(f)))
	}
	if notes := content.Notes(r); notes != "" {
		notify("note", noteID, literal(notes))
	}
	if words := content.ListedNowhere(r); words != "" {
		notify("warning", content.LeftOut, words+".")
	}
	if all := len(r.Findings) + len(r.Waived); all > maxResults {
		notify("warning", content.LeftOut, fmt.Sprintf("Only %d of %d results are listed, errors first; %s.", maxResults, all, content.SeeRest(r)))
	}
	return out
}

func resultOf(f *finding.Finding, places *content.Places, name string, index map[string]int, s []suppression) result {
	path := relativeURI(places.Path(f.Path))
	out := result{
		RuleID: content.Name(f.Rule), Level: string(f.Severity),
		Message:             text{messageOf(f)},
		Locations:           []location{locationOf(path, places.Line(f), f.Column)},
		PartialFingerprints: map[string]string{"smallGate/v1": name},
		Suppressions:        s,
		Properties: properties{
			"stage": content.Name(string(f.Stage)), "commit": content.Name(f.Commit), "parent": content.Name(f.Parent),
		},
	}
	if i, known := index[f.Rule]; known {
		out.RuleIndex = &i
	}
	if before := earlier(f); before != nil {
		at := ""
		if f.Parent != "" {
			at = " in " + content.Abbreviate(f.Parent)
		}
		place := locationOf(path, before.Line, 0)
		place.ID = 1
		place.Message = &text{literal(fmt.Sprintf("%s as it was%s: %s", content.EntryName(before), at, content.EntryLabel(before)))}
		out.RelatedLocations = []location{place}
	}
	return out
}

// earlier returns the parent's version of a finding's entry; nil if only the child has it.
func earlier(f *finding.Finding) *finding.EntryRef {
	if f.Entry == nil || f.EntryAfter == nil && f.EditFrom != f.Entry.Compared.String() {
		return nil
	}
	return f.Entry
}

// locationOf returns a place in a file; a column below 1 is unknown.
func locationOf(uri string, line, column int) location {
	var out location
	out.Physical.Artifact = artifact{URI: uri, Base: sourceRoot}
	out.Physical.Region.StartLine, out.Physical.Region.StartColumn = max(line, 1), max(column, 0)
	return out
}

// messageOf describes a finding: its message, what changed, and the fix.
func messageOf(f *finding.Finding) string {
	parts := append([]string{content.UpperFirst(content.Sentence(content.Text(f.Message)))}, content.ChangesInWords(f)...)
	if fix := content.Lines(f.Fix); fix != "" {
		parts = append(parts, "Fix: "+fix)
	}
	return literal(strings.Join(parts, "\n"))
}

// literal keeps a viewer from taking a message's brackets for a link.
func literal(s string) string {
	if !strings.Contains(s, "](") {
		return s
	}
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(s)
}

// relativeURI writes a path as a relative reference. Every byte but letters, digits and -._~/ is percent-encoded, so that none is taken for a scheme, a
// host, a query or a command.
func relativeURI(path string) string {
	var b strings.Builder
	for _, c := range []byte(strings.TrimLeft(secret.Mask(path), "/")) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

var release = expression.Of(`^v?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$`)

// semanticVersion returns a release's version without the v; empty for a build that is no release.
func semanticVersion(version string) string {
	if m := release().FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return ""
}
