package process

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// UnderClassified is lane/under-classified: the change shows signals that the lane it claims does not allow.
var UnderClassified = rule.New("lane/under-classified", finding.SeverityError, finding.StageHistory, rule.On(checkUnderClassified))

const maxSignalFiles = 5

func checkUnderClassified(s *subject.LaneChange, r *rule.Reporter) {
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

// repeatedRun follows advice about labels, because a repeated run does not see a changed one.
const repeatedRun = " and start a new run, by a push for example: one that is only repeated can still see the old label"

// useLane says how to claim the lane that fits.
func useLane(s *subject.LaneChange, fits lane.Lane) string {
	advice := map[lane.Source]string{
		lane.FromCaller:      fmt.Sprintf("use --lane %s", fits),
		lane.FromInput:       fmt.Sprintf("set the input lane to %s", fits),
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
	if s.WithoutLog {
		advice += "; " + makeWorkspace
	}
	return advice
}

// trailerCommand claims a lane in a commit of its own.
func trailerCommand(l lane.Lane) string {
	return fmt.Sprintf("`git commit --allow-empty -m \"Go on in the lane %[1]s\" --trailer \"%[2]s: %[1]s\"`", l, lane.Trailer)
}

// switchCommand records a switch to a lane, in a commit of its own.
func switchCommand(s *subject.LaneChange, l lane.Lane) string {
	first := ""
	if s.Log == "" {
		first = makeWorkspace + "; then "
	}
	return first + wording.Commands(recordSwitch(s, l), fmt.Sprintf("git add -- %s && git commit -m %q", smallDir(s), "Go on in the lane "+string(l)))
}

// switchInIndex records a switch to a lane, in the commit that is about to be made.
func switchInIndex(s *subject.LaneChange, l lane.Lane) string {
	return wording.Commands(recordSwitch(s, l), "git add -- "+smallDir(s)) + ", then commit again"
}

func recordSwitch(s *subject.LaneChange, l lane.Lane) string {
	return fmt.Sprintf("small-hook lane%s --switch %s --reason \"the gate asks for it\"", subject.InDirectory(s.Log), l)
}

// smallDir is the log's workspace, as git add takes it.
func smallDir(s *subject.LaneChange) string {
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
