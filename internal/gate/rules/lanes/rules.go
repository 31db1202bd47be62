package lanes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// Family are the rules about the lane that a change claims, and what that lane asks for.
var Family = run.Family{
	Name: "lanes",
	Rules: []rule.Rule{
		rule.New("lane/under-classified", finding.SeverityError, finding.StageHistory, rule.On(checkUnderClassified)),
		rule.New("lane/escalated-without-record", finding.SeverityError, finding.StageHistory, rule.On(checkEscalated)),
		rule.New("lane/evidence", finding.SeverityError, finding.StageHistory, rule.Reading(checkLaneEvidence)),
		rule.New("lane/qa-pending", finding.SeverityWarning, finding.StageHistory, rule.On(checkPending)),
		rule.New("lane/unknown", finding.SeverityError, finding.StageHistory, rule.On(checkUnknown)),
	},
	Sections: lane.Sections,
	Passes: func() run.Passes {
		j := &judgement{}
		return run.Passes{run.BeforeLogs: j.claim, run.AfterLogs: judgeLandings, run.AfterFiles: j.judge}
	},
}

const maxSignalFiles = 5

func checkUnderClassified(s *laneChange, r *rule.Reporter) {
	if s.Report == nil {
		return
	}
	refused := lane.Refused(s.Claim.Lane, s.Report.Signals)
	if len(refused) == 0 {
		return
	}
	var parts []string
	subject := []string{string(s.Claim.Lane)}
	for _, signal := range refused {
		parts = append(parts, fmt.Sprintf("%s: %s (%s)", signal.Name, signal.Why, fileList(signal.Files)))
		subject = append(subject, signal.Name)
		subject = append(subject, signal.Files...)
	}
	r.Add(finding.Finding{
		Path: refused[0].Files[0], Subject: strings.Join(subject, "\x00"),
		Message: fmt.Sprintf("%s claims lane %q, but the change requires lane %q: %s", s.Claim.By(), s.Claim.Lane, s.Report.Fits, strings.Join(parts, "; ")),
		Fix:     useLane(s, s.Report.Fits),
	})
}

// repeatedRun is added to advice about labels, because a repeated run does not see a changed label.
const repeatedRun = " and start a new run, by a push for example: one that is only repeated can still see the old label"

// useLane returns the fix that claims the lane that fits.
func useLane(s *laneChange, fits lane.Lane) string {
	advice := map[lane.Source]string{
		lane.FromCaller:      fmt.Sprintf("use --lane %s", fits),
		lane.FromInput:       fmt.Sprintf("set the action's lane input to %s", fits),
		lane.FromEnvironment: fmt.Sprintf("`export SMALL_LANE=%s`", fits),
		lane.FromLabel:       fmt.Sprintf("label the change %s%s instead", lane.LabelPrefix, fits) + repeatedRun,
	}[s.Claim.Source]
	switch {
	case s.Head == history.Index && s.Log != "":
		return switchInIndex(s, fits)
	case s.Head == history.Index:
		advice = fmt.Sprintf("`export SMALL_LANE=%s`, then commit again", fits)
	case advice == "" && s.Log != "":
		return switchCommand(s, fits)
	case advice == "":
		advice = trailerCommand(fits)
	}
	if s.needsLog() {
		advice += "; " + makeWorkspace
	}
	return advice
}

// trailerCommand returns the command that claims a lane in a new commit.
func trailerCommand(l lane.Lane) string {
	return fmt.Sprintf("`git commit --allow-empty -m \"Go on in the lane %[1]s\" --trailer \"%[2]s: %[1]s\"`", l, lane.Trailer)
}

// switchCommand returns the commands that record a switch to a lane in a new commit.
func switchCommand(s *laneChange, l lane.Lane) string {
	first := ""
	if s.Log == "" {
		first = makeWorkspace + "; then "
	}
	return first + wording.Commands(recordSwitch(s, l), fmt.Sprintf("git add -- %s && git commit -m %q", smallDir(s), "Go on in the lane "+string(l)))
}

// switchInIndex returns the commands that record a switch to a lane in the commit that is about to be made.
func switchInIndex(s *laneChange, l lane.Lane) string {
	return wording.Commands(recordSwitch(s, l), "git add -- "+smallDir(s)) + ", then commit again"
}

func recordSwitch(s *laneChange, l lane.Lane) string {
	return fmt.Sprintf("small-hook lane%s --switch %s --reason \"the gate asks for it\"", remedy.InDirectory(s.Log), l)
}

// smallDir returns the .small directory of the log's workspace as an argument of git add.
func smallDir(s *laneChange) string {
	dir, _ := small.WorkspaceOf(s.Log)
	return wording.TopPath(small.InDir(dir, ""))
}

// makeWorkspace is the advice if the head has no log.
const makeWorkspace = "lanes keep their record in a workspace, which a person makes (small init --intent, and what it is for)"

func fileList(files []string) string {
	if len(files) <= maxSignalFiles {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(files[:maxSignalFiles], ", "), len(files)-maxSignalFiles)
}

// checkEscalated is lane/escalated-without-record.
func checkEscalated(s *laneChange, r *rule.Reporter) {
	from, to := s.StrictestAt[s.Head], s.ClaimAt[s.Head]
	recorded := s.JobSwitched || slices.ContainsFunc(s.SwitchedTo, func(l lane.Lane) bool { return !to.Lane.Less(l) })
	if !to.Lane.Less(from.Lane) || recorded {
		return
	}
	r.Add(finding.Finding{
		Commit: to.Commit, Parent: from.Commit, Path: s.Log, Subject: string(from.Lane) + " " + string(to.Lane),
		Message: fmt.Sprintf("commit %s lowers the lane to %q from %q (commit %s), and this change adds no %s entry that says why",
			history.Short(to.Commit), to.Lane, from.Lane, history.Short(from.Commit), lane.LaneSwitchTask),
		Fix: switchCommand(s, to.Lane),
	})
}

// checkUnknown is lane/unknown: a trailer, a label or an entry claims a lane that does not exist.
func checkUnknown(s *laneChange, r *rule.Reporter) {
	known := strings.Join(lane.Names, ", ")
	for _, u := range s.Unknown {
		f := finding.Finding{Commit: u.Commit, Parent: r.Parent, Subject: u.Name} // and no path: neither a message nor a label is a place in a file
		if u.Commit == "" {
			f.Message = fmt.Sprintf("a label claims the unknown lane %q; the lanes are %s", u.Name, known)
			f.Fix = fmt.Sprintf("label the change with one of %[1]s%[2]s instead"+repeatedRun, lane.LabelPrefix, strings.Join(lane.Names, ", "+lane.LabelPrefix))
		} else {
			who := "commit " + history.Short(u.Commit)
			f.Fix = trailerCommand(cmp.Or(s.Claim.Lane, lane.Standard))
			if u.Commit == history.Index {
				who = "the index"
				f.Fix = switchInIndex(s, cmp.Or(s.Claim.Lane, lane.Standard))
			}
			f.Message = fmt.Sprintf("%s claims the unknown lane %q; the lanes are %s", who, u.Name, known)
		}
		r.Add(f)
	}
}
