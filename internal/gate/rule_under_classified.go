package gate

import (
	"fmt"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

var ruleUnderClassified = Rule{
	ID: "lane/under-classified", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkUnderClassified)},
}

// maxSignalFiles bounds the files that a message names for one signal.
const maxSignalFiles = 5

func checkUnderClassified(s *LaneChange, r *Reporter) {
	if s.report == nil {
		return
	}
	refused := lane.Refused(s.claim.Lane, s.report.Signals)
	if len(refused) == 0 {
		return
	}
	var parts []string
	subject := []string{string(s.claim.Lane)}
	for _, signal := range refused {
		parts = append(parts, fmt.Sprintf("%s: %s (%s)", signal.Name, signal.Why, fileList(signal.Files)))
		subject = append(subject, signal.Name)
		subject = append(subject, signal.Files...)
	}
	r.Add(Finding{
		Path: refused[0].Files[0], subject: strings.Join(subject, "\x00"),
		Message: fmt.Sprintf("%s claims lane %q, but the change requires lane %q: %s", s.claim.By(), s.claim.Lane, s.report.Fits, strings.Join(parts, "; ")),
		Fix:     goOn(s, s.report.Fits),
	})
}

// repeatedRun follows what is said of labels: whoever changes one and has the same run
// repeated waits in vain.
const repeatedRun = " and start a new run, by a push for example: one that is only repeated can still see the old label"

// goOn says how to go on in the lane that fits.
func goOn(s *LaneChange, fits lane.Lane) string {
	advice := map[lane.Source]string{
		lane.FromCaller:      fmt.Sprintf("use `--lane %s`", fits),
		lane.FromInput:       fmt.Sprintf("set the input lane to %s", fits),
		lane.FromEnvironment: fmt.Sprintf("`export SMALL_LANE=%s`", fits),
		lane.FromLabel:       fmt.Sprintf("label the change %s%s instead", lane.LabelPrefix, fits) + repeatedRun,
	}[s.claim.Source]
	switch {
	case s.head == Index:
		advice = fmt.Sprintf("`SMALL_LANE=%s git commit --trailer %q`", fits, lane.Trailer+": "+string(fits))
	case advice == "" && s.log != "":
		return switchCommand(s, fits)
	case advice == "":
		advice = trailerCommand(fits)
	}
	if s.workspaceless {
		advice += "; " + makeWorkspace
	}
	return advice
}

// trailerCommand claims a lane in a commit of its own.
func trailerCommand(l lane.Lane) string {
	return fmt.Sprintf("`git commit --allow-empty -m \"Go on in the lane %[1]s\" --trailer \"%[2]s: %[1]s\"`", l, lane.Trailer)
}

// switchCommand records a switch to a lane.
func switchCommand(s *LaneChange, l lane.Lane) string {
	return inWorkspace(s, "small-hook lane", "-C", fmt.Sprintf("--switch %s --reason \"why\"", l), "Go on in the lane "+string(l))
}

// makeWorkspace is what to do where the head has no log.
const makeWorkspace = "lanes keep their record in a workspace: `small init --intent \"what it is for\"`"

// inWorkspace writes a command that appends to the log, and the commit after it. flag
// names the directory to it.
func inWorkspace(s *LaneChange, command, flag, args, message string) string {
	dir, _ := small.WorkspaceOf(s.log)
	first := ""
	if s.log == "" {
		first = makeWorkspace + ", then "
	}
	if dir != "" {
		command += " " + flag + " " + shellQuote(dir)
	}
	return fmt.Sprintf("%s`%s %s`, then `git add -- %s && git commit -m %q`", first, command, args, ":/"+shellQuote(path.Join(dir, small.Dir)), message)
}

// fileList names the first few of many files.
func fileList(files []string) string {
	if len(files) <= maxSignalFiles {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(files[:maxSignalFiles], ", "), len(files)-maxSignalFiles)
}
