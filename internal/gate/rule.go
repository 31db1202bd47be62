package gate

// Rule is one thing that the gate holds a workspace or a history to: a value
// with a pure check. Exactly one of the checks is set, except for the rules of
// the validate family, whose findings come from reading the files.
type Rule struct {
	// ID is family/name in kebab-case. It is stable and never used again for
	// anything else.
	ID       string
	Severity Severity
	Stage    Stage
	// StrictOnly rules speak only in strict mode.
	StrictOnly bool
	// Doc is set in what Rules and FindRule return.
	Doc

	// Snapshot judges one workspace as of one tree.
	Snapshot func(*Workspace, *reporter)
	// Edge judges one ledger's way from a parent to a child.
	Edge func(*edgeView, *reporter)
	// Switches says that Edge judges the switch histories of records, and no
	// progress logs.
	Switches bool
	// Tips judges one ledger on two branches.
	Tips func(*tipsView, *reporter)
	// Fork judges one workspace on two branches, seen from where they parted.
	Fork func(*forkView, *reporter)
	// Work judges what one commit did to one workspace, and whose commit it is.
	Work func(*workView, *reporter)
	// Lane judges a change by the lane that it claims.
	Lane func(*laneState, *reporter)
	// Workflow judges a workflow file, or a record of a job or a campaign.
	Workflow func(*workflowView, *reporter)
	// Policy judges the configuration beside what it was applied to.
	Policy func(*policyView, *reporter)
}

// Rules lists every rule in documented order. The slice must not be changed.
func Rules() []Rule { return documented() }

// RuleIDs lists the ids of all rules in documented order.
func RuleIDs() []string {
	ids := make([]string, len(rules))
	for i, r := range rules {
		ids[i] = r.ID
	}
	return ids
}

// FindRule returns the rule with the given id.
func FindRule(id string) (Rule, bool) {
	for _, r := range documented() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}

// reporter collects a rule's findings and fills in what the rule's value and
// the place of judgement already say.
type reporter struct {
	rule           *Rule
	commit, parent string
	out            []Finding
	// to, if set, takes each finding at once: of a large log there may be more
	// than out can hold.
	to func([]Finding)
}

// add records a finding of the current rule. Places before the first line or
// column are moved there, since annotations need a line.
func (r *reporter) add(f Finding) {
	f.Rule, f.Stage = r.rule.ID, r.rule.Stage
	if f.Severity == "" {
		f.Severity = r.rule.Severity
	}
	f.Line, f.Column = max(f.Line, 1), max(f.Column, 1)
	f.Commit, f.Parent = r.commit, r.parent
	if f.Commit == Index {
		f.Commit = ""
	}
	if r.to != nil {
		r.to([]Finding{f})
		return
	}
	r.out = append(r.out, f)
}
