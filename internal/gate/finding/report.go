package finding

import (
	"cmp"
	"slices"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Verdict is the outcome of a judgement.
type Verdict string

// The three outcomes.
const (
	// Pass: nothing is wrong.
	Pass Verdict = "pass"
	// Fail: at least one finding of severity error, or any where the options
	// say that a warning is enough.
	Fail Verdict = "fail"
	// Error: it could not be judged.
	Error Verdict = "error"
)

// Report is findings plus what was examined, so that "nothing found" can be
// told from "nothing looked at".
type Report struct {
	// Mode is the command's name.
	Mode    string
	Strict  bool
	Verdict Verdict
	Observe bool
	// NoWorkspace is true for a range whose head has no workspace at all:
	// there is nothing to say to somebody who does not use the protocol.
	NoWorkspace bool
	Examined    Examined
	Ledgers     []LedgerState
	// Findings are sorted and without duplicates.
	Findings []Finding
	// Waived are findings that a waiver of the policy excuses.
	Waived []Finding
	// More counts the findings that are not listed, of a kind of which there are
	// too many to keep.
	More Counts
	// Lane is what is known of the change's lane; nil where none was claimed.
	Lane *LaneReport
	// CrossContracts are the contract files that a campaign's children name of other
	// children's repositories, in the records that were judged; of very many the
	// first ones.
	CrossContracts []lane.CrossContract
	// Failure is set when Verdict is Error.
	Failure *failure.Error
}

// Examined says what was looked at.
type Examined struct {
	Commits, Workspaces int
	// Workflows counts workflow files, and records of jobs and campaigns.
	Workflows int
	// Base and Head are full object ids where the command compares two.
	Base, Head string
	// Merge is the full object id of the merge of head into base whose
	// snapshot was judged too; empty where there was none.
	Merge string
	// Policy says where the configuration came from.
	Policy string
	// Reader names what read the repository; empty outside one.
	Reader string
	// Source says, for a push and in CI, where the refs came from: standard
	// input, a hook manager's variables, a guess, or a CI system's event.
	Source string
	// Notes say what else a reader has to know, such as replace refs that git
	// follows and this judgement does not.
	Notes []string
}

// LedgerState is the length and head of one ledger at the tip.
type LedgerState struct {
	Path    string
	Entries int
	Head    small.Digest
	// Log is what a drawing of the ledger needs of each entry, in order; nil
	// for a ledger that is not the tip's.
	Log []LogEntry
}

// LogEntry is one entry of a ledger, as a drawing shows it.
type LogEntry struct {
	// Line is where the entry begins in the file, from 1.
	Line int
	// TaskID, Timestamp and ReplayID are the fields of these names where they
	// are strings, else empty.
	TaskID, Timestamp, ReplayID string
}

// LogEntries takes from a ledger what a drawing needs.
func LogEntries(l *ledger.Ledger) []LogEntry {
	out := make([]LogEntry, l.Len())
	for i, e := range l.Entries {
		out[i] = LogEntry{Line: e.Pos.Line, TaskID: e.TaskID, Timestamp: e.Timestamp, ReplayID: e.ReplayID}
	}
	return out
}

// mostContracts is how many contract files a report lists.
const mostContracts = 1000

// AddContracts lists contract files, in order and each once.
func (r *Report) AddContracts(more []lane.CrossContract) {
	if len(more) == 0 {
		return
	}
	all := slices.Concat(r.CrossContracts, more)
	slices.SortFunc(all, func(a, b lane.CrossContract) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Child, b.Child),
			cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.File, b.File), cmp.Compare(a.Of, b.Of))
	})
	all = slices.Compact(all)
	r.CrossContracts = all[:min(len(all), mostContracts)]
}

// Counts are numbers of findings.
type Counts struct{ Errors, Warnings, Waived int }

// Count adds up the findings, listed or not.
func (r *Report) Count() Counts {
	c := r.More
	c.Waived += len(r.Waived)
	for _, f := range r.Findings {
		if f.Severity == SeverityError {
			c.Errors++
		} else {
			c.Warnings++
		}
	}
	return c
}

// ExitStatus is the process's exit status: 0 nothing wrong, 1 findings, 2
// could not judge. Observe turns 1 into 0 and nothing else.
func (r *Report) ExitStatus() int {
	switch r.Verdict {
	case Pass:
		return 0
	case Fail:
		if r.Observe {
			return 0
		}
		return 1
	}
	return 2
}

// LaneReport is what is known of a change's lane.
type LaneReport struct {
	// Claim is who claims which lane; the zero Claim for nobody.
	Claim lane.Claim
	// Signals are what the change shows, and Fits is the lane with the least rigour
	// that allows them all.
	Signals []lane.Signal
	Fits    lane.Lane
	// Change says in words what was looked at, Policy where the configuration came
	// from, and Reader what read the repository: where only the lane was asked for.
	Change, Policy, Reader string
}
