package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
)

var ruleUnderClassified = Rule{
	ID: "lane/under-classified", Severity: SeverityError, Stage: StageHistory,
	Summary: "the change shows signals that the lane it claims does not allow",
	Why: `A lane says how much rigour a change gets, and it is claimed before the work: fast for very small
changes, standard for most, deep for risky ones. The diff shows whether the claim was right. Fast allows
few files and lines, code that has tests, and none of the strong signals: new public surface, security,
a schema or stored data that changes, a contract between services. Any one of these makes deep right.
Claiming more than the change needs is fine.

A wrong guess is no shame: record the switch with an entry for meta/lane-switch that says why, and claim
the lane that fits from there on. If the diff only looks like a signal, a person can say so in the
configuration, under lanes. "small-hook lane" shows all of it before you commit.`,
	Wrong: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Store the currency

Lane: fast
-- theirs/db/migrations/0002_currency.sql --
alter table bills add column currency text;
`,
	Right: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Say how to import a year

Lane: fast
-- theirs/README.txt --
importer --year 2025
`,
	Lane: checkUnderClassified,
}

// maxSignalFiles bounds the files that a message names for one signal.
const maxSignalFiles = 5

func checkUnderClassified(v *laneView, r *reporter) {
	if v.report == nil {
		return
	}
	refused := lane.Refused(v.report.Claim.Lane, v.report.Signals)
	if len(refused) == 0 {
		return
	}
	var parts []string
	subject := []string{string(v.report.Claim.Lane)}
	for _, s := range refused {
		parts = append(parts, fmt.Sprintf("%s: %s (%s)", s.Name, s.Why, fileList(s.Files)))
		subject = append(subject, s.Name)
		subject = append(subject, s.Files...)
	}
	r.add(Finding{
		Path: refused[0].Files[0], subject: strings.Join(subject, "\x00"),
		Message: fmt.Sprintf("%s claims the lane %s, which does not allow what the change shows: %s; the lane that fits is %s",
			claimWords(v.report.Claim), v.report.Claim.Lane, strings.Join(parts, "; "), v.report.Fits),
		Fix: switchAdvice(v),
	})
}

// claimWords says who makes a claim.
func claimWords(c lane.Claim) string {
	switch c.Source {
	case lane.FromCaller:
		return "the caller"
	case lane.FromInput:
		return "the input lane"
	case lane.FromEnvironment:
		return "SMALL_LANE"
	case lane.FromTrailer:
		return "commit " + short(c.Commit)
	case lane.FromLabel:
		return "a label"
	case lane.FromJob:
		return "the job's record"
	}
	return "the configuration"
}

// newRun follows what is said of labels: whoever changes one and has the same run
// repeated waits in vain.
const newRun = " and start a new run, by a push for example: one that is only repeated can still see the old label"

// switchAdvice says how to go on in the lane that fits.
func switchAdvice(v *laneView) string {
	trailer := trailerCommand(v.report.Fits)
	how := map[lane.Source]string{
		lane.FromCaller:      "say --lane " + string(v.report.Fits),
		lane.FromInput:       "set the input lane to " + string(v.report.Fits),
		lane.FromEnvironment: "set SMALL_LANE to " + string(v.report.Fits),
		lane.FromLabel:       "label the change " + lane.LabelPrefix + string(v.report.Fits) + " instead" + newRun,
	}[v.report.Claim.Source]
	switch {
	case v.state.head == Index:
		how = fmt.Sprintf("claim the lane for this commit: SMALL_LANE=%s %s", v.report.Fits, trailer)
	case how == "":
		how = "claim the lane in the next commit: " + trailer
	}
	return fmt.Sprintf("append an entry for %s to %s that says why, and %s; or take out of the change what asks for more", lane.SwitchTask, v.log(), how)
}

// fileList names the first few of many files.
func fileList(files []string) string {
	if len(files) <= maxSignalFiles {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(files[:maxSignalFiles], ", "), len(files)-maxSignalFiles)
}
