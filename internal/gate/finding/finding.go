package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// SeverityWaived is remembered of an edit that a waiver excuses. No finding has
// it.
const SeverityWaived Severity = "waived"

// RefOf is the reference to an entry for a finding.
func RefOf(e ledger.Entry) *EntryRef {
	return &EntryRef{Index: e.Index, Line: e.Pos.Line, TaskID: e.TaskID, Timestamp: e.Timestamp, AgentID: e.AgentID, Digest: e.Digest, Switch: e.Switch}
}

// RefsOf are the references to several entries.
func RefsOf(entries []ledger.Entry) []EntryRef {
	out := make([]EntryRef, len(entries))
	for i, e := range entries {
		out[i] = *RefOf(e)
	}
	return out
}

// Severity says whether a finding blocks.
type Severity string

// The severities. Only SeverityError blocks.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Stage names the part of the judgement that a finding comes from.
type Stage string

// The stages. The first three are those of the protocol's own check.
const (
	StageValidate Stage = "validate"
	StageLint     Stage = "lint"
	StageVerify   Stage = "verify"
	StageHistory  Stage = "history"
	StagePolicy   Stage = "policy"
)

// Finding is what a rule says about one place. It is a statement about
// content, never an error of the program.
type Finding struct {
	// Rule is the rule's id, family/name.
	Rule     string
	Severity Severity
	Stage    Stage
	// Message is one sentence in lower case, without a final period. It may
	// hold text of the files: writers escape it for their format.
	Message string
	// Path is slash-separated, from the root of what was examined.
	Path string
	// Line and Column are places in the child's file and begin at 1; Column
	// counts characters. For a deletion they say where the entry would stand.
	Line, Column int
	// Commit is the full object id of the child, empty for the index or a
	// directory. Parent is that of the state it was compared with.
	Commit, Parent string
	// Entry is the parent's entry, or the child's where only it has one.
	Entry *EntryRef
	// EntryAfter is the child's entry where Entry is the parent's.
	EntryAfter *EntryRef
	// Changes lists what differs between Entry and EntryAfter; of an entry that
	// is gone or was put in, every field.
	Changes []ledger.FieldChange
	// MoreChanges is how many further ones there are, too many to list.
	MoreChanges int
	// EditFrom and EditTo identify the edit that the finding speaks of, as a
	// waiver names it: entry digests, or a ledger's head where a whole log is
	// meant; empty on the side that has nothing.
	EditFrom, EditTo string
	// Sides are two branches that both recorded work, the target first, where
	// the finding is about that; else nil.
	Sides []Side
	// Common is what the two have in common, where Sides are set.
	Common Common
	// Fix says what to type or edit next.
	Fix string
	// Reason is the waiver's reason, on a waived finding.
	Reason string

	// Was is the log's path before the edge, where it moved there: a waiver may
	// name either.
	OldPath string
	// Subject tells apart findings of one rule in one file that have no
	// entries: the path of the value inside the document.
	Subject string
	// Edits are the edits that the finding speaks of; a finding all of whose
	// edits are reported already is not reported again.
	Edits []EditKey
	// Whole gives Changes where they are those of a whole entry: only what is
	// listed needs them.
	Whole func() ([]ledger.FieldChange, error)
}

// Side is one branch of a fork.
type Side struct {
	// Name is the branch's, or its commit's abbreviated id.
	Name string
	// Entries are those that the other branch lacks, in their order; of very
	// many the first ones.
	Entries []EntryRef
	// More is how many further ones there are.
	More int
}

// Count is how many entries the other branch lacks.
func (s *Side) Count() int { return len(s.Entries) + s.More }

// Common are the entries that two branches have in common.
type Common struct {
	// Count is how many there are.
	Count int
	// Last are the last few of them, in the order of the target.
	Last []EntryRef
}

// mostCommon is how many of the entries in common a finding names.
const mostCommon = 3

// CommonOf is a ledger without one branch's own entries.
func CommonOf(l *ledger.Ledger, own []ledger.Entry) Common {
	mine := map[int]bool{}
	for _, e := range own {
		mine[e.Index] = true
	}
	c := Common{Count: l.Len() - len(mine)}
	for i := l.Len() - 1; i >= 0 && len(c.Last) < mostCommon; i-- {
		if !mine[i] {
			c.Last = append(c.Last, *RefOf(l.Entries[i]))
		}
	}
	slices.Reverse(c.Last)
	return c
}

// EntryRef points at one entry of a ledger.
type EntryRef struct {
	// Index counts from 0.
	Index int
	// Line in the file that holds the entry.
	Line              int
	TaskID, Timestamp string
	// AgentID is who the entry says did the work; empty where it does not say.
	AgentID string
	Digest  small.Digest
	// Switch says that it is no entry of a log but a switch of a job's workflow,
	// which has a time and no task.
	Switch bool
}

// Fingerprint identifies what a finding speaks of across commits, lines and
// runs: it covers the rule, the path and the digests of the entry before and
// after (or the place inside the document), never a line or a commit.
func (f *Finding) Fingerprint() string {
	sum := f.sum()
	return hex.EncodeToString(sum[:])
}

func (f *Finding) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, part := range []string{f.Rule, f.Path, f.EditFrom, f.EditTo, f.Subject} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	h.Sum(sum[:0])
	return sum
}

// SortFindings puts findings in their one order (path, place, entry, rule,
// commit, message) and keeps one of those with equal words: the gravest.
func SortFindings(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.entryIndex(), b.entryIndex()),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Commit, b.Commit),
			cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.Parent, b.Parent),
		)
	})
	type words struct {
		path         string
		line, column int
		rule, commit string
		message      string
	}
	seen := make(map[words]int, len(findings))
	out := findings[:0]
	for _, f := range findings {
		w := words{f.Path, f.Line, f.Column, f.Rule, f.Commit, f.Message}
		at, known := seen[w]
		switch {
		case !known:
			seen[w] = len(out)
			out = append(out, f)
		case f.Severity == SeverityError && out[at].Severity != SeverityError:
			out[at] = f
		}
	}
	clear(findings[len(out):])
	return out
}

// entryIndex is the place of the finding's entry in its log; -1 if it has none.
func (f *Finding) entryIndex() int {
	if f.Entry == nil {
		return -1
	}
	return f.Entry.Index
}

// OfProblem makes a finding of what was wrong with a file.
func OfProblem(path string, p small.Problem) Finding {
	return Finding{
		Path: path, Line: p.Pos.Line, Column: p.Pos.Column,
		Message: p.Message, Fix: p.Hint, Subject: p.Subject,
	}
}

// Unreadable is the key under which a log that cannot be read is reported
// once: at the commit that brought it, and not again at the tip.
func Unreadable(path, object string, p small.Problem) []EditKey {
	return []EditKey{{Path: path, To: object + " " + string(p.Kind)}}
}
