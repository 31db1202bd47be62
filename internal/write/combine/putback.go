package combine

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// PutBack is the result of putting the entries of an old log back into a file.
type PutBack struct {
	// Text is the file's new text; nil if there is nothing to put back.
	Text []byte
	// Lost are the old entries that the file lacks or has changed. Entries that were only moved are not in it.
	Lost []ledger.Entry
	// Unreadable says why the file could not be read as a log; it then counts as empty. It is "" if it could be read, or there is no file.
	Unreadable string
	// New is the number of new entries in the text, and Masked is how many of them had a credential masked. RetimedNew has the original form of
	// new entries that got another time.
	New, Masked int
	RetimedNew  []ledger.Entry
	// Changed are the file's changed versions of old entries. Unplaceable are its entries that cannot be written after the old ones. The text has none of
	// both.
	Changed, Unplaceable []ledger.Entry
	// Alike are new entries at the end of a configured log that look like changed versions of lost ones.
	Alike []ledger.Entry
	// Doubled are the file's entries that are left out because an equal one is there.
	Doubled []ledger.Entry
	// Gone are the lost entries of which the file has no changed version.
	Gone []ledger.Entry
	// Elsewhere are the file's new entries that are left out as the caller wants.
	Elsewhere []ledger.Entry
}

// PutBack puts back the entries of an old log that a file in its place changed, lost or moved. The file's new entries stay after the old
// ones, in their order, if they are valid and not changed versions of lost ones. A new entry gets another time, just after the entry before
// it, only if it is not later, or so far ahead of now that no later entry could be valid. Credentials in new entries are masked. A nil file
// means that the log is gone. accepts reports whether a step from one log to another is allowed, leftOut whether a new entry is left out; it may be
// nil.
//
// Entries of a configured log have no times: a file's entry counts as a changed version of a lost one only if a kept entry follows. Entries after the
// last kept one are new, and stay.
func (k Kind) PutBack(old, file []byte, accepts func(parent, child *ledger.Ledger) bool, leftOut func(ledger.Entry) bool, now time.Time, limits small.Limits) (PutBack, error) {
	if leftOut == nil {
		leftOut = func(ledger.Entry) bool { return false }
	}
	if k.Configured() {
		return k.putBackConfigured(old, file, accepts, leftOut, limits)
	}
	var out PutBack
	before, problems := ledger.ReadLog(old, limits)
	if before == nil {
		return out, fmt.Errorf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	}
	var values []*small.Value
	fileLedger := ledger.NewLedger(nil)
	if file != nil {
		doc, problems := small.Parse(removeMarkers(file), limits)
		if doc != nil {
			var found *ledger.Ledger
			if found, problems = ledger.LedgerOf(doc); found != nil {
				fileLedger, values = found, doc.Root.Get("entries").Items
			}
		}
		if values == nil && len(problems) > 0 {
			out.Unreadable = fmt.Sprintf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
		}
	}
	if file != nil && out.Unreadable == "" && accepts(before.Ledger, fileLedger) && bytes.Equal(file, removeMarkers(file)) {
		return out, nil
	}
	oldDoc, _ := small.Parse(old, limits)
	fresh, err := out.sortEntries(before.Ledger, oldDoc.Root.Get("entries").Items, fileLedger, values, leftOut, limits)
	if err != nil {
		return out, err
	}
	out.Text, err = appendItems(old, limits, func(_ *ledger.Ledger, column int, end string) [][]byte {
		return out.writeNewEntries(before.Ledger, fresh, column, end, now)
	})
	if err == nil {
		return out, nil
	}
	// Nothing can be appended to the old log: the result is that log alone.
	out.Text, out.New, out.RetimedNew, out.Masked = old, 0, nil, 0
	for _, it := range fresh {
		out.Unplaceable = append(out.Unplaceable, it.Entry)
	}
	return out, nil
}

// removeMarkers removes git's conflict markers, and the merge base's lines between them: both sides' lines remain.
func removeMarkers(file []byte) []byte {
	out := make([]byte, 0, len(file)) // not nil, even if the file is empty
	base, inside := false, false
	for line := range bytes.Lines(file) {
		marker := small.ConflictMarker(line, small.MarkerSize)
		switch {
		case marker == '<':
			inside = true
		case inside && marker == '|':
			base = true
		case inside && marker == '=':
			base = false
		case inside && marker == '>':
			inside, base = false, false
		case !base:
			out = append(out, line...)
		}
	}
	return out
}

// sortEntries sets which old entries are lost and which of the file's entries are left out, and returns the file's new entries.
func (p *PutBack) sortEntries(before *ledger.Ledger, old []*small.Value, fileLedger *ledger.Ledger, values []*small.Value, leftOut func(ledger.Entry) bool, limits small.Limits) ([]item, error) {
	known, kept := ledger.DigestSet(before), ledger.DigestSet(fileLedger)
	for _, e := range before.Entries {
		if !kept[e.Digest] {
			p.Lost = append(p.Lost, e)
		}
	}
	versions, err := pairVersions(before, old, fileLedger, values)
	if err != nil {
		return nil, err
	}
	var fresh []item
	changed := map[int]bool{}
	for i, e := range fileLedger.Entries {
		of, isVersion := versions[i]
		switch {
		case known[e.Digest]:
		case leftOut(e):
			p.Elsewhere = append(p.Elsewhere, e)
		case isVersion:
			p.Changed = append(p.Changed, e)
			changed[of] = true
		case !isValidAlone(ledger.Masked(values[i]), limits):
			p.Unplaceable = append(p.Unplaceable, e)
		default:
			known[e.Digest] = true
			fresh = append(fresh, item{Entry: e, value: ledger.Masked(values[i])})
			if ledger.HasCredential(e) {
				p.Masked++
			}
		}
	}
	for i, e := range before.Entries {
		if !kept[e.Digest] && !changed[i] {
			p.Gone = append(p.Gone, e)
		}
	}
	return fresh, nil
}

