package combine

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Kind says how to read a log's entries from its text, and how to write them. The zero Kind is for the protocol's own log. The others are for
// logs of the configuration: their entries have no times, and no reconcile entry makes a resolution explicit.
type Kind struct {
	stanza *policy.Log
	isJSON bool
	// unique is true if the configuration rejects an entry that is added although an equal one is there.
	unique bool
}

// KindOf returns the kind of the log at a path.
func KindOf(p *policy.Policy, path string) Kind {
	if p == nil {
		return Kind{}
	}
	k := Kind{stanza: p.LogFor(path), isJSON: strings.HasSuffix(path, ".json")}
	k.unique = k.Configured() && p.RejectsDuplicates(k.stanza)
	return k
}

// Doubles lists the new entries of child that must not be added, since an equal one is there: see [ledger.AddedCopies].
func (k Kind) Doubles(parents []*ledger.Ledger, child *ledger.Ledger) []ledger.Entry {
	if !k.unique {
		return nil
	}
	doubled, _ := ledger.AddedCopies(parents, child)
	return doubled
}

// Configured reports whether this is the kind of a log of the configuration.
func (k Kind) Configured() bool { return k.stanza != nil }

// OfLines reports whether each line is an entry.
func (k Kind) OfLines() bool { return k.Configured() && k.stanza.Entries == policy.LineEntries }

// OfText reports whether lines, or runs of lines, are entries.
func (k Kind) OfText() bool {
	return k.Configured() && (k.stanza.Entries == policy.LineEntries || k.stanza.Entries == policy.BlockEntries)
}

// OfFile reports whether the file itself is the only entry.
func (k Kind) OfFile() bool { return k.Configured() && k.stanza.Entries == policy.FileEntries }

// Read reads a log; the result is nil exactly if there are problems. nil data means no log.
func (k Kind) Read(data []byte, limits small.Limits) (*ledger.Log, []small.Problem) {
	switch {
	case !k.Configured():
		return ledger.ReadLog(data, limits)
	case data == nil:
		return nil, []small.Problem{{Message: "there is no such file"}}
	case k.OfFile():
		return k.stanza.Form().LogOfFile("", "", string(data), data), nil
	case k.OfText():
		return k.stanza.Form().Read(data)
	}
	items, problems := small.ParseItems(data, k.isJSON, k.stanza.At, limits)
	if problems != nil {
		return nil, problems
	}
	return k.stanza.Form().LogOfItems(items), nil
}

// Entries reads the entries of a log; none if it cannot be read.
func (k Kind) Entries(data []byte, limits small.Limits) *ledger.Ledger {
	if log, _ := k.Read(data, limits); log != nil {
		return log.Ledger
	}
	return ledger.NewLedger(nil)
}

// readValues returns the full entries of a readable log.
func (k Kind) readValues(data []byte, limits small.Limits) []*small.Value {
	if k.OfText() {
		return k.stanza.Form().Values(data)
	}
	items, _ := small.ParseItems(data, k.isJSON, k.stanza.At, limits)
	items, _ = k.stanza.Form().FinishedItems(items)
	return items
}

