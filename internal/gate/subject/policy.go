package subject

import (
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/policy"
)

// Policy is what rules about the configuration read.
type Policy struct {
	rule.Place
	Policy *policy.Policy
	// Changed is the file whose change is judged, the zero Change if the
	// policy does not change.
	Changed history.Change
	// Mismatched are baselines that the tip does not begin with.
	Mismatched []*policy.Baseline
	// Expired and unused are waivers that no longer hold, and that excused
	// nothing in a whole history.
	Expired, Unused []policy.Waiver
	// Unions are files that git would merge by joining lines.
	Unions []UnionMerge
}

// Union is a file that git would merge by joining lines, and where that is said.
type UnionMerge struct {
	Setting policy.MergeSetting
	Path    string
}
