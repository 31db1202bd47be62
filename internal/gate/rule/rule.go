// Package rule says what a rule is: a value with checks, each of one kind of
// subject, that reports findings.
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
	// Edit is the edit of a log that the rule reports, and that a waiver may name.
	Edit ledger.EditEffect
	// Doc is set in the rules that have been asked for by name or as a catalogue.
	Doc
	// Checks judge one subject each; see On.
	Checks []Check
}

// New is a rule that applies in every mode, and reports no edit that could be waived.
func New(id string, severity finding.Severity, stage finding.Stage, checks ...Check) Rule {
	return Rule{ID: id, Severity: severity, Stage: stage, Checks: checks}
}

// Of is the rule with the edits of logs that it reports. Waivers may name them.
func (r Rule) Of(edit ledger.EditEffect) Rule {
	r.Edit = edit
	return r
}

// With is the rule with more checks.
func (r Rule) With(checks ...Check) Rule {
	r.Checks = slices.Concat(r.Checks, checks)
	return r
}

// InStrictMode is the rule, limited to strict mode.
func (r Rule) InStrictMode() Rule {
	r.StrictOnly = true
	return r
}

// Known are some rules as a configuration has to know them.
func Known(rules []Rule) []policy.Rule {
	out := make([]policy.Rule, len(rules))
	for i := range rules {
		out[i] = policy.Rule{ID: rules[i].ID, Edit: rules[i].Edit}
	}
	return out
}

// Check judges one subject if it is of the check's kind. An error means that what it needs could not be read.
type Check func(context.Context, Subject, *Reporter) error

// On makes the check of one kind of subject, which holds all that the check looks at.
func On[S Subject](check func(S, *Reporter)) Check {
	return Reading(func(_ context.Context, s S, r *Reporter) error {
		check(s, r)
		return nil
	})
}

// Reading makes a check that reads more, through its subject.
func Reading[S Subject](check func(context.Context, S, *Reporter) error) Check {
	return func(ctx context.Context, s Subject, r *Reporter) error {
		if of, is := s.(S); is {
			return check(ctx, of, r)
		}
		return nil
	}
}

// Rigour is what a family demands beyond what holds for all.
type Rigour struct {
	// By names what demands it, and Elsewhere says where it is not demanded.
	By, Elsewhere string
	// WarningsAreErrors raises every warning to an error.
	WarningsAreErrors bool
	// NoInsertions forbids entries before older ones even if an entry makes them explicit.
	NoInsertions bool
	// Rules raises the levels of rules.
	Rules map[string]policy.Level
}

// Subject is one thing that rules judge.
type Subject interface {
	// Where is the place of findings about it.
	Where() Place
}

// Place says what a finding is about, and how it counts.
type Place struct {
	// Commit is the one that is judged, or Index; empty for a directory. Parent is what it is compared with.
	Commit, Parent string
	// Found is true if a commit's files are judged as they are: it need not have brought them, and findings do not name it.
	Found bool
	// Branch is the branch that caused the finding, if a merge is predicted.
	Branch string
	// Allowed is the path of a log of which a rewrite as a whole was approved, and From and To its heads: the findings about it are waived.
	Allowed  string
	From, To small.Digest
	// Mandatory subjects are judged at any configured level: a log that cannot be read cannot be judged.
	Mandatory bool
}

// Where makes every type that embeds a Place a Subject.
func (p Place) Where() Place { return p }

// Reporter takes the findings of one rule about one subject, and fills in what the rule and the place say.
type Reporter struct {
	Place
	Rule *Rule
	// Severity is the rule's after the configuration and the families' demands; findings without one of their own get it. RaisedBy is
	// what turned a warning into an error; nil if nothing did.
	Severity finding.Severity
	RaisedBy *Rigour
	To       func(finding.Finding)
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
