package content

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/policy/lane"
)

// The names of things other than findings, for formats that need one.
const (
	CouldNotJudge = "could-not-judge"
	LeftOut       = "left-out"
)

// Level says how bad something is. Formats show it by a colour, a sign or a class.
type Level string

// The levels.
const (
	Good Level = "good"
	Warn Level = "warn"
	Bad  Level = "bad"
)

// LevelOf returns the level of a finding.
func LevelOf(f *finding.Finding) Level {
	if f.Severity == finding.SeverityError {
		return Bad
	}
	return Warn
}

// Verdict returns the report's verdict. An unknown one counts as an error, as in the
// exit status.
func Verdict(r *finding.Report) finding.Verdict {
	switch r.Verdict {
	case finding.Pass, finding.Fail:
		return r.Verdict
	}
	return finding.Error
}

// Failure returns why something could not be judged; nil if everything was judged. A report with the verdict error always has a failure with a message.
func Failure(r *finding.Report) *failure.Error {
	if r.Failure == nil && Verdict(r) == finding.Error {
		return &failure.Error{
			Message: "the run ended without a verdict and without a reason",
			Remedy:  "run the command again; if this repeats, it is a bug: please report it",
		}
	}
	return r.Failure
}

// FailureLines returns a failure's message and remedy.
func FailureLines(f *failure.Error) string { return Lines(f.Message + "\n" + f.Remedy) }

// Notes returns the report's notes, one per line; empty if there are none.
func Notes(r *finding.Report) string { return Lines(strings.Join(r.Examined.Notes, "\n")) }

// Outcome describes the outcome in a few words.
func Outcome(r *finding.Report) (string, Level) {
	switch {
	case Verdict(r) == finding.Error && len(r.Findings) == 0:
		return "could not judge", Bad
	case Verdict(r) == finding.Error:
		return "incomplete", Bad
	case r.Verdict == finding.Pass:
		return "passed", Good
	case r.Observe:
		return "would be rejected (mode: observe)", Warn
	}
	return "rejected", Bad
}

// Summary says how much was found, what was examined, and by which configuration.
func Summary(r *finding.Report) string {
	var examined []string
	if r.Examined.Commits > 0 || !looksAtFiles(r.Mode) {
		examined = append(examined, wording.Count(r.Examined.Commits, "commit"))
	}
	if r.Examined.Workspaces > 0 || r.Examined.Logs == 0 {
		examined = append(examined, wording.Count(r.Examined.Workspaces, "workspace"))
	}
	if r.Examined.Logs > 0 {
		examined = append(examined, wording.Count(r.Examined.Logs, "log"))
	}
	if r.Examined.Workflows > 0 {
		examined = append(examined, wording.Count(r.Examined.Workflows, "workflow file"))
	}
	words := counts(r.Count()) + "; examined " + wording.List(examined, "and")
	if r.Examined.Source != "" {
		words += "; refs from " + Name(r.Examined.Source)
	}
	if p := r.Examined.Policy; !isExpected(p, r.Mode) {
		if rest, none := strings.CutPrefix(p, policy.BuiltIn+" (no "); none {
			p = "no " + strings.TrimSuffix(rest, ")")
		}
		words += "; configuration: " + Name(p)
	}
	if r.Examined.Floor != "" {
		words += "; floor: " + Name(r.Examined.Floor)
	}
	return words
}

// isExpected reports whether a configuration comes from where everybody expects it: the checked-out commit, or no file at all. A push takes it from a
// branch that nobody has named, so there Summary says that there is no file.
func isExpected(source, mode string) bool {
	const none = policy.BuiltIn + " (no " + policy.File + " in "
	switch mode {
	case "range", "merge-check", "audit", "check":
		if strings.HasPrefix(source, none) {
			return true
		}
	}
	return source == "" || source == "HEAD" || source == policy.BuiltIn || source == none+"HEAD)"
}

// looksAtFiles reports whether a command judges files or the index. For these, "0 commits" would sound as if something were missing.
func looksAtFiles(mode string) bool {
	switch mode {
	case "check", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "pre-applypatch", "merge-check":
		return true
	}
	return false
}

func counts(c finding.Counts) string {
	words := wording.Count(c.Errors, "error") + ", " + wording.Count(c.Warnings, "warning")
	if c.Waived > 0 {
		words += fmt.Sprintf(", %d waived", c.Waived)
	}
	if c.Notes > 0 {
		words += ", " + wording.Count(c.Notes, "note")
	}
	return words
}

// SeeAll says which format lists everything.
const SeeAll = "--format json lists all"

// SeeRest says which format lists the findings that a format leaves out.
func SeeRest(r *finding.Report) string {
	if r.More == (finding.Counts{}) {
		return SeeAll
	}
	return "--format json lists " + strconv.Itoa(len(r.Findings)+len(r.Waived))
}

// ListedNowhere says how many findings the report counts but does not list; empty if it lists all.
func ListedNowhere(r *finding.Report) string {
	if r.More == (finding.Counts{}) {
		return ""
	}
	return wording.Count(r.More.Errors+r.More.Warnings+r.More.Waived+r.More.Notes, "more finding") +
		" (" + counts(r.More) + "): too many to list in any format, but counted"
}

// Claim describes the claim of a lane.
func Claim(c lane.Claim) string {
	if !c.Made() {
		return "none, so nothing is judged by lane"
	}
	return string(c.Lane) + ", by " + c.By()
}

// Lane says which lane a change claims and which one fits.
func Lane(r *finding.LaneReport) string {
	return Claim(r.Claim) + "; the change fits " + string(r.Fits)
}