// putBackConfigured is PutBack for a configured log.
func (k Kind) putBackConfigured(old, file []byte, accepts func(parent, child *ledger.Ledger) bool, leftOut func(ledger.Entry) bool, limits small.Limits) (PutBack, error) {
	var out PutBack
	oldLog, problems := k.Read(old, limits)
	if oldLog == nil {
		return out, fmt.Errorf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	}
	fileLog := &ledger.Log{Ledger: ledger.NewLedger(nil)}
	given := file
	if file != nil && k.OfText() {
		file = splitGluedLine(old, file, k.stanza.Form().Start)
	}
	if file != nil {
		text := file
		if !small.HasConflictMarkers(old, small.MarkerSize) {
			text = removeMarkers(file)
		}
		if log, problems := k.Read(text, limits); log == nil {
			out.Unreadable = fmt.Sprintf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
		} else if fileLog = log; accepts(oldLog.Ledger, fileLog.Ledger) && len(text) == len(given) {
			return out, nil
		}
		file = text
	}
	out.Lost, out.Text = ledger.Only(oldLog.Ledger, fileLog.Ledger, ledger.Equivalence{}), old
	out.Gone = out.Lost
	if k.OfFile() {
		return out, nil
	}
	fresh, err := k.findNew(&out, oldLog, fileLog, old, file, leftOut, limits)
	for _, e := range k.Doubles([]*ledger.Ledger{oldLog.Ledger}, fileLog.Ledger) {
		if at := slices.Index(fresh, e.Index); at >= 0 {
			fresh, out.Doubled = slices.Delete(fresh, at, at+1), append(out.Doubled, e)
		}
	}
	if err != nil || len(fresh) == 0 && fileLog.Open == 0 {
		return out, err
	}
	if text := k.appendNew(oldLog, fileLog, out.Lost, old, file, fresh, limits); text != nil {
		out.Text, out.New = text, len(fresh)
	} else {
		out.Unplaceable, out.Alike = ledger.Pick(fileLog.Ledger, fresh), nil
	}
	return out, nil
}

// splitGluedLine inserts a line end after the old log's last line if that had none, and text was appended to it in the file. If the file does not
// begin with the old log, it takes the first line that begins with the last one and that the old log lacks. What was appended must match start, if this
// is not nil: otherwise it changed the last block.
func splitGluedLine(old, file []byte, start *regexp.Regexp) []byte {
	last := old[bytes.LastIndexByte(old, '\n')+1:]
	if isBlank(last) {
		return file
	}
	isGlued := func(at int) bool { return start == nil || start.Match(firstLine(file[at:])) }
	split := func(at int) []byte { return slices.Concat(file[:at], []byte("\n"), file[at:]) }
	if rest, begins := bytes.CutPrefix(file, old); begins {
		if len(firstLine(rest)) == 0 || !isGlued(len(old)) {
			return file
		}
		return split(len(old))
	}
	known := map[string]bool{}
	for line := range bytes.Lines(old) {
		known[string(trimLineEnd(line))] = true
	}
	at, glued := 0, -1
	for line := range bytes.Lines(file) {
		switch text := trimLineEnd(line); {
		case bytes.Equal(text, last):
			return file // the line is there as it was
		case glued < 0 && bytes.HasPrefix(text, last) && !known[string(text)] && isGlued(at+len(last)):
			glued = at + len(last)
		}
		at += len(line)
	}
	if glued < 0 {
		return file
	}
	return split(glued)
}

// findNew returns the indexes of a file's new entries, and sets in out which of its entries are left out, and which are changed versions of old ones.
// After the last kept entry a changed version cannot be told from a deletion and a new entry: it counts as new there, so that nothing is lost.
func (k Kind) findNew(out *PutBack, oldLog, fileLog *ledger.Log, old, file []byte, leftOut func(ledger.Entry) bool, limits small.Limits) (fresh []int, err error) {
	left := map[small.Digest]int{}
	for _, e := range oldLog.Entries {
		left[e.Digest]++
	}
	last := -1
	for i, e := range fileLog.Entries {
		switch left[e.Digest]--; {
		case left[e.Digest] >= 0:
			last = i
		case leftOut(e):
			out.Elsewhere = append(out.Elsewhere, e)
		default:
			fresh = append(fresh, i)
		}
	}
	if len(fresh) == 0 || len(out.Lost) == 0 {
		return fresh, nil
	}
	compared, err := ledger.Compare(oldLog.Ledger, fileLog.Ledger, ledger.CompareOptions{
		OldRecords: func() ([]*small.Value, error) { return k.readValues(old, limits), nil },
		NewRecords: func() ([]*small.Value, error) { return k.readValues(file, limits), nil },
	})
	if err != nil {
		return nil, err
	}
	for _, x := range compared.OfKind(ledger.EditModified) {
		switch at := slices.Index(fresh, x.NewIndex); {
		case at >= 0 && x.NewIndex > last:
			out.Alike = append(out.Alike, fileLog.Entries[x.NewIndex])
		case at >= 0:
			out.Changed = append(out.Changed, fileLog.Entries[x.NewIndex])
			fresh = slices.Delete(fresh, at, at+1)
			out.Gone = slices.DeleteFunc(slices.Clone(out.Gone), func(e ledger.Entry) bool { return e.Index == x.OldIndex })
		}
	}
	return fresh, nil
}

