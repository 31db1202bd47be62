package rule

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Rule is one thing that the gate holds a workspace or a history to: a value
// with pure checks.
type Rule struct {
	// ID is family/name in kebab-case. It is stable and never used again for
	// anything else.
	ID       string
	Severity finding.Severity
	Stage    finding.Stage
	// StrictOnly rules speak only in strict mode.
	StrictOnly bool
	// Edit is what a finding says was done to a log: what a waiver of the rule
	// may name.
	Edit ledger.EditEffect
	// Doc is set in what Rules and FindRule return.
	Doc
	// Checks judge a subject each; see On.
	Checks []Check
}

// Check judges one subject, if it is of the kind that the check is about.
type Check func(Subject, *Reporter)

// On makes the check of one kind of subject.
func On[S Subject](check func(S, *Reporter)) Check {
	return func(s Subject, r *Reporter) {
		if of, is := s.(S); is {
			check(of, r)
		}
	}
}

// Subject is one thing that rules judge: a [Workspace], a [LogEdge], a
// [SwitchEdge], an [UnreadableLog], [LogTips], a [NeighbourLog], a
// [WorkspaceFork], a [CommitWork], a [LaneChange], a [LaneLanding], a
// [WorkflowFile] or the [PolicyState].
type Subject interface {
	// Where is the place that findings about it get.
	Where() Place
}

// Place says what a finding is about, and how it counts.
type Place struct {
	// Commit is the one that was looked at, or Index; empty for a directory.
	// Parent is what it was compared with.
	Commit, Parent string
	// Branch is the name of the branch that did it, where a merge is predicted.
	Branch string
	// Mandatory subjects are judged whatever levels the policy gives to rules: a
	// log that cannot be read cannot be judged.
	Mandatory bool
	// Excused subjects are there to list what waivers excuse.
	Excused bool
}

// Where returns the place itself, for the subjects that have one.
func (p Place) Where() Place { return p }

// Reporter takes the findings of one rule about one subject, and fills in what
// the rule and the place already say.
type Reporter struct {
	Place
	rule *Rule
	// severity is that of a finding which has none of its own; raisedBy is the
	// lane that makes an error of it.
	severity finding.Severity
	raisedBy lane.Lane
	to       func(finding.Finding)
}

// NewReporter makes the reporter of one rule about a subject at a place. severity is that
// of a finding which has none of its own, raisedBy the lane that made an error of a
// warning; to takes what is found.
func NewReporter(rule *Rule, place Place, severity finding.Severity, raisedBy lane.Lane, to func(finding.Finding)) *Reporter {
	return &Reporter{Place: place, rule: rule, severity: severity, raisedBy: raisedBy, to: to}
}

// Severity is what the configuration and the change's lane make of the rule's
// own; the lane is the one that made an error of a warning, or empty.
func (r *Reporter) Severity() (finding.Severity, lane.Lane) { return r.severity, r.raisedBy }

// Add reports a finding of the current rule. Places before the first line or
// column are moved there, since annotations need a line.
func (r *Reporter) Add(f finding.Finding) {
	f.Rule, f.Stage = r.rule.ID, r.rule.Stage
	f.Line, f.Column = max(f.Line, 1), max(f.Column, 1)
	if f.Commit == "" {
		f.Commit, f.Parent = r.Commit, r.Parent
	}
	if f.Commit == history.Index {
		f.Commit = ""
	}
	if r.Branch != "" {
		f.Message = "on " + r.Branch + ", " + f.Message
	}
	r.to(f)
}

// Doc explains a rule. Its text stands in texts/, in a file that has the rule's
// id for its name.
type Doc struct {
	// Summary is one line.
	Summary string
	// Why explains the rule to somebody who has just met it.
	Why string
	// Wrong and Right are examples in the txtar format: files of a workspace,
	// laid over a valid one; see Example.
	Wrong, Right string
}
