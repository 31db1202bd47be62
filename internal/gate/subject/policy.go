package subject

import (
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/policy"
)

// Policy is the configuration and how it was applied.
type Policy struct {
	rule.Place
	Policy *policy.Policy
	// Changed is the edit of the configuration; the zero Change if there is none.
	Changed history.Change
	// Mismatched are baselines that the trusted log does not begin with.
	Mismatched []*policy.Baseline
	// Expired are waivers past their last day; Unused ones excused nothing in a whole history.
	Expired, Unused []policy.Waiver
	// Unions are files that git would merge by joining lines.
	Unions []UnionMerge
}

// UnionMerge is a file that git would merge by joining lines, and where that is said.
type UnionMerge struct {
	Setting policy.MergeSetting
	Path    string
}
