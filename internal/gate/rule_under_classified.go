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
		Message: fmt.Sprintf("%s claims lane %q, but the change requires lane %q: %s",
			v.report.Claim.By(), v.report.Claim.Lane, v.report.Fits, strings.Join(parts, "; ")),
		Fix: switchAdvice(v),
	})
}

// newRun follows what is said of labels: whoever changes one and has the same run
// repeated waits in vain.
const newRun = " and start a new run, by a push for example: one that is only repeated can still see the old label"

// switchAdvice says how to go on in the lane that fits.
func switchAdvice(v *laneView) string {
	fits := v.report.Fits
	if v.state.head == Index {
		return fmt.Sprintf("`SMALL_LANE=%s git commit --trailer %q`", fits, lane.Trailer+": "+string(fits)) + v.needsWorkspace()
	}
	advice := map[lane.Source]string{
		lane.FromCaller:      fmt.Sprintf("use `--lane %s`", fits),
		lane.FromInput:       fmt.Sprintf("set the input lane to %s", fits),
		lane.FromEnvironment: fmt.Sprintf("`export SMALL_LANE=%s`", fits),
		lane.FromLabel:       fmt.Sprintf("label the change %s%s instead", lane.LabelPrefix, fits) + newRun,
	}[v.report.Claim.Source]
	if advice == "" {
		return v.goOn(fits)
	}
	return advice + v.needsWorkspace()
}

// trailerCommand claims a lane in a commit of its own.
func trailerCommand(l lane.Lane) string {
	return fmt.Sprintf("`git commit --allow-empty -m \"Go on in the lane %[1]s\" --trailer \"%[2]s: %[1]s\"`", l, lane.Trailer)
}

// goOn says how to go on in a lane.
func (v *laneView) goOn(l lane.Lane) string {
	if v.log == "" {
		return trailerCommand(l) + v.needsWorkspace()
	}
	dir, _ := small.WorkspaceOf(v.log)
	in := ""
	if dir != "" {
		in = " -C " + shellQuote(dir)
	}
	return fmt.Sprintf("`small-hook lane%s --switch %s --reason \"why\"`, then ", in, l) + commitWorkspace(dir, "Go on in the lane "+string(l))
}

// needsWorkspace goes behind advice where the head has no log.
func (v *laneView) needsWorkspace() string {
	if v.log != "" {
		return ""
	}
	return "; lanes above fast need a workspace: `small init --intent \"what it is for\"`"
}

// commitWorkspace is the command that commits what was added to a workspace.
func commitWorkspace(dir, message string) string {
	return fmt.Sprintf("`git add -- %s && git commit -m %q`", shellQuote(path.Join(dir, small.Dir)), message)
}

// fileList names the first few of many files.
func fileList(files []string) string {
	if len(files) <= maxSignalFiles {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(files[:maxSignalFiles], ", "), len(files)-maxSignalFiles)
}
