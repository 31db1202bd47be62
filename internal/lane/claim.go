package lane

// Source says where a claim comes from.
type Source string

// The sources, in the order in which they are asked.
const (
	// FromCaller is the flag of whoever has the change judged, and FromInput the
	// input of an action.
	FromCaller Source = "flag"
	FromInput  Source = "input"
	// FromEnvironment is a variable in the environment of a commit's hooks, or of a
	// job in CI.
	FromEnvironment Source = "environment"
	// FromTrailer is a trailer of a commit of the change.
	FromTrailer Source = "trailer"
	// FromLabel is a label of the pull request.
	FromLabel Source = "label"
	// FromJob is what a job's record was given from upstream.
	FromJob Source = "job"
	// FromPolicy is the configuration.
	FromPolicy Source = "configuration"
)

// Trailer is the name of the commit trailer that claims a lane.
const Trailer = "Lane"

// LabelPrefix begins the labels that claim a lane.
const LabelPrefix = "lane:"

// SwitchTask is the task id of the entry that records a change of lane.
const SwitchTask = "meta/lane-switch"

// Claim is a lane that somebody says a change is in. The zero Claim is none.
type Claim struct {
	Lane   Lane
	Source Source
	// Commit is the commit whose trailer it is, empty for other sources.
	Commit string
}

// Made reports whether there is a claim.
func (c Claim) Made() bool { return c.Lane != "" }

// First is the claim that counts of several, which are given in the order in
// which sources are asked.
func First(claims ...Claim) Claim {
	for _, c := range claims {
		if c.Made() {
			return c
		}
	}
	return Claim{}
}
