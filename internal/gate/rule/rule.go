package rule

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Rule is one thing that the gate checks: a value with pure checks.
type Rule struct {
	// ID is family/name in kebab-case. It is stable and never reused.
	ID       string
	Severity finding.Severity
	Stage    finding.Stage
	// StrictOnly rules speak only in strict mode.
	StrictOnly bool
	// Edit is the edit of a log that the rule reports, and that a waiver may name.
	Edit ledger.EditEffect
	// Doc is set in what Rules and FindRule return.
	Doc
	// Checks judge one subject each; see On.
	Checks []Check
}

// New is a rule that is always heard, and reports no edit that could be waived.
func New(id string, severity finding.Severity, stage finding.Stage, checks ...Check) Rule {
	return Rule{ID: id, Severity: severity, Stage: stage, Checks: checks}
}

// Check judges one subject if it is of the check's kind.
type Check func(Subject, *Reporter)

// On makes the check of one kind of subject.
func On[S Subject](check func(S, *Reporter)) Check {
	return func(s Subject, r *Reporter) {
		if of, is := s.(S); is {
			check(of, r)
		}
	}
}

// Subject is one thing that rules judge: the types of package subject that have a Place.
type Subject interface {
	// Where is the place of findings about it.
	Where() Place
}

// Place says what a finding is about, and how it counts.
type Place struct {
	// Commit is the one that is judged, or Index; empty for a directory. Parent is what it is compared with.
	Commit, Parent string
	// Found is true if a commit's files are judged as they are: it need not be what brought them, and findings do not name it.
	Found bool
	// Branch is the branch that caused the finding, if a merge is predicted.
	Branch string
	// Mandatory subjects are judged at any configured level: a log that cannot be read cannot be judged.
	Mandatory bool
	// Excused subjects exist to list what waivers excuse.
	Excused bool
}

// Where makes every type that embeds a Place a Subject.
func (p Place) Where() Place { return p }

// Reporter takes the findings of one rule about one subject, and fills in what the rule and the place say.
type Reporter struct {
	Place
	rule *Rule
	// severity is that of findings without one of their own; raisedBy is the lane that made it an error.
	severity finding.Severity
	raisedBy lane.Lane
	to       func(finding.Finding)
}

// NewReporter makes the reporter of a rule for the subject at a place. severity is that of findings without one of
// their own, raisedBy the lane that made it an error; to takes the findings.
func NewReporter(rule *Rule, place Place, severity finding.Severity, raisedBy lane.Lane, to func(finding.Finding)) *Reporter {
	return &Reporter{Place: place, rule: rule, severity: severity, raisedBy: raisedBy, to: to}
}

// Severity is the rule's severity after the configuration and the lane; the lane is the one that made a warning an
// error, or empty.
func (r *Reporter) Severity() (finding.Severity, lane.Lane) { return r.severity, r.raisedBy }

// Add reports a finding. Lines and columns are at least 1, because annotations need a line.
func (r *Reporter) Add(f finding.Finding) {
	f.Rule, f.Stage = r.rule.ID, r.rule.Stage
	f.Line, f.Column = max(f.Line, 1), max(f.Column, 1)
	if f.Commit == "" {
		f.Commit, f.Parent = r.Commit, r.Parent
	}
	if history.Uncommitted(f.Commit) || r.Found {
		f.Commit = ""
	}
	if r.Branch != "" {
		f.Message = "on " + r.Branch + ", " + f.Message
	}
	r.to(f)
}

// Doc explains a rule. Its text is in texts/, in a file named after the rule's id.
type Doc struct {
	// Summary is one line.
	Summary string
	// Why is for somebody whose commit was just rejected.
	Why string
	// Wrong and Right are examples in the txtar format, laid over a valid workspace; see Example.
	Wrong, Right string
}