// pairVersions returns the index of the old entry for each entry of a file that is a changed version of it. It takes the pairs that
// [ledger.Compare] finds by their places, then those with the same task and time in any place. Only sure pairs count, since a wrong pair would
// drop a new entry. Credentials are masked before comparing, since only one version may have them masked.
func pairVersions(before *ledger.Ledger, old []*small.Value, fileLedger *ledger.Ledger, values []*small.Value) (map[int]int, error) {
	masked := func(all []*small.Value) []*small.Value {
		out := make([]*small.Value, len(all))
		for i := range all {
			out[i] = ledger.Masked(all[i])
		}
		return out
	}
	was, now := masked(old), masked(values)
	found, err := ledger.Compare(before, fileLedger, ledger.CompareOptions{
		OldRecords: func() ([]*small.Value, error) { return was, nil }, NewRecords: func() ([]*small.Value, error) { return now, nil },
		MayPair: func(lost, added *ledger.Entry) bool { return ledger.SurelySameEntry(was[lost.Index], now[added.Index]) },
	})
	if err != nil {
		return nil, err
	}
	out := map[int]int{}
	for _, edit := range found.Edits {
		if edit.OldIndex >= 0 && edit.NewIndex >= 0 && edit.Kind != ledger.EditReordered {
			out[edit.NewIndex] = edit.OldIndex
		}
	}
	type event struct{ task, time string }
	lost := map[event]int{}
	for _, edit := range found.OfKind(ledger.EditDeleted) {
		if e := before.Entries[edit.OldIndex]; e.Timestamp != "" {
			lost[event{e.TaskID, e.Timestamp}] = edit.OldIndex
		}
	}
	known := ledger.DigestSet(before)
	for i, e := range fileLedger.Entries {
		at := event{e.TaskID, e.Timestamp}
		if old, is := lost[at]; is && !known[e.Digest] {
			if _, paired := out[i]; !paired {
				out[i] = old
				delete(lost, at)
			}
		}
	}
	return out, nil
}

// Empty is a log without entries. Header is a log's text before its entries.
const (
	Empty  = "small_version: \"1.0.0\"\nowner: \"agent\"\nentries: []\n"
	Header = "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n"
)

// isValidAlone reports whether an entry would be valid as the only one in a log, and can be written unchanged. Its time does not matter.
func isValidAlone(v *small.Value, limits small.Limits) bool {
	v = withTime(v, "2026-01-01T00:00:00.0Z")
	doc, _ := small.Parse([]byte(Header+string(itemText(v, 3, "\n"))), limits)
	if doc == nil || len(schema.CheckArtifact(small.Progress, doc)) > 0 {
		return false
	}
	items := doc.Root.Get("entries").Items
	return len(items) == 1 && ledger.Evidenced(items[0]) && small.EntryDigest(items[0]) == small.EntryDigest(v)
}

// AddsCredential reports whether after has a credential in an entry that before lacks.
func AddsCredential(before, after *ledger.Ledger) bool {
	known := ledger.DigestSet(before)
	return slices.ContainsFunc(after.Entries, func(e ledger.Entry) bool { return ledger.HasCredential(e) && !known[e.Digest] })
}

// writeNewEntries returns the texts of new entries, with later times where needed.
func (p *PutBack) writeNewEntries(before *ledger.Ledger, fresh []item, column int, end string, now time.Time) [][]byte {
	last := latestTime(before)
	var out [][]byte
	for _, it := range fresh {
		text, _ := it.value.Get("timestamp").Trimmed()
		at, own := timeAfterLast(text, last, now)
		if !own {
			it.value = withTime(it.value, at.UTC().Format(TimestampForm))
			p.RetimedNew = append(p.RetimedNew, it.Entry)
		}
		last = at
		out = append(out, itemText(it.value, column, end))
	}
	p.New = len(out)
	return out
}

// itemText writes an entry anew, as an item whose dash is at a column.
func itemText(v *small.Value, column int, end string) []byte {
	var out strings.Builder
	lead := strings.Repeat(" ", column-1) + "- "
	if len(v.Fields) == 0 {
		return []byte(lead + flowText(v) + end)
	}
	for _, f := range v.Fields {
		out.WriteString(lead + keyText(f) + ": " + flowText(f.Value) + end)
		lead = strings.Repeat(" ", column+1)
	}
	return []byte(out.String())
}

func keyText(f small.Field) string {
	if f.HasStringKey() && !plainKey().MatchString(f.Key) {
		return strconv.Quote(f.Key)
	}
	return f.Key
}

// plainKey matches keys that YAML reads as strings without quotes: true, null and the like are shorter.
var plainKey = expression.Of(`^([a-z][a-zA-Z0-9_]{5,}|link|test|notes)$`)

// flowText writes a value on one line. YAML reads Go's escapes in double quotes as Go does.
func flowText(v *small.Value) string {
	var parts []string
	switch v.Kind {
	case small.String:
		return strconv.Quote(v.Text)
	case small.List:
		for _, item := range v.Items {
			parts = append(parts, flowText(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case small.Map:
		for _, f := range v.Fields {
			parts = append(parts, keyText(f)+": "+flowText(f.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case small.Null:
		return "null"
	}
	return v.Text
}
