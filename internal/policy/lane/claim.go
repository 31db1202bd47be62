package lane

import (
	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/small"
)

// Source says where a claim comes from.
type Source string

// The sources. A flag, an input or a variable counts before a trailer or an entry, these before a label, and the configuration's default last. A job's
// lane, and the configuration's minimum, override weaker claims.
const (
	// FromCaller is the flag --lane of the command that judges the change, FromInput the input of small-action.
	FromCaller Source = "flag"
	FromInput  Source = "input"
	// FromEnvironment is a variable in the environment of a commit's hooks, or of a
	// job in CI.
	FromEnvironment Source = "environment"
	// FromTrailer is a trailer in a commit's message, or a line that looks like one.
	FromTrailer Source = "trailer"
	// FromEntry is an entry for LaneSwitchTask that a commit adds.
	FromEntry Source = "entry"
	// FromLabel is a label of the pull request.
	FromLabel Source = "label"
	// FromJob is the lane in a job's record. Whoever started the job chose it.
	FromJob Source = "job"
	// FromPolicy is the configuration: its default lane, or the least strict lane that it allows.
	FromPolicy Source = "configuration"
)

// Trailer is the name of the commit trailer that claims a lane.
const Trailer = "Lane"

// LabelPrefix begins the labels that claim a lane.
const LabelPrefix = "lane:"

// LaneSwitchTask is the task id of an entry that records a change of lane, SpecTask that of
// an entry that names a spec.
const (
	LaneSwitchTask = "meta/lane-switch"
	SpecTask       = "meta/spec"
)

var (
	// laneSwitchForm matches the beginning of the evidence of an entry that switches the lane. A [Switch] of the workflow is something else.
	laneSwitchForm = expression.Of(`(?i)^\s*(?:\w+\s+)?to\s+(\w+)\s*:\s*\S`)
	specLine       = expression.Of(`(?m)^\s*` + specKey + `:\s*(\S.*?)\s*$`)
)

// specKey names the file in the evidence of an entry for SpecTask: as a key of a mapping, or in a line "spec-md: PATH" of a text.
const specKey = "spec-md"

// LaneSwitchText returns the evidence of an entry that switches lanes; from may be empty.
func LaneSwitchText(from, to Lane, reason string) string {
	text := "to " + string(to) + ": " + reason
	if from != "" && from != to {
		text = string(from) + " " + text
	}
	return text
}

// SwitchedTo returns the lane's name, valid or not, in the evidence of an entry for LaneSwitchTask; empty if the evidence does not have the form of
// LaneSwitchText.
func SwitchedTo(evidence *small.Value) string {
	text, _ := evidence.Str()
	if m := laneSwitchForm().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// SpecFile returns the path of the file in the evidence of an entry for SpecTask; empty if it has none.
func SpecFile(evidence *small.Value) string {
	if file, ok := evidence.Get(specKey).Str(); ok {
		return file
	}
	text, _ := evidence.Str()
	if m := specLine().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// Claim is somebody's claim of a lane for a change. The zero Claim is none.
type Claim struct {
	Lane   Lane
	Source Source
	// Commit is the commit with the trailer or entry, empty for other sources.
	Commit string
}

// claimants describe sources in messages.
var claimants = map[Source]string{
	FromCaller: "--lane", FromInput: "the action's lane input", FromEnvironment: "SMALL_LANE", FromTrailer: "the trailer of commit ",
	FromEntry: "an entry for " + LaneSwitchTask, FromLabel: "a label", FromJob: "the job's record", FromPolicy: "the configuration",
}

// By names the source of the claim, for messages.
func (c Claim) By() string {
	who := claimants[c.Source]
	if c.Source == FromTrailer {
		who += c.Commit[:min(len(c.Commit), 12)]
	}
	return who
}

// Made reports whether there is a claim.
func (c Claim) Made() bool { return c.Lane != "" }
