package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

const (
	// maxAnnotations is the number of annotations of one kind that GitHub shows for a step. If there are more, the last one counts the rest.
	maxAnnotations = 10
	// maxAnnotation is the number of bytes that GitHub keeps of an annotation's message.
	maxAnnotation = 4096
)

// annotation is one message that GitHub shows beside the code.
type annotation struct {
	// title is the rule, or what the message is if it is no finding; path is empty if there is no place.
	title, path  string
	line, column int
	message      string
}

// renderGitHub writes GitHub's workflow commands, for the log of a step. A group of findings is one annotation. People see only a few, so
// the gravest are first and the rest are counted.
func renderGitHub(buf *bytes.Buffer, r *finding.Report, _ Options) error {
	var failures []annotation
	if f := content.Failure(r); f != nil {
		failures = []annotation{{title: "could not judge", message: content.FailureLines(f)}}
	}
	places := content.PlacesOf(r)
	errors, warnings := gravestFirst(r.Findings)
	for _, a := range annotations(r, places, failures, errors, "error") {
		a.command(buf, "error")
	}
	for _, a := range annotations(r, places, nil, warnings, "warning") {
		a.command(buf, "warning")
	}
	notices := []annotation{{title: "note", message: content.Notes(r)}, {title: content.LeftOut, message: content.ListedNowhere(r)}}
	if len(r.Waived) > 0 {
		message := wording.Count(len(r.Waived), "finding") + " waived: " + content.CountRules(content.BySeverity(r.Waived))
		notices = append(notices, annotation{title: "waived", message: message})
	}
	for _, a := range notices {
		if a.message != "" {
			a.command(buf, "notice")
		}
	}
	return nil
}

// GitHub's runner decodes these codes in a command's data and properties.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command writes the annotation as one line.
func (a *annotation) command(buf *bytes.Buffer, name string) {
	place := ""
	if a.path != "" {
		line := max(a.line, 1)
		place = fmt.Sprintf("col=%d,endLine=%d,file=%s,line=%d,", max(a.column, 1), line, commandProperty.Replace(sanitize.Line(a.path)), line)
	}
	fmt.Fprintf(buf, "::%s %stitle=%s::%s\n", name, place, commandProperty.Replace(a.title), commandData.Replace(a.bounded()))
}

// bounded returns the message, cut at the end of a line if it is too long.
func (a *annotation) bounded() string {
	const end = "\n…"
	message := strings.TrimRight(a.message, "\n")
	if len(message) <= maxAnnotation {
		return message
	}
	kept := sanitize.CutBytes(message, maxAnnotation-len(end))
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i]
	}
	return kept + end
}

// gravestFirst returns the groups of errors and those of warnings, each in the order of the stages: history, validate, verify, lint, others.
func gravestFirst(findings []finding.Finding) (errors, warnings [][]*finding.Finding) {
	rank := map[finding.Stage]int{finding.StageHistory: -4, finding.StageValidate: -3, finding.StageVerify: -2, finding.StageLint: -1}
	groups := content.Groups(findings)
	slices.SortStableFunc(groups, func(a, b []*finding.Finding) int { return cmp.Compare(rank[a[0].Stage], rank[b[0].Stage]) })
	for _, group := range groups {
		if group[0].Severity == finding.SeverityError {
			errors = append(errors, group)
		} else {
			warnings = append(warnings, group)
		}
	}
	return errors, warnings
}

// annotations makes at most ten annotations of one kind: the failures, then one for each group. If there are too many, the last one counts the rest.
func annotations(r *finding.Report, places *content.Places, failures []annotation, all [][]*finding.Finding, kind string) []annotation {
	room := maxAnnotations - len(failures)
	if len(all) <= room {
		room = len(all)
	} else {
		room--
	}
	out := failures
	for _, group := range all[:room] {
		out = append(out, groupAnnotation(r, places, group))
	}
	var rest []*finding.Finding
	for _, group := range all[room:] {
		rest = append(rest, group...)
	}
	if len(rest) > 0 {
		out = append(out, annotation{title: "more " + kind + "s", message: wording.Count(len(rest), "more "+kind) + ": " + content.CountRules(rest) + "; " + content.SeeRest(r)})
	}
	return out
}

// groupAnnotation shows a group's first finding in full and counts the others.
func groupAnnotation(r *finding.Report, places *content.Places, group []*finding.Finding) annotation {
	f := group[0]
	var body bytes.Buffer
	t := &text{buf: &body, width: content.Width, seeRest: content.SeeRest(r)}
	t.line(content.Text(f.Message))
	t.details(f)
	t.closing(f, group[1:])
	return annotation{title: content.Name(f.Rule), path: f.Path, line: places.Line(f), column: f.Column, message: body.String()}
}
