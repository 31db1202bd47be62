package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// policyView is what rules about the configuration read.
type policyView struct {
	policy *policy.Policy
	// changed is the file whose change is judged, the zero Change if the
	// policy does not change.
	changed Change
	// mismatched are baselines that the tip does not begin with.
	mismatched []*policy.Baseline
	// expired and unused are waivers that no longer hold, and that excused
	// nothing in a whole history.
	expired, unused []policy.Waiver
	// unions are files that git would merge by joining lines.
	unions []union
}

var ruleConfigChanged = Rule{
	ID: "config/changed", Severity: SeverityWarning, Stage: StagePolicy,
	Policy: func(v *policyView, r *reporter) {
		if v.changed.Path == "" {
			return
		}
		r.add(Finding{
			Path:    policy.File,
			Message: "this change edits the gate's configuration; it was judged by the trusted one (" + v.policy.Source + ")",
			Fix:     "have a person look at the change; it takes effect once it is merged",
		})
	},
}

var ruleWaiverUnused = Rule{
	ID: "config/waiver-unused", Severity: SeverityWarning, Stage: StagePolicy,
	Policy: func(v *policyView, r *reporter) {
		for _, w := range v.unused {
			r.add(waiverFinding(w, "excuses nothing in this history", "remove the stanza"))
		}
	},
}

var ruleWaiverExpired = Rule{
	ID: "config/waiver-expired", Severity: SeverityWarning, Stage: StagePolicy,
	Policy: func(v *policyView, r *reporter) {
		for _, w := range v.expired {
			r.add(waiverFinding(w, "held until "+w.Until.Format("2006-01-02")+" (UTC)", "remove the stanza, or have a person set a later day"))
		}
	},
}

func waiverFinding(w policy.Waiver, what, fix string) Finding {
	from, to := digestText(w.From), digestText(w.To)
	return Finding{
		Path: policy.File, Line: w.Pos.Line, Column: w.Pos.Column,
		subject: strings.Join([]string{w.Rule, w.Path, from, to}, " "),
		Message: fmt.Sprintf("the waiver of %s for %s %s", w.Rule, w.Path, what),
		Fix:     fix,
	}
}

var ruleBaselineMismatch = Rule{
	ID: "config/baseline-mismatch", Severity: SeverityWarning, Stage: StagePolicy,
	Policy: func(v *policyView, r *reporter) {
		for _, b := range v.mismatched {
			r.add(Finding{
				Path: policy.File, Line: b.Pos.Line, Column: b.Pos.Column, subject: b.Path,
				Message: fmt.Sprintf("%s does not begin with the baseline of %s; the baseline is ignored and all of the log is judged", b.Path, count(b.Entries, "entry")),
				Fix:     "if the log was rewritten, bring it back; if the baseline is wrong, have a person run small-hook baseline again",
			})
		}
	},
}

// notePolicy notes that a node edits the configuration. A merge edits it if it
// has another one than each of its parents: otherwise it takes over what was
// edited, and noted, elsewhere. What is about to be committed is compared with
// HEAD alone, whose configuration is the trusted one.
func (j *judgement) notePolicy(n node, changes [][]Change) {
	if n.id == Index {
		changes = changes[:1]
	}
	var edit Change
	for _, edge := range changes {
		at := slices.IndexFunc(edge, func(c Change) bool { return c.Path == policy.File })
		if at < 0 {
			return
		}
		edit = edge[at]
	}
	j.policyChange = edit
}

// judgePolicy runs the rules about the configuration. whole is true if a whole
// history was judged, so that a waiver that excused nothing is of no use.
func (j *judgement) judgePolicy(whole bool) {
	v := &policyView{policy: j.opts.Policy, changed: j.policyChange, mismatched: j.mismatched, unions: j.unions}
	for i, w := range j.opts.Policy.Waivers {
		switch {
		case w.Expired(j.opts.Now):
			v.expired = append(v.expired, w)
		case whole && !j.used[i]:
			v.unused = append(v.unused, w)
		}
	}
	commit := j.tip
	r := &reporter{commit: commit}
	for i := range rules {
		if rules[i].Policy != nil {
			r.rule = &rules[i]
			rules[i].Policy(v, r)
		}
	}
	j.add(r.out)
}
