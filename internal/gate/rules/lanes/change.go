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
	// SpecProblem says why an entry for a spec names none; Spec is the missing file that it names.
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
	// Bases are the commits where the change began, if any; Target is the branch that it forked from, as it is
	// now, empty for the index.
	Bases        []string
	Target, Head string
	// Complete is true if everything that the lane requires must be there: not for the index, nor for an
	// unfinished branch.
	Complete bool
	// Commits are the change's, parents before children; the index counts as one.
	Commits []history.Commit

	Claim  lane.Claim
	Rigour lane.Rigour
	// demands is the Rigour as the collector takes it.
	demands *rule.Rigour
	// Entries are what the change adds to logs; AddedBy are the commits that add each, nil until it is needed.
	Entries []laneEntry
	AddedBy map[small.Digest][]string
	// Files are those that count, nil until they are needed.
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
	// work is what lane/evidence is about, nil until it is needed.
	work []workCommit
}

// withoutLog reports whether the head has no log but the lane that fits requires entries.
func (s *laneChange) withoutLog() bool {
	fits := settings(s.run).Rigour(string(s.Report.Fits))
	return s.Log == "" && len(fits.Before)+len(fits.After) > 0
}

// unknownLane is a claim of a lane that does not exist: in a commit, or, if that is empty, in a label.
type unknownLane struct{ Name, Commit string }

// claimed reports whether anybody claims a lane for the change, even an unknown one.
func (s *laneChange) claimed() bool { return s.Claim.Made() || len(s.Unknown) > 0 }

// laneClaims are what a change's commits claim.
type laneClaims struct {
	// ClaimAt is the claim in effect at each commit, StrictestAt the strictest up to it.
	ClaimAt, StrictestAt map[string]lane.Claim
	// Unknown are the unknown names that no later claim corrects.
	Unknown []unknownLane
}
