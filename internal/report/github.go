package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"

	"github.com/sethvargo/go-githubactions"

	"github.com/small-gate/small-gate/internal/wording"
)

const (
	// maxAnnotations is how many annotations of one kind GitHub shows of a
	// step. Of more, the last place is used to count the rest.
	maxAnnotations = 10
	// maxAnnotation is how many bytes of one annotation's message GitHub keeps.
	maxAnnotation = 4096
	// maxRulesNamed is how many rules are named with what is not shown.
	maxRulesNamed = 10
)

// annotation is one message that GitHub shows beside the code.
type annotation struct {
	// title is the rule; path is empty where there is no place.
	title, path  string
	line, column int
	message      string
}

// renderGitHub writes GitHub's workflow commands, for the log of a step. What
// belongs together is one annotation. Few are shown to people, so the gravest
// come first and the rest are counted. Where nothing is wrong there is nothing
// to write. Commands are made by go-githubactions alone, which escapes them.
func renderGitHub(buf *bytes.Buffer, r *finding.Report, _ Options) error {
	action := githubactions.New(githubactions.WithWriter(buf), githubactions.WithGetenv(func(string) string { return "" }))
	var failures []annotation
	if f := failureOf(r); f != nil {
		failures = []annotation{{title: "could not judge", message: lines(f.Message + "\n" + f.Remedy)}}
	}
	errors, warnings := gravestFirst(r.Findings)
	for _, a := range annotations(r, failures, errors, "error") {
		action.WithFieldsMap(a.fields()).Errorf("%s", a.bounded())
	}
	for _, a := range annotations(r, nil, warnings, "warning") {
		action.WithFieldsMap(a.fields()).Warningf("%s", a.bounded())
	}
	if notes := r.Examined.Notes; len(notes) > 0 {
		a := annotation{title: "note", message: lines(strings.Join(notes, "\n"))}
		action.WithFieldsMap(a.fields()).Noticef("%s", a.bounded())
	}
	if words := unlisted(r); words != "" {
		a := annotation{title: leftOut, message: words}
		action.WithFieldsMap(a.fields()).Noticef("%s", a.bounded())
	}
	if len(r.Waived) > 0 {
		a := annotation{title: "waived", message: wording.Count(len(r.Waived), "finding") + " excused by waivers: " + countRules(pointers(r.Waived))}
		action.WithFieldsMap(a.fields()).Noticef("%s", a.bounded())
	}
	return nil
}

func (a *annotation) fields() map[string]string {
	fields := map[string]string{"title": a.title}
	if a.path != "" {
		line := strconv.Itoa(max(a.line, 1))
		fields["file"], fields["line"], fields["endLine"] = Sanitize(a.path), line, line
		fields["col"] = strconv.Itoa(max(a.column, 1))
	}
	return fields
}

// bounded is the message, cut after a line where it is too long.
func (a *annotation) bounded() string {
	const end = "\n…"
	message := strings.TrimRight(a.message, "\n")
	if len(message) <= maxAnnotation {
		return message
	}
	kept := wholeRunes(message, maxAnnotation-len(end))
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i]
	}
	return kept + end
}

// gravestFirst groups findings and puts first what harms most: a rewritten
// history, then files that cannot be read, then what they say.
func gravestFirst(findings []finding.Finding) (errors, warnings [][]*finding.Finding) {
	rank := map[finding.Stage]int{finding.StageHistory: -4, finding.StageValidate: -3, finding.StageVerify: -2, finding.StageLint: -1}
	for _, group := range groups(findings) {
		if group[0].Severity == finding.SeverityError {
			errors = append(errors, group)
		} else {
			warnings = append(warnings, group)
		}
	}
	for _, list := range [][][]*finding.Finding{errors, warnings} {
		slices.SortStableFunc(list, func(a, b []*finding.Finding) int { return cmp.Compare(rank[a[0].Stage], rank[b[0].Stage]) })
	}
	return errors, warnings
}

// annotations makes at most ten of one kind: those that are there already, one
// for each group, and in the last place one that counts what has no place.
func annotations(r *finding.Report, first []annotation, all [][]*finding.Finding, kind string) []annotation {
	room := maxAnnotations - len(first)
	if len(all) <= room {
		room = len(all)
	} else {
		room--
	}
	out := first
	for _, group := range all[:room] {
		out = append(out, groupAnnotation(r, group))
	}
	var rest []*finding.Finding
	for _, group := range all[room:] {
		rest = append(rest, group...)
	}
	if len(rest) > 0 {
		out = append(out, annotation{title: "more " + kind + "s", message: wording.Count(len(rest), "more "+kind) + ": " + countRules(rest) + "; " + seeRest(r)})
	}
	return out
}

// groupAnnotation tells the first of a group's findings in full and counts the
// others.
func groupAnnotation(r *finding.Report, group []*finding.Finding) annotation {
	f := group[0]
	var body bytes.Buffer
	t := &text{buf: &body, width: defaultWidth, where: seeRest(r)}
	t.line(clip(f.Message, maxText))
	t.entries(f)
	t.changes(f)
	t.closing(f, group[1:])
	return annotation{title: clip(f.Rule, maxName), path: f.Path, line: headLine(r, f), column: f.Column, message: body.String()}
}

// countRules names the rules of some findings with how often each is broken,
// in the order in which they first appear.
func countRules(findings []*finding.Finding) string {
	var order []string
	times := map[string]int{}
	for _, f := range findings {
		if times[f.Rule]++; times[f.Rule] == 1 {
			order = append(order, f.Rule)
		}
	}
	var parts []string
	for i, rule := range order {
		if i == maxRulesNamed {
			parts = append(parts, wording.Count(len(order)-i, "more rule"))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", clip(rule, maxName), times[rule]))
	}
	return strings.Join(parts, ", ")
}

func pointers(findings []finding.Finding) []*finding.Finding {
	out := make([]*finding.Finding, len(findings))
	for i := range findings {
		out[i] = &findings[i]
	}
	return out
}
