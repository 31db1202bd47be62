package reconcile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Append appends an entry to the log. The entry gets the replay id of the current
// run, if workspace.small.yml or the handoff has one. Nothing is staged. judge, if not nil, sees the new text before it is written, and
// the line on which the entry begins, from 1; what it returns prevents the writing.
func (w *Workspace) Append(entry Entry, judge func(text []byte, line int) error) error {
	data, err := w.Read()
	if err != nil {
		return err
	}
	path, dir := w.Log(), w.Dir
	if data == nil {
		return &failure.Error{
			Message: "cannot read " + path + ": there is no such file",
			Remedy:  "if it was committed, `small-hook restore` puts it back; `small-hook check` says what the workspace lacks",
		}
	}
	// In this order, as the protocol's program binds its own entries: between its init and its start the handoff names another run.
	if id := cmp.Or(runID(w.Place.Top, small.Workspace.Path(dir), w.Limits, "run", "replay_id"), runID(w.Place.Top, small.Handoff.Path(dir), w.Limits, "replayId", "value")); id != "" {
		entry = append(entry, [2]string{"replayId", id})
	}
	longer, line, err := appended(path, data, entry, w.Now, w.Limits)
	if err == nil && judge != nil {
		err = judge(longer, line)
	}
	if err != nil {
		return err
	}
	return w.write(longer)
}

var replayIDForm = regexp.MustCompile(`^[0-9A-Fa-f]{64}$`)

// runID is the replay id under a key of a file; empty if there is none that could be one: `check` reports that.
func runID(top, path string, limits small.Limits, key, member string) string {
	data, err := readFile(top, path)
	if err != nil {
		return ""
	}
	if doc, _ := small.Parse(data, limits); doc != nil {
		if id, _ := doc.Root.Get(key).Get(member).Str(); replayIDForm.MatchString(id) {
			return id
		}
	}
	return ""
}

// appended is a log with one more entry, and every byte before it as it was, and the line on which the entry begins.
func appended(path string, data []byte, entry Entry, now time.Time, limits small.Limits) ([]byte, int, error) {
	out, err := extended(data, limits, func(before *ledger.Ledger, column int, end string) [][]byte {
		at := [2]string{"timestamp", timeAfter(before, now).Format(timestampForm)}
		return [][]byte{slices.Insert(slices.Clone(entry), 1, at).text(column, end)}
	})
	if err != nil {
		return nil, 0, &failure.Error{
			Message: fmt.Sprintf("%s: no entry can be appended: %v", path, err),
			Remedy:  "`small-hook restore` puts back the log that was committed last, if that is a sound one; `small-hook check` says what is wrong with this one",
		}
	}
	log, problems := ledger.ReadLog(out, limits)
	if log == nil {
		return nil, 0, fmt.Errorf("%s: %s", path, problems[0].Message)
	}
	return out, log.Entries[log.Len()-1].Pos.Line, nil
}

// extended is a log's text with more items after the last one, and every byte before them as it was. An empty list in brackets is
// opened.
func extended(data []byte, limits small.Limits, items func(before *ledger.Ledger, column int, end string) [][]byte) ([]byte, error) {
	doc, problems := small.Parse(data, limits)
	if doc == nil {
		return nil, fmt.Errorf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	}
	before, problems := ledger.LedgerOf(doc)
	if before == nil {
		return nil, errors.New(problems[0].Message)
	}
	parts, err := takeApart(data, doc, true)
	if errors.Is(err, errNoItems) {
		parts, err = opened(data, doc)
	}
	if err != nil {
		return nil, err
	}
	more := items(before, parts.column, parts.end)
	head := ended(slices.Concat(parts.header, join(parts.entries)), parts.end)
	out := slices.Concat(head, join(more), parts.footer)
	after, problems := ledger.ReadLog(out, limits)
	switch {
	case after == nil:
		return nil, errors.New(problems[0].Message)
	case !after.Extends(before) || after.Len() != before.Len()+len(more):
		return nil, errors.New("its last entry would change")
	}
	return out, nil
}

// opened takes a log apart whose list is empty and in brackets: without these, items in dashes can follow on the next line.
func opened(data []byte, doc *small.Document) (*layout, error) {
	list := doc.Root.Get("entries")
	lines := splitLines(data)
	line := lines[list.Pos.Line-1]
	before := len(string([]rune(string(line))[:list.Pos.Column-1]))
	rest := line[before:]
	if !bytes.HasPrefix(rest, []byte("[")) {
		return nil, errNoItems
	}
	inside, after, closed := bytes.Cut(rest[1:], []byte("]"))
	if !closed || !isBlank(inside) {
		return nil, errNoItems
	}
	out := &layout{column: 3, end: lineEnd(data), footer: join(lines[list.Pos.Line:])}
	head := slices.Concat(join(lines[:list.Pos.Line-1]), bytes.TrimRight(line[:before], " "), after)
	out.header = ended(head, out.end)
	return out, nil
}
