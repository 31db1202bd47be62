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
	Summary: "this change edits the gate's own configuration",
	Why: `The configuration decides what the gate lets pass, so a change to it deserves a look of its own. The
gate never judges a change by the configuration which that change brings: it takes the one on the
trusted side, so nobody can loosen a rule and break it in one go. Loosening it first and breaking it
later takes two changes, and this warning is what a person sees of the first one. Put a rule's
exception in a change by itself, say why, and have a person approve it.`,
	Wrong: `
-- theirs/.small-gate.yml --
version: 1
rules: {append-only/deleted: "off"}
`,
	Right: `
-- 1/.small-gate.yml --
version: 1
strict: true
-- theirs/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", status: "in_progress"}
`,
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
	Summary: "a waiver excuses nothing in the history",
	Why: `A waiver names one edit by the digests of the entry before and after it, and lies in wait until that
edit is made. One that matches nothing in the whole history was mistyped, or its change was given up,
or it was cut off by a baseline; either way it is an open door that nobody watches. An audit can tell,
since it sees the whole history. Remove the stanza. If the edit is still to come, leave it: this is a
warning.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "read from /home/ann/export.csv"
-- 2/.small-gate.yml --
version: 1
waivers:
  - rule: append-only/modified
    path: .small/progress.small.yml
    from: sha256:dc64e46e818b4d16f14acdd11233c94c31d53f5f5676df7708c927493e87c1ac
    to: sha256:bcba65b939474b52f2caedd811cf0039977e3656ed39db7e279dbaef95d153ec
    reason: a private path is removed before the release
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "read from /home/ann/export.csv"
-- 2/.small-gate.yml --
version: 1
waivers:
  - rule: append-only/modified
    path: .small/progress.small.yml
    from: sha256:dc64e46e818b4d16f14acdd11233c94c31d53f5f5676df7708c927493e87c1ac
    to: sha256:bcba65b939474b52f2caedd811cf0039977e3656ed39db7e279dbaef95d153ec
    reason: a private path is removed before the release
-- 3/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "read from export.csv"
`,
	Policy: func(v *policyView, r *reporter) {
		for _, w := range v.unused {
			r.add(waiverFinding(w, "excuses nothing in this history", "remove the stanza"))
		}
	},
}

var ruleWaiverExpired = Rule{
	ID: "config/waiver-expired", Severity: SeverityWarning, Stage: StagePolicy,
	Summary: "a waiver's last day has passed",
	Why: `A waiver with a last day was meant to hold only so long. From the next day on (in UTC) it excuses
nothing, and the edit that it was for is a finding again wherever it is judged. It stands there until
somebody cleans up, and looks as if it still held. Remove the stanza; if the exception is still
needed, a person sets a later day, or none.`,
	Wrong: `
-- .small-gate.yml --
version: 1
waivers:
  - rule: append-only/modified
    path: .small/progress.small.yml
    from: sha256:dc64e46e818b4d16f14acdd11233c94c31d53f5f5676df7708c927493e87c1ac
    to: sha256:bcba65b939474b52f2caedd811cf0039977e3656ed39db7e279dbaef95d153ec
    reason: a private path is removed before the release
    until: 2026-03-31
`,
	Right: `
-- .small-gate.yml --
version: 1
waivers:
  - rule: append-only/modified
    path: .small/progress.small.yml
    from: sha256:dc64e46e818b4d16f14acdd11233c94c31d53f5f5676df7708c927493e87c1ac
    to: sha256:bcba65b939474b52f2caedd811cf0039977e3656ed39db7e279dbaef95d153ec
    reason: a private path is removed before the release
    until: 2026-12-31
`,
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
	Summary: "a log does not begin with its baseline, which is therefore ignored",
	Why: `A baseline says: these first entries are accepted as they are, and everything after them is judged.
It knows them by number and by the ledger's head, a digest of them all. If the log on the trusted
side begins differently, the baseline describes some other log, and believing it would excuse
anything, so it is ignored. An edit that a waiver excuses counts as not made. Either an entry below
the baseline was changed or deleted (then bring it back), or the stanza was written by hand or for
another branch (then a person runs "small-hook baseline" again).`,
	Wrong: `
-- .small-gate.yml --
version: 1
baseline:
  - path: .small/progress.small.yml
    entries: 1
    head: sha256:c4d845be38119721c5ecd1633afd96d771d27c8e8363550f2d388201a308b029
    reason: adopted the gate here
`,
	Right: `
-- .small-gate.yml --
version: 1
baseline:
  - path: .small/progress.small.yml
    entries: 1
    head: sha256:0c573cc0201fd59f0e34ad20057eda1b4e9e3c01322b8e98fd66f3855d71a7e8
    reason: adopted the gate here
`,
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
