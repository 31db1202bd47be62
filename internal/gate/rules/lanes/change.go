package lanes

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// workCommit is a commit and the files of the work that it changes.
type workCommit struct {
	ID    string
	Files []string
}

// laneEntry is an entry that a change adds to a log.
type laneEntry struct {
	ledger.Entry
	// File is the version of the log that it was read from.
	File history.File
	// SpecProblem says what is wrong with an entry for a spec; Spec is the missing file that it names.
	SpecProblem, Spec string
}

// evidenceProblem says why an entry is not evidence; empty if it is.
func (e laneEntry) evidenceProblem() string {
	switch {
	case !e.Evidenced || !e.Meaningful:
		return "has no evidence that says anything"
	case e.Status != "" && e.Status != "completed":
		return fmt.Sprintf("has the status %q", e.Status)
	}
	return e.SpecProblem
}

// laneChange is a change and what is known about its lane.
type laneChange struct {
	rule.Place
	run *run.Run
	// Bases are the merge bases with the target, or the index's parents; Target is the tip of the branch into which the change
	// will be merged, empty for the index.
	Bases        []string
	Target, Head string
	// Complete is true if the change must have everything that its lane requires: not for the index, nor for an
	// unfinished branch.
	Complete bool
	// Commits are the change's, parents before children; the index counts as one.
	Commits []history.Commit

	Claim  lane.Claim
	Rigour lane.Rigour
	// demands is Rigour in the form that the collector takes.
	demands *rule.Rigour
	// Entries are the entries that the change adds to logs; AddedBy has the commits that add each, nil until it is needed.
	Entries []laneEntry
	AddedBy map[small.Digest][]string
	// Files are the changed files that count; nil until they are needed.
	Files []history.Change
	laneClaims
	// SwitchedTo are the lanes that entries switch to; JobSwitched is true if a job's record has a new switch.
	SwitchedTo  []lane.Lane
	JobSwitched bool

	// The fields below are for the rules.

	// Report is nil if no lane is claimed.
	Report *finding.LaneReport
	// Log is the path of a log to record something in; empty if the head has none.
	Log string
	// work are the commits of the work, for lane/evidence; nil until they are needed.
	work []workCommit
}

// needsLog reports whether the head has no log but the lane that fits requires entries.
func (s *laneChange) needsLog() bool {
	fits := settings(s.run).Rigour(string(s.Report.Fits))
	return s.Log == "" && len(fits.Before)+len(fits.After) > 0
}

// unknownLane is a claim of a lane that does not exist. It is in a label if Commit is empty.
type unknownLane struct{ Name, Commit string }

// isClaimed reports whether anybody claims a lane for the change, even an unknown one.
func (s *laneChange) isClaimed() bool { return s.Claim.Made() || len(s.Unknown) > 0 }

// laneClaims are what a change's commits claim.
type laneClaims struct {
	// ClaimAt is the claim in effect at each commit, StrictestAt the strictest up to it.
	ClaimAt, StrictestAt map[string]lane.Claim
	// Unknown are the claims of unknown lanes that no later claim corrects.
	Unknown []unknownLane
}
