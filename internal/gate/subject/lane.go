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

// LaneLanding is a change that has landed, and for which some entry is missing.
type LaneLanding struct{ *LaneChange }

// WorkCommit is a commit and the files of the work that it touches.
type WorkCommit struct {
	ID    string
	Files []string
}

// LaneEntry is an entry that a change adds to a log.
type LaneEntry struct {
	ledger.Entry
	// File is the log's version that it was read from.
	File history.File
	// Specless says why an entry for a spec names none; empty for any other. spec is
	// the file that it names.
	SpecProblem, Spec string
}

// Lacks says why an entry gives no evidence; empty if it does.
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
	// Bases are where the change began, none for one that began with nothing;
	// target is what it parted from, as it is now, empty for the index.
	Bases        []string
	Target, Head string
	// Complete is true if the change is complete, so that what it has to bring must
	// be there: not for the index, and not for a branch that work goes on in.
	Complete bool
	// Commits are those of the change, parents before children; the index is one.
	Commits []history.Commit

	Claim  lane.Claim
	Rigour policy.Rigour
	// Entries are what the change adds to its logs; brought are the commits that
	// add each of them, once somebody has asked.
	Entries []LaneEntry
	AddedBy map[small.Digest][]string
	// Touched are the files that count, once somebody has asked.
	Files []history.Change
	LaneClaims
	// SwitchedTo are the lanes that entries switch to, and jobSwitched is true where a
	// job's record has a new switch.
	SwitchedTo  []lane.Lane
	JobSwitched bool

	// What follows is there for the rules.

	// Report is nil where no lane is claimed.
	Report *finding.LaneReport
	// Log is the path of a log in which something can be recorded; empty where the
	// head has none.
	Log string
	// WithoutLog is true where the head has no log and the lane that fits requires
	// entries.
	WithoutLog bool
	// Before and after are the patterns of the entries that are asked of the change.
	Before, After []string
	// Work are the commits that do the change's work: those that touch a file that
	// counts and is no document, but for merges.
	Work []WorkCommit
	// untried, in an audit, are the patterns that nothing met here or later.
	Pending []string
}

// UnknownLane is a name that is no lane's: of the trailer of a commit, or of a
// label.
type UnknownLane struct{ Name, Commit string }

// Claimed reports whether anybody claims a lane for the change.
func (s *LaneChange) Claimed() bool { return s.Claim.Made() || len(s.Unknown) > 0 }

// LaneTrail is what a change's commits claim, one after the other.
type LaneClaims struct {
	// At is the claim that holds in each commit, most the strictest one so far.
	ClaimAt, StrictestAt map[string]lane.Claim
	// Unknown are the names that no later claim corrects.
	Unknown []UnknownLane
}