// appendNew returns the old text with the new entries of a file, and with the open entries that chooseOpen returns. It returns nil if their
// texts cannot be converted to the old text's form.
func (k Kind) appendNew(oldLog, fileLog *ledger.Log, lost []ledger.Entry, old, file []byte, fresh []int, limits small.Limits) []byte {
	oldLayout, err := k.takeApart(old, oldLog, limits)
	if err != nil {
		return nil
	}
	fileLayout, err := k.takeApart(file, fileLog, limits)
	if err != nil {
		return nil
	}
	var texts, open [][]byte
	add := func(to *[][]byte, source *layout, text []byte) bool {
		carried := oldLayout.convert(source, text)
		*to = append(*to, carried)
		return carried != nil
	}
	for _, text := range oldLayout.entries {
		add(&texts, oldLayout, text)
	}
	for _, at := range fresh {
		if !add(&texts, fileLayout, bytes.TrimPrefix(fileLayout.entries[at], oldLayout.tail)) {
			return nil
		}
	}
	drafts, source := k.chooseOpen(oldLayout, fileLayout, lost)
	for _, text := range drafts {
		if !add(&open, source, text) {
			return nil
		}
	}
	text := oldLayout.joinEntries(texts, open)
	after, _ := k.Read(text, limits)
	if after == nil || after.Len() < oldLog.Len()+len(fresh) || !after.Extends(oldLog.Ledger) {
		return nil
	}
	for i, at := range fresh {
		if got, e := after.Entries[oldLog.Len()+i], fileLog.Entries[at]; got.Digest != e.Digest || got.Whole != e.Whole {
			return nil // an alias in it means something else in the old text
		}
	}
	return text
}

// chooseOpen returns the open entries for an old log that is put back. They are the file's open entries, since these may change, without changed
// versions of lost entries. If none remain, and the newest entry is always open, they are the old log's open entries. from is the layout that has them.
func (k Kind) chooseOpen(old, file *layout, lost []ledger.Entry) (open [][]byte, from *layout) {
	open = slices.Clone(file.open)
	drop := func(which func(draft []byte) bool) bool {
		at := slices.IndexFunc(open, func(draft []byte) bool {
			return which(draft) && !slices.ContainsFunc(old.open, func(was []byte) bool { return bytes.Equal(was, draft) })
		})
		if at >= 0 {
			open = slices.Delete(open, at, at+1)
		}
		return at >= 0
	}
	for _, e := range lost {
		if e.Index >= len(old.entries) {
			continue
		}
		text := old.entries[e.Index]
		if !drop(func(draft []byte) bool { return bytes.Equal(firstLine(draft), firstLine(text)) }) {
			drop(func(draft []byte) bool { return ledger.ShareHalf(draft, text) })
		}
	}
	if len(open) == 0 && k.stanza.Form().OpenNewest {
		return old.open, old
	}
	return open, file
}

