package profile2

import (
	"cmp"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// Canonical is validate/canonical: a record's bytes or digest are not those of its content.
var Canonical = rule.New("validate/canonical", finding.SeverityError, finding.StageValidate, CheckOf(records.ProblemCanonical))

// Record is validate/record: a record stands where it does not belong, or a file that is none stands among records.
var Record = rule.New("validate/record", finding.SeverityError, finding.StageValidate, CheckOf(records.ProblemPlace))

// Import is validate/import: an import is not what its manifest says.
var Import = rule.New("validate/import", finding.SeverityError, finding.StageValidate, CheckOf(records.ProblemImport))

// StrayV1 is lint/stray-v1: a file of 1.0.0 stands beside a profile.
var StrayV1 = rule.New("lint/stray-v1", finding.SeverityWarning, finding.StageLint, CheckOf(strayV1))

// Causal is verify/causal: events do not hang together.
var Causal = rule.New("verify/causal", finding.SeverityError, finding.StageVerify, CheckOf(causal))

// Policy is verify/policy: a policy file is not that of the newest revision.
var Policy = rule.New("verify/policy", finding.SeverityError, finding.StageVerify, CheckOf(policy))

// Credential is a check of secret/credential, which has the words for it.
var Credential = CheckOf(credential)

// SessionFork is divergence/session-fork: two events have one place in a session.
var SessionFork = rule.New("divergence/session-fork", finding.SeverityError, finding.StageHistory, CheckOf(fork), rule.Reading(checkForkOfTips))

// Decision is divergence/decision: two branches decided one thing differently.
var Decision = rule.New("divergence/decision", finding.SeverityWarning, finding.StageHistory, CheckOf(decision))

// LateV1 is divergence/late-v1: git has written the entries of a branch of 1.0.0 into an import.
var LateV1 = rule.New("divergence/late-v1", finding.SeverityError, finding.StageHistory, rule.On(func(e *logs.RecordChange, r *rule.Reporter) {
	if len(e.Late) == 0 {
		return
	}
	f := e.Finding(e.Edits[0])
	f.Message = fmt.Sprintf("git has written %s of a branch of 1.0.0 into an import, which never changes: %s", wording.Count(len(e.Late), "entry"), ledger.DescribeAll(e.Late))
	if f.Fix = e.UsualFix(); history.Uncommitted(e.Commit) {
		f.Fix = cmp.Or(e.Fix, remedy.Reconcile) // after a squash, too
	}
	r.Add(f)
}))

// TwoProfiles is divergence/two-profiles: two branches were migrated each on its own.
var TwoProfiles = rule.New("divergence/two-profiles", finding.SeverityError, finding.StageHistory, rule.On(func(e *logs.RecordChange, r *rule.Reporter) {
	if len(e.Late) > 0 {
		return
	}
	f := e.Finding(e.Edits[0])
	f.Message = "both branches became workspaces of 2.0.0, each with a profile of its own; the merge keeps one, and the other's records belong to another project"
	f.Fix = twoProfiles
	r.Add(f)
}), rule.On(func(t *logs.LogTips, r *rule.Reporter) {
	if _, name, _ := small.SplitPath(t.Path); !t.Immutable || name != records.ProfileFile || t.Outcome != ledger.Diverged {
		return
	}
	f := t.Finding()
	f.Message = fmt.Sprintf("%s and %s became workspaces of 2.0.0, each with a profile of its own", t.TargetName, t.HeadName)
	f.Fix, f.FixBeforeMerge = twoProfiles, true
	r.Add(f)
}))

const twoProfiles = "remove the migration that is not published from its branch, if nobody else has it, and merge that branch, which is of 1.0.0 again, into the other; " +
	"if both are published, a person decides which one holds, and waives the loss of the other (`small-hook waive --help`)"
