package ledger

import (
	"cmp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Duplicate is an entry of ours and one of theirs that differ only in their timestamps. Text is the MainText of both.
type Duplicate struct {
	Ours, Theirs Entry
	Text         string
}

// MainText returns the text that says most about an entry: its evidence or, without one, another field that people read; or else all fields but the
// mode, which a file has. It is one line of any length, with credentials masked.
func MainText(v *small.Value) string {
	texts, all := map[string]string{}, ""
	if payload := v.Get("payload"); payload != nil && payload.Kind == small.Map { // an event's
		v = payload
	}
	for _, f := range FieldChanges(nil, v) {
		name, _, _ := strings.Cut(f.Field, ".")
		texts[name] = strings.Join(strings.Fields(texts[name]+" "+f.To), " ")
		if name != "mode" {
			all += " " + f.To
		}
	}
	return cmp.Or(texts["evidence"], texts["verification"], texts["test"], texts["command_summary"], texts["command"], texts["notes"], texts["link"], texts["commit"],
		texts["summary"], texts["title"], texts["reason"], strings.Join(strings.Fields(all), " "))
}

// Duplicates pairs entries of ours with entries of theirs that differ only in their timestamps. Neither side may have entries of the other:
// see [OwnEntries]. Bookkeeping entries are left out. The records are read only if some entries may be equal.
func Duplicates(ours, theirs []Entry, ourRecords, theirRecords RecordsFunc) ([]Duplicate, error) {
	sums := map[uint64]bool{}
	for _, e := range ours {
		sums[e.Sum] = !strings.HasPrefix(e.TaskID, MetaPrefix)
	}
	mayBeEqual := func(e Entry) bool { return sums[e.Sum] }
	if !slices.ContainsFunc(theirs, mayBeEqual) {
		return nil, nil // as usual: no record has to be read
	}
	old, err := ourRecords()
	if err != nil {
		return nil, err
	}
	records, err := theirRecords()
	if err != nil {
		return nil, err
	}
	content, same := digestWithout("timestamp"), map[string][]Entry{}
	for _, e := range ours {
		if mayBeEqual(e) {
			key := content(old[e.Index])
			same[key] = append(same[key], e)
		}
	}
	var out []Duplicate
	for _, e := range theirs {
		if !mayBeEqual(e) {
			continue
		}
		key := content(records[e.Index])
		if twins := same[key]; len(twins) > 0 {
			out, same[key] = append(out, Duplicate{twins[0], e, MainText(records[e.Index])}), twins[1:]
		}
	}
	return out, nil
}

// OwnEntries lists the entries that only one of two ledgers has. Both lists are empty if one ledger continues the other.
func OwnEntries(ours, theirs *Ledger) (own, others []Entry) {
	common := Common(ours, theirs)
	a, b := ours.Entries[common:], theirs.Entries[common:]
	if len(a) == 0 || len(b) == 0 {
		return nil, nil
	}
	return NotIn(a, &Ledger{Entries: b}), NotIn(b, &Ledger{Entries: a})
}
