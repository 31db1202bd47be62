package report

import (
	"bytes"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"

	"github.com/small-gate/small-gate/internal/wording"
)

// maxIssues is how many issues a Code Quality report holds at most.
const maxIssues = 5000

// gitlabIssue is one issue of GitLab's Code Quality report, with the fields
// that GitLab demands. A report is a list of them, [] where there are none.
type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// renderGitLab writes the report for GitLab's merge request widget. An error
// is critical, a warning minor. Outcome 2 is one blocker: without it the
// widget would tell that all is well, or even that issues were resolved. What
// is waived is left out, since every issue counts as a degradation there.
func renderGitLab(buf *bytes.Buffer, r *finding.Report, _ Options) error {
	issues := []gitlabIssue{}
	if f := failureOf(r); f != nil {
		issues = append(issues, gitlabIssue{
			Description: "Could not judge: " + clip(f.Message, maxText), CheckName: cannotJudge,
			Fingerprint: cannotJudge, Severity: "blocker", Location: gitlabPlace(filePath(r, &finding.Finding{}), 1),
		})
	}
	names := identities(r.Findings)
	for i, f := range bySeverity(r.Findings) {
		if i == maxIssues {
			issues = append(issues, gitlabIssue{
				Description: wording.Count(len(r.Findings)-i, "more finding") + "; " + seeRest(r), CheckName: leftOut,
				Fingerprint: leftOut, Severity: "info", Location: gitlabPlace(filePath(r, f), 1),
			})
			break
		}
		severity := "minor"
		if f.Severity == finding.SeverityError {
			severity = "critical"
		}
		issues = append(issues, gitlabIssue{
			Description: fmt.Sprintf("%s (%s)", upperFirst(clip(f.Message, maxText)), clip(f.Rule, maxName)),
			CheckName:   clip(f.Rule, maxName), Fingerprint: names[f], Severity: severity,
			Location: gitlabPlace(filePath(r, f), headLine(r, f)),
		})
	}
	if words := unlisted(r); words != "" {
		issues = append(issues, gitlabIssue{
			Description: words, CheckName: leftOut,
			Fingerprint: leftOut + "-everywhere", Severity: "info", Location: gitlabPlace(filePath(r, &finding.Finding{}), 1),
		})
	}
	return encodeJSON(buf, issues)
}

func gitlabPlace(path string, line int) gitlabLocation {
	return gitlabLocation{Path: Sanitize(path), Lines: gitlabLines{Begin: max(line, 1)}}
}