// Append adds a new entry to a log of lines or blocks: at the end or, in a log with the newest first, before the first entry. All bytes stay,
// except that a last line without a line end gets one. It refuses an entry that the gate would reject as a copy, and one for which the log has no room.
func (k Kind) Append(path string, data []byte, entry string, limits small.Limits) ([]byte, error) {
	if !k.OfText() {
		return nil, &failure.Error{
			Message: wording.Printable(path) + " is no log of lines or blocks",
			Remedy:  "append to it with an editor, under small-hook guard",
		}
	}
	if small.IsLFSPointer(data) {
		return nil, &failure.Error{Message: wording.Printable(path) + ": " + small.LFSPointer.Message, Remedy: small.LFSPointer.Hint}
	}
	form, _ := cutText(data, k.stanza.Form().Start)
	text, err := k.entryText(path, entry, form.end)
	if err != nil {
		return nil, err
	}
	form.newestFirst = k.stanza.Form().NewestFirst
	if form.newestFirst {
		slices.Reverse(form.entries)
	}
	if last := len(form.entries) - 1; last >= 0 {
		form.entries[last] = addLineEnd(form.entries[last], form.end)
	} else if form.header = addLineEnd(form.header, form.end); form.blocks && len(form.header) > 0 && !endsWithBlankLine(form.header) {
		form.header = slices.Concat(form.header, []byte(form.end))
	}
	out := form.joinEntries(append(form.entries, text), nil)
	if err := checkSize(wording.Printable(path)+": no entry can be appended: ", out, limits); err != nil {
		return nil, err
	}
	return out, k.checkUnique(path, data, out)
}

// checkUnique returns an error if the configuration rejects an entry that a log's text has, and the text before does not, because an equal one is there.
func (k Kind) checkUnique(path string, before, after []byte) error {
	if !k.unique || before == nil {
		return nil
	}
	was, _ := k.Read(before, small.Limits{})
	now, _ := k.Read(after, small.Limits{})
	if was == nil || now == nil {
		return nil // the gate reports an unreadable log
	}
	if copies, first := ledger.AddedCopies([]*ledger.Ledger{was.Ledger}, now.Ledger); len(copies) > 0 {
		return &failure.Error{
			Message: fmt.Sprintf("nothing was appended: %s has the same entry already, %s", wording.Printable(path), ledger.Describe(first[0])),
			Remedy:  "give the entry a key of its own",
		}
	}
	return nil
}

// entryText returns the text of a new line or block with the log's line ends. It refuses a text that is not exactly one entry.
func (k Kind) entryText(path, entry, end string) ([]byte, error) {
	if !k.OfLines() {
		entry = strings.TrimRight(strings.ReplaceAll(entry, "\r\n", "\n"), " \t\n")
	}
	if k.OfLines() && (strings.TrimSpace(entry) == "" || strings.ContainsAny(entry, "\r\n")) {
		return nil, &failure.Error{Message: "an entry must be one line that is not blank", Remedy: "give --line a text without line breaks"}
	}
	if start := k.stanza.Form().Start; start != nil {
		for i, line := range strings.Split(entry, "\n") {
			if start.MatchString(line) != (i == 0) {
				return nil, &failure.Error{
					Message: fmt.Sprintf("an entry of %s is one block: its first line, and no other, matches %s; line %d does not fit: %s",
						wording.Printable(path), wording.Quote(start.String()), i+1, wording.Quote(line)),
					Remedy: "append one block at a time, beginning with its first line",
				}
			}
		}
	}
	return []byte(strings.ReplaceAll(entry, "\n", end) + end), nil
}

// BeginsWith reports whether a merged log begins with the target's log, or equals the other side's.
func BeginsWith(target, other, merged *ledger.Ledger) bool {
	return merged.Extends(target) || slices.Equal(ledger.DigestsOf(merged), ledger.DigestsOf(other))
}

// HoldsAll reports whether a configured log has all entries of its parents, in each parent's order, and only then new ones.
func HoldsAll(parents []*ledger.Ledger, child *ledger.Ledger, keeps func(parent, child *ledger.Ledger) bool) bool {
	known := map[small.Digest]bool{}
	for _, p := range parents {
		maps.Copy(known, ledger.DigestSet(p))
		if !keeps(p, child) {
			return false
		}
	}
	isNew := func(e ledger.Entry) bool { return !known[e.Digest] }
	first := slices.IndexFunc(child.Entries, isNew)
	return first < 0 || !slices.ContainsFunc(child.Entries[first:], func(e ledger.Entry) bool { return known[e.Digest] })
}
