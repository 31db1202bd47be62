package report

import (
	"bytes"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// maxIssues is how many issues a Code Quality report has at most.
const maxIssues = 5000

// gitlabIssue is one issue of GitLab's Code Quality report, with the fields that GitLab requires. A report is a list of them, possibly [].
type gitlabIssue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// issueText describes a finding in one line: the message, and how the fields changed.
func issueText(f *finding.Finding) string {
	words := content.UpperFirst(content.Text(f.Message))
	for _, change := range content.ChangesInWords(f) {
		words = content.Sentence(words) + " " + strings.ReplaceAll(change, "\n", " | ")
	}
	return words
}

// renderGitLab writes the report for GitLab's merge request widget. An error is critical, a warning minor. A failure is a blocker; otherwise the widget
// would show that all is well, or that issues were resolved. Waived findings are left out, because the widget counts every issue as a degradation.
func renderGitLab(buf *bytes.Buffer, r *finding.Report, _ Options) error {
	places := content.PlacesOf(r)
	issues := []gitlabIssue{}
	add := func(severity, check, fingerprint, description, path string, line int) {
		issue := gitlabIssue{Description: description, CheckName: check, Fingerprint: fingerprint, Severity: severity}
		issue.Location.Path, issue.Location.Lines.Begin = sanitize.Line(places.Path(path)), max(line, 1)
		issues = append(issues, issue)
	}
	if f := content.Failure(r); f != nil {
		add("blocker", content.CouldNotJudge, content.CouldNotJudge, "Could not judge: "+content.Text(f.Message), "", 1)
	}
	fingerprints := content.Identities(r.Findings)
	for i, f := range content.BySeverity(r.Findings) {
		if i == maxIssues {
			words := wording.Count(len(r.Findings)-i, "more finding") + "; " + content.SeeRest(r)
			add("info", content.LeftOut, content.LeftOut, words, f.Path, 1)
			break
		}
		severity := "minor"
		if f.Severity == finding.SeverityError {
			severity = "critical"
		}
		rule := content.Name(f.Rule)
		add(severity, rule, fingerprints[f], issueText(f)+" ("+rule+")", f.Path, places.Line(f))
	}
	if words := content.ListedNowhere(r); words != "" {
		add("info", content.LeftOut, content.LeftOut+"-everywhere", words, "", 1) // findings that no format lists; it may occur together with the one above
	}
	return sanitize.JSON(buf, issues)
}
