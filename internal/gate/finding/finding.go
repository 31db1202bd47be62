// Package finding holds the gate's output: findings, the report that lists them, and the
// limits of that list.
package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// SeverityWaived stands for a waived edit in ReportedEdits and Listing. No finding has it.
const SeverityWaived Severity = "waived"

// RefOf makes a reference to an entry.
func RefOf(e ledger.Entry) *EntryRef {
	return &EntryRef{Index: e.Index, Line: e.Pos.Line, TaskID: e.TaskID, Timestamp: e.Timestamp, AgentID: e.AgentID, Digest: e.WholeDigest(), Compared: e.Digest, Noun: e.Noun}
}

// RefsOf makes references to several entries.
func RefsOf(entries []ledger.Entry) []EntryRef {
	out := make([]EntryRef, len(entries))
	for i, e := range entries {
		out[i] = *RefOf(e)
	}
	return out
}

// Severity says whether a finding blocks.
type Severity string

// The severities. Only SeverityError blocks. A note asks for nothing: people see it only if they ask for it.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// Exceeds reports whether a severity is graver than another one.
func (s Severity) Exceeds(other Severity) bool {
	rising := []Severity{SeverityNote, SeverityWarning, SeverityError}
	return slices.Index(rising, s) > slices.Index(rising, other)
}

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

// Finding is what a rule says about one place in the content. It is never an error of the program.
type Finding struct {
	// Rule is the rule's id, family/name.
	Rule     string
	Severity Severity
	Stage    Stage
	// Message is one sentence in lower case without a period. It may hold text of the files: writers escape it.
	Message string
	// Path is slash-separated, from the root of what was examined.
	Path string
	// Line and Column are a position in the file as of Commit, from 1; Column counts characters. For a deletion they say
	// where the entry would be.
	Line, Column int
	// Commit is the full id of the judged commit; empty for the index or a directory. Parent is the id of the commit that it was
	// compared with.
	Commit, Parent string
	// Entry is the entry in Parent, or the one in Commit if Parent has none.
	Entry *EntryRef
	// EntryAfter is the entry in Commit if Entry is the one in Parent.
	EntryAfter *EntryRef
	// Changes lists the fields that differ between the two; for a lost or inserted entry, every field.
	Changes []ledger.FieldChange
	// MoreChanges is the number of further changes that are not listed.
	MoreChanges int
	// EditFrom and EditTo identify the edit as a waiver does: the digests by which the log compares the entry before and after, or heads for a
	// whole log; empty if there is none.
	EditFrom, EditTo string
	// Sides are two branches that both recorded work, the target first.
	Sides []Side
	// Common is what the two Sides have in common.
	Common Common
	// Fix says what to type or edit next.
	Fix string
	// FixLast is true if the fix accepts the logs as they are. It is listed last: the fix of another finding, typed after it, would undo it.
	FixLast bool
	// FixBeforeMerge is true if two branches have to be mended before they are merged: no merge settles what is wrong.
	FixBeforeMerge bool
	// Reason is the waiver's reason, on a waived finding.
	Reason string

	// OldPath is the log's path before the edge, if it moved: a waiver may name either.
	OldPath string
	// Subject distinguishes findings without entries of one rule in one file, for example by the path of the value in the
	// document.
	Subject string
	// Edits are the edits that the finding is about. If all of them were reported, the finding is not reported again.
	Edits []EditKey
	// Waived is true for an edit that a waiver allows under any rule. The finding is listed as waived only if a waiver covers its own rule.
	Waived bool
	// Moved is true for an entry that was put at another place. A waiver that allows another version of the entry does not allow that.
	Moved bool
	// Whole computes Changes if they cover a whole entry: only listed findings need them.
	Whole func() ([]ledger.FieldChange, error)
}

// Side is one branch of a fork.
type Side struct {
	// Name is the branch's name, or its commit's abbreviated id.
	Name string
	// Entries are the entries that the other branch lacks, in order; at most maxSide.
	Entries []EntryRef
	// More is the number of further entries.
	More int
}

// Count returns the number of entries that the other branch lacks.
func (s *Side) Count() int { return len(s.Entries) + s.More }

// Common are the entries that two branches have in common.
type Common struct {
	// Count is their number.
	Count int
	// Last are the last few of them, in the target's order.
	Last []EntryRef
}

// maxCommon is the number of common entries that a finding names.
const maxCommon = 3

// CommonOf counts a ledger's entries that are not among own, and names the last of them.
func CommonOf(l *ledger.Ledger, own []ledger.Entry) Common {
	mine := map[int]bool{}
	for _, e := range own {
		mine[e.Index] = true
	}
	c := Common{Count: l.Len() - len(mine)}
	for i := l.Len() - 1; i >= 0 && len(c.Last) < maxCommon; i-- {
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
	Index             int
	Line              int
	TaskID, Timestamp string
	// AgentID is the agent that the entry names; empty if it names none.
	AgentID string
	// Digest covers all of the entry; Compared is the digest by which the log compares it.
	Digest, Compared small.Digest
	// Noun is the word for such an entry in messages; empty for an entry of the protocol's log.
	Noun string
}

// Fingerprint identifies a finding across commits, lines and runs: it covers the rule, the path and the digests
// before and after (or the position inside the document), never a line or a commit.
func (f *Finding) Fingerprint() string {
	sum := f.sum()
	return hex.EncodeToString(sum[:])
}

// ShortestFingerprint is the least number of digits of a fingerprint that a person has to give.
const ShortestFingerprint = 8

// ShownFingerprint is the number of digits of a fingerprint that messages show.
const ShownFingerprint = 12

// Complete returns the fingerprint that begins with given; empty if none does. several is true if more than one does.
func Complete(given string, fingerprints []string) (whole string, several bool) {
	for _, f := range fingerprints {
		if strings.HasPrefix(f, given) {
			several = several || whole != "" && whole != f
			whole = f
		}
	}
	return whole, several
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

// SortFindings sorts findings by path, position, entry, rule, commit and message, with those with FixLast at the end. Of findings with the same
// place, rule, commit and message it keeps the most severe.
func SortFindings(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			compareBools(a.FixLast, b.FixLast),
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
		case f.Severity.Exceeds(out[at].Severity):
			out[at] = f
		}
	}
	clear(findings[len(out):])
	return out
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (f *Finding) entryIndex() int {
	if f.Entry == nil {
		return -1
	}
	return f.Entry.Index
}

// OfProblem makes a finding of a problem with a file.
func OfProblem(path string, p small.Problem) Finding {
	return Finding{
		Path: path, Line: p.Pos.Line, Column: p.Pos.Column,
		Message: p.Message, Fix: p.Hint, Subject: p.Subject,
	}
}

// Unreadable returns the key under which an unreadable log is reported once: at its commit, and not again at the tip.
func Unreadable(path, object string, p small.Problem) []EditKey {
	return []EditKey{{Path: path, To: object + " " + string(p.Kind)}}
}
