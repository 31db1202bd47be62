// Package rule defines rules: values with checks. A check judges one kind of subject
// and reports findings.
package rule

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Rule is one thing that the gate checks: a value with checks.
type Rule struct {
	// ID is family/name in kebab-case. It is stable and never reused.
	ID       string
	Severity finding.Severity
	Stage    finding.Stage
	// StrictOnly rules apply only in strict mode.
	StrictOnly bool
	// Edit is the effect of the edits that the rule reports; a waiver may name the rule if its edit has this effect.
	Edit ledger.EditEffect
	// Doc is empty in rules that are only used for judging.
	Doc
	// Checks judge one kind of subject each; see On.
	Checks []Check
}

// New returns a rule that applies in every mode, and reports no edit that could be waived.
func New(id string, severity finding.Severity, stage finding.Stage, checks ...Check) Rule {
	return Rule{ID: id, Severity: severity, Stage: stage, Checks: checks}
}

// ForEdits returns the rule with the effect of the edits that it reports, which a waiver may allow.
func (r Rule) ForEdits(edit ledger.EditEffect) Rule {
	r.Edit = edit
	return r
}

// With returns the rule with more checks.
func (r Rule) With(checks ...Check) Rule {
	r.Checks = slices.Concat(r.Checks, checks)
	return r
}

// InStrictMode returns the rule, limited to strict mode.
func (r Rule) InStrictMode() Rule {
	r.StrictOnly = true
	return r
}

// Known returns the ids and edits of rules, which is what the configuration's parser has to know.
func Known(rules []Rule) []policy.Rule {
	out := make([]policy.Rule, len(rules))
	for i := range rules {
		out[i] = policy.Rule{ID: rules[i].ID, Edit: rules[i].Edit}
	}
	return out
}

// Check judges a subject if it is of the check's kind. An error means that something could not be read.
type Check func(context.Context, Subject, *Reporter) error

// On makes a check of subjects of one type, which needs nothing but the subject.
func On[S Subject](check func(S, *Reporter)) Check {
	return Reading(func(_ context.Context, s S, r *Reporter) error {
		check(s, r)
		return nil
	})
}

// Reading makes a check of subjects of one type that reads more through its subject.
func Reading[S Subject](check func(context.Context, S, *Reporter) error) Check {
	return func(ctx context.Context, s Subject, r *Reporter) error {
		if of, is := s.(S); is {
			return check(ctx, of, r)
		}
		return nil
	}
}

// Rigour is what a family of rules demands of a change beyond what the configuration demands, such as a lane.
type Rigour struct {
	// By names what demands it, for messages. Elsewhere says, for messages, where a change would be allowed.
	By, Elsewhere string
	// WarningsAreErrors raises every warning to an error.
	WarningsAreErrors bool
	// NoInsertions forbids entries before older ones even if a reconcile entry permits them.
	NoInsertions bool
	// Rules raises the levels of rules.
	Rules map[string]policy.Level
}

// Subject is one thing that rules judge.
type Subject interface {
	// Where returns the place of findings about the subject.
	Where() Place
}

// Place says which commit a subject belongs to, and how findings about it count.
type Place struct {
	// Commit is the judged commit, or Index; empty for a directory. Parent is the commit that it is compared with.
	Commit, Parent string
	// Found is true if a commit's files are judged as they are. Findings do not name the commit, because an earlier one may have written the files.
	Found bool
	// Branch is the branch that caused the finding, if a merge is predicted.
	Branch string
	// Allowed is the path of a log whose whole rewrite, from the head From to the head To, was approved: findings about it are waived.
	Allowed  string
	From, To small.Digest
	// Mandatory subjects are judged at any configured level: a log that cannot be read cannot be judged.
	Mandatory bool
}

// Where makes every type that embeds a Place a Subject.
func (p Place) Where() Place { return p }

// Reporter takes the findings of one rule about one subject, and fills in the rule and the place.
type Reporter struct {
	Place
	Rule *Rule
	// Severity is the rule's severity after the configuration and every Rigour. A finding without a severity gets it. RaisedBy is
	// the Rigour that turned a warning into an error; nil if none did.
	Severity finding.Severity
	RaisedBy *Rigour
	// To receives the findings.
	To func(finding.Finding)
}

// Add reports a finding. Lines and columns are at least 1, because annotations need a line.
func (r *Reporter) Add(f finding.Finding) {
	f.Rule, f.Stage = r.Rule.ID, r.Rule.Stage
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
	r.To(f)
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
