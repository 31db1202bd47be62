package subject

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// LaneLanding is a change that has landed without some entry.
type LaneLanding struct{ *LaneChange }

// WorkCommit is a commit and the files of the work that it changes.
type WorkCommit struct {
	ID    string
	Files []string
}

// LaneEntry is an entry that a change adds to a log.
type LaneEntry struct {
	ledger.Entry
	// File is the version of the log that it was read from.
	File history.File
	// SpecProblem says why an entry for a spec names none; Spec is the missing file that it names.
	SpecProblem, Spec string
}

// EvidenceProblem says why an entry is no evidence; empty if it is.
func (e LaneEntry) EvidenceProblem() string {
	switch {
	case !e.Evidenced || !e.Meaningful:
		return "has no evidence that says anything"
	case e.Status != "" && e.Status != "completed":
		return fmt.Sprintf("has the status %q", e.Status)
	}
	return e.SpecProblem
}

// LaneChange is a change and what is known of its lane.
type LaneChange struct {
	rule.Place
	// Bases are where the change began, none if it began with nothing; Target is what it parted from, as it is
	// now, empty for the index.
	Bases        []string
	Target, Head string
	// Complete is true if everything that the lane requires must be there: not for the index, nor for an
	// unfinished branch.
	Complete bool
	// Commits are the change's, parents before children; the index is one.
	Commits []history.Commit

	Claim  lane.Claim
	Rigour policy.Rigour
	// Entries are what the change adds to logs; AddedBy are the commits that add each, once somebody has asked.
	Entries []LaneEntry
	AddedBy map[small.Digest][]string
	// Files are those that count, once somebody has asked.
	Files []history.Change
	LaneClaims
	// SwitchedTo are the lanes that entries switch to; JobSwitched is true if a job's record has a new switch.
	SwitchedTo  []lane.Lane
	JobSwitched bool

	// What follows is there for the rules.

	// Report is nil where no lane is claimed.
	Report *finding.LaneReport
	// Log is the path of a log to record something in; empty if the head has none.
	Log string
	// WithoutLog is true if the head has no log but the lane that fits requires entries.
	WithoutLog bool
	// Before and After are the patterns of the required entries.
	Before, After []string
	// Work are the commits, without merges, that change a file that counts and is no document.
	Work []WorkCommit
	// Pending are, in an audit, the patterns that no entry matches here or later.
	Pending []string
}

// UnknownLane is a claim of a lane that does not exist: in a commit, or, if that is empty, in a label.
type UnknownLane struct{ Name, Commit string }

// Claimed reports whether anybody claims a lane for the change, even an unknown one.
func (s *LaneChange) Claimed() bool { return s.Claim.Made() || len(s.Unknown) > 0 }

// LaneClaims are what a change's commits claim.
type LaneClaims struct {
	// ClaimAt is the claim in effect at each commit, StrictestAt the strictest up to it.
	ClaimAt, StrictestAt map[string]lane.Claim
	// Unknown are the unknown names that no later claim corrects.
	Unknown []UnknownLane
}
