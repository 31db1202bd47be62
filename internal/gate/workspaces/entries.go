package workspaces

import (
	"fmt"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// checkTimestampFormat reports missing and malformed timestamps. A timestamp that is not a string breaks the schema, which another rule reports.
func checkTimestampFormat(w *read.Workspace, r *rule.Reporter) {
	entries, first := w.Entries()
	for i, e := range entries {
		if e.Kind != small.Map {
			continue
		}
		ts := e.Get("timestamp")
		text, ok := ts.Str()
		if _, valid := ledger.ParseTimestamp(text); ts != nil && (!ok || valid) {
			continue
		}
		at, message := e.Pos, fmt.Sprintf("entry %d has no timestamp", first+i+1)
		if ts != nil {
			at, message = ts.Pos, fmt.Sprintf("the timestamp %q of entry %d is not RFC 3339 with fractional seconds and a zone", text, first+i+1)
		}
		r.Add(finding.Finding{
			Path: w.Path(small.Progress), Line: at.Line, Column: at.Column, Subject: fmt.Sprintf("entries.%d.timestamp", first+i),
			Message: message, Fix: w.RecordAgain(first + i),
		})
	}
}

// checkTimestampOrder compares timestamps as instants, whatever their zones. It skips entries whose timestamp cannot be read.
func checkTimestampOrder(w *read.Workspace, r *rule.Reporter) {
	var previous time.Time
	previousAt := -1
	items := w.List(small.Progress, "entries")
	again := findRepeats(w.Ledger(), len(items))
	for i, e := range items {
		ts := e.Get("timestamp")
		text, _ := ts.Str()
		at, ok := ledger.ParseTimestamp(text)
		if !ok {
			continue
		}
		if previousAt >= 0 && !at.After(previous) && i >= w.Baseline {
			f := finding.Finding{
				Path: w.Path(small.Progress), Line: ts.Pos.Line, Column: ts.Pos.Column,
				Subject: fmt.Sprintf("entries.%d.timestamp", i),
				Message: fmt.Sprintf("entry %d is dated %s, which is not later than entry %d", i+1, text, previousAt+1),
				Fix:     w.RecordAgain(i),
			}
			if words := again.describe(i); words != "" {
				f.Message, f.Fix = words, w.DropRepeated(i)
			}
			r.Add(f)
		}
		previous, previousAt = at, i
	}
}

// repeated holds, for each entry of a log, the index of the first entry that equals it; -1 if none comes before.
type repeated []int

// findRepeats finds the entries of a log that equal an earlier one. n is how many entries the file has. It finds nothing if the ledger does not
// have all of them.
func findRepeats(log *ledger.Ledger, n int) repeated {
	if log.Len() != n {
		return nil
	}
	first, out := make(map[small.Digest]int, n), make(repeated, n)
	for i, e := range log.Entries {
		at, known := first[e.Digest]
		if out[i] = -1; known {
			out[i] = at
		} else {
			first[e.Digest] = i
		}
	}
	return out
}

// describe says that the entries from index i on are copies of earlier ones; empty if entry i repeats none.
func (r repeated) describe(i int) string {
	if i >= len(r) || r[i] < 0 {
		return ""
	}
	n := 1
	for i+n < len(r) && r[i+n] == r[i]+n {
		n++
	}
	if n == 1 {
		return fmt.Sprintf("entry %d is a copy of entry %d", i+1, r[i]+1)
	}
	return fmt.Sprintf("entries %d to %d are copies of entries %d to %d", i+1, i+n, r[i]+1, r[i]+n)
}

var evidenceFields = []string{"evidence", "verification", "command", "test", "link", "commit"}

func checkEvidence(w *read.Workspace, r *rule.Reporter) {
	entries, first := w.Entries()
	for i, e := range entries {
		if e.Kind != small.Map || ledger.Evidenced(e) || schemaRejectsEvidence(e) {
			continue
		}
		at := fmt.Sprintf("entries.%d", first+i)
		r.Add(finding.Finding{
			Path: w.Path(small.Progress), Line: e.Pos.Line, Column: e.Pos.Column,
			Subject: at,
			Message: fmt.Sprintf("entry %d has no evidence", first+i+1),
			Fix:     w.Correct(small.Progress, at, "add evidence, verification, command, test, link or commit, so that the work can be checked"),
		})
	}
}

// schemaRejectsEvidence reports whether the schema rejects a field of an entry that could be evidence. That is a finding of its own.
func schemaRejectsEvidence(entry *small.Value) bool {
	for _, key := range evidenceFields {
		v := entry.Get(key)
		if v == nil {
			continue
		}
		if text, ok := v.Str(); !ok || text == "" && key != "link" {
			return true
		}
	}
	return false
}

// checkUnknownTask judges the entries of the handoff's run, or all if the handoff names none. If the run is over, it reports only the first.
func checkUnknownTask(w *read.Workspace, r *rule.Reporter) {
	if w.Doc(small.Plan) == nil {
		return
	}
	run, bound := w.HandoffRun()
	over := bound && w.Ledger().RunOver(run)
	tasks := w.PlanTasks()
	fix := func(entry int, id string) string {
		switch {
		case over:
			return remedy.BeginRun(w.Dir, w.Commit, "")
		case w.Committed(entry):
			return "a committed entry is never edited: add task " + wording.Quote(id) + " to the plan; cancelled, if its name is a slip"
		}
		return "name a task of the plan: " + nameTasks(w.Tasks()) + "; or add task " + wording.Quote(id) + " to it. " +
			"Entries that are written and not yet committed are dropped with the option --discard-new of small-hook restore, and recorded again"
	}
	entries, first := w.Entries()
	for i, e := range entries {
		v := e.Get("task_id")
		id, ok := v.Trimmed()
		if !ok || strings.HasPrefix(id, ledger.MetaPrefix) || tasks[id] || id == "" {
			continue
		}
		if of, _ := e.Get("replayId").Str(); bound && of != run {
			continue
		}
		at := fmt.Sprintf("entries.%d.task_id", first+i)
		r.Add(finding.Finding{
			Path: w.Path(small.Progress), Line: v.Pos.Line, Column: v.Pos.Column,
			Subject: at,
			Message: fmt.Sprintf("entry %d names task %q, which the plan does not have", first+i+1, id),
			Fix:     fix(first+i, id),
		})
		if over {
			return // a new run settles all of them
		}
	}
}

// nameTasks lists the first tasks of a plan for a message.
func nameTasks(tasks []read.Task) string {
	const most = 8
	var names []string
	for _, task := range tasks {
		if task.HasID {
			names = append(names, wording.Quote(task.ID))
		}
	}
	if len(names) == 0 {
		return "it has none"
	}
	return strings.Join(wording.FirstFew(most, names), ", ")
}
