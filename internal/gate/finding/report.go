package finding

import (
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// Verdict is the outcome of a judgement.
type Verdict string

// The three outcomes.
const (
	// Pass: nothing is wrong.
	Pass Verdict = "pass"
	// Fail: at least one finding of severity error, or any if the options say that a warning is enough.
	Fail Verdict = "fail"
	// Error: it could not be judged.
	Error Verdict = "error"
)

// Report holds findings and what was examined, so that "nothing found" differs from "nothing looked at".
type Report struct {
	// Tool is the program that made the report, and Time when. The program sets both before it writes the report.
	Tool string
	Time time.Time
	// Mode is the command's name.
	Mode    string
	Strict  bool
	Verdict Verdict
	Observe bool
	// NoWorkspace is true for a range whose head has no workspace: its author does not use the protocol.
	NoWorkspace bool
	Examined    Examined
	// Uncommitted counts the entries of a work tree's logs that its parents lack.
	Uncommitted int
	// Hidden are logs that git leaves out of commits. The notes name them too. A hook names them even if nothing is wrong.
	Hidden  []HiddenLog
	Ledgers []LedgerState
	// Findings are sorted and unique.
	Findings []Finding
	// Waived are findings that a waiver allows.
	Waived []Finding
	// Unlisted is the number of notes that WithoutNotes has left out.
	Unlisted int
	// More counts findings that are not listed, because there are too many of their kind.
	More Counts
	// Commits are those that findings name, in the order of the findings; if there are very many, the first ones.
	Commits []Commit
	// Lane is nil if no lane was claimed.
	Lane *LaneReport
	// Failure is set if Verdict is Error.
	Failure *failure.Error
}

// Examined says what was looked at.
type Examined struct {
	Commits, Workspaces int
	// Logs counts the configured logs that a change touches, or else those of the tip. A folder of files is one log.
	Logs int
	// Workflows counts workflow files, and records of jobs and campaigns.
	Workflows int
	// Base and Head are full object ids if the command compares two.
	Base, Head string
	// Merge is the full object id of a merge of head into base that was judged too.
	Merge string
	// Repository is the address of origin, such as github.com/acme/widgets; without an origin, the full name that a CI
	// system gives, or else the directory's name. Branch is the branch that is judged, without refs/heads/. Each is empty if it is not known.
	Repository, Branch string
	// CommitLink is the address of a commit's page up to the id, which is appended; empty unless a CI system gives it.
	CommitLink string
	// Policy says where the configuration came from.
	Policy string
	// Floor says where the floor came from; empty without one.
	Floor string
	// Reader names what read the repository; empty outside one.
	Reader string
	// Source says for a push, and in CI, where the refs came from: standard input, a hook manager's variables, a
	// guess, or a CI system's event.
	Source string
	// Notes say what else a reader has to know, such as replace refs that are ignored.
	Notes []string
}

// Commit is what people know a commit by. Its texts are whatever its author wrote.
type Commit struct {
	// ID is the full object id.
	ID string
	// Author is its author's name, Subject the first line of its message, each shortened.
	Author, Subject string
	// Date is the author's date in RFC 3339; empty if the commit has none.
	Date string
}

// LedgerState is the length and head of one ledger at the tip.
type LedgerState struct {
	Path    string
	Entries int
	// Open counts the entries that are not finished, and therefore are not among Entries.
	Open int
	// Opened are the open entries that the change adds.
	Opened []OpenEntry
	Head   small.Digest
	// Unmigrated is the number of timestamps without fractional seconds or a zone. Only gate.Ledgers counts them.
	Unmigrated int
	// Log are the entries for a drawing of the ledger, in order; nil for a ledger that is not the tip's.
	Log []LogEntry
}

// OpenEntry is an entry that is not finished.
type OpenEntry struct {
	// Path is the file's, Line where the entry begins, from 1.
	Path string
	Line int
	// Text is the beginning of the entry's first line.
	Text string
}

// LogEntry is one entry of a ledger, as a drawing shows it.
type LogEntry struct {
	// Line is where the entry begins, from 1.
	Line                        int
	TaskID, Timestamp, ReplayID string
	// Evidence is the entry's evidence, shortened; empty if the entry has none, and in reports that do not show it.
	Evidence string
	// Branch names the merged branch that brought the entry; empty for the first-parent line, and if it is not known.
	Branch string
	// Reconciles is true for an entry that says that branches were merged.
	Reconciles bool
}

// LogEntries lists a ledger's entries for a drawing, without the evidence. branchOf names the branch that brought an entry.
func LogEntries(l *ledger.Ledger, branchOf func(small.Digest) string) []LogEntry {
	out := make([]LogEntry, l.Len())
	for i, e := range l.Entries {
		out[i] = LogEntry{Line: e.Pos.Line, TaskID: e.TaskID, Timestamp: e.Timestamp, ReplayID: e.ReplayID, Branch: branchOf(e.Digest), Reconciles: e.Reconciles}
	}
	return out
}

// Counts are numbers of findings.
type Counts struct{ Errors, Warnings, Waived, Notes int }

// Count adds up the findings, listed or not.
func (r *Report) Count() Counts {
	c := r.More
	c.Waived += len(r.Waived)
	c.Notes += r.Unlisted
	for _, f := range r.Findings {
		c.add(f.Severity)
	}
	return c
}

// WithoutNotes returns the report for a reader who has not asked for notes: they are counted and not listed.
func (r *Report) WithoutNotes() *Report {
	isNote := func(f Finding) bool { return f.Severity == SeverityNote }
	if !slices.ContainsFunc(r.Findings, isNote) {
		return r
	}
	out := *r
	out.Findings = slices.DeleteFunc(slices.Clone(r.Findings), isNote)
	out.Unlisted += len(r.Findings) - len(out.Findings)
	return &out
}

// ExitStatus returns 0 for nothing wrong, 1 for findings, 2 for could not judge. Observe turns 1 into 0, and changes nothing
// else.
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

// LaneReport is what is known about a change's lane.
type LaneReport struct {
	// Claim says who claims which lane; the zero Claim if nobody does.
	Claim lane.Claim
	// Signals are those that the change has, and Fits is the least strict lane that allows them all.
	Signals []lane.Signal
	Fits    lane.Lane
	// Change describes what was looked at, Policy says where the configuration came from, and Reader what read the
	// repository, if only the lane was asked for.
	Change, Policy, Reader string
}
