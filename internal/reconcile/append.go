package reconcile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wholefile"
)

// Append appends an entry to the log of the workspace in a directory of a work tree, and returns the log's path. The entry gets the
// replay id of the current run, if the handoff or workspace.small.yml has one. Nothing is staged.
func Append(place githistory.Place, dir string, entry Entry, now time.Time, limits small.Limits) (path string, err error) {
	path = small.Progress.Path(dir)
	data, err := readFile(place.Top, path)
	if err != nil {
		return path, err
	}
	if data == nil {
		return path, &failure.Error{Message: "cannot read " + path + ": there is no such file", Remedy: "`small-hook check` says what the workspace lacks"}
	}
	if id := cmp.Or(runID(place.Top, small.Handoff.Path(dir), limits, "replayId", "value"), runID(place.Top, small.Workspace.Path(dir), limits, "run", "replay_id")); id != "" {
		entry = append(entry, [2]string{"replayId", id})
	}
	longer, err := appended(path, data, entry, now, limits)
	if err != nil {
		return path, err
	}
	if err := wholefile.WriteVia(place.GitDir, filepath.Join(place.Top, filepath.FromSlash(path)), longer); err != nil {
		return path, &failure.Error{Message: fmt.Sprintf("cannot write %s: %v", path, err), Err: err}
	}
	return path, nil
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

// appended is a log with one more entry, and every byte before it as it was.
func appended(path string, data []byte, entry Entry, now time.Time, limits small.Limits) ([]byte, error) {
	cannot := func(why string) error {
		return &failure.Error{
			Message: fmt.Sprintf("%s: no entry can be appended: %s", path, why),
			Remedy:  "`small-hook check` says what is wrong with it; `small progress add` adds the first entry, and one of a list in brackets",
		}
	}
	doc, problems := small.Parse(data, limits)
	if doc == nil {
		return nil, cannot(fmt.Sprintf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message))
	}
	before, problems := ledger.LedgerOf(doc)
	if before == nil {
		return nil, cannot(problems[0].Message)
	}
	parts, err := takeApart(data, doc, true)
	if err != nil {
		return nil, cannot(err.Error())
	}
	entry = slices.Insert(slices.Clone(entry), 1, [2]string{"timestamp", timeAfter(before, now).Format(timestampForm)})
	head := slices.Clone(data[:len(data)-len(parts.footer)])
	out := slices.Concat(ended(head, parts.end), entry.text(parts.column, parts.end), parts.footer)
	after, problems := ledger.ReadLog(out, limits)
	if after == nil {
		return nil, cannot(problems[0].Message)
	}
	if !after.Extends(before) || after.Len() != before.Len()+1 {
		return nil, cannot("its last entry would change")
	}
	return out, nil
}
