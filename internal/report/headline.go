package report

import (
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// headLine is a finding's line in the file that a CI system shows: the head's.
// The finding's own is of the commit that it is about, and entries may stand
// elsewhere since. An entry is known again by its time, which no other of its log
// has; one that the head has not keeps its line.
func headLine(r *finding.Report, f *finding.Finding) int {
	at := slices.IndexFunc(r.Ledgers, func(l finding.LedgerState) bool { return l.Path == f.Path && l.Log != nil })
	if at < 0 || f.Commit == "" || f.Commit == r.Examined.Head {
		return f.Line
	}
	log := r.Ledgers[at].Log
	for _, e := range []*finding.EntryRef{f.EntryAfter, f.Entry} {
		if e == nil || e.Timestamp == "" {
			continue
		}
		i := slices.IndexFunc(log, func(l finding.LogEntry) bool { return l.Timestamp == e.Timestamp })
		if i < 0 {
			continue
		}
		line := log[i].Line
		if within := f.Line - e.Line; e.Line > 0 && within > 0 && (i+1 == len(log) || line+within < log[i+1].Line) && f.EditTo != "" {
			line += within // what of the entry it is about
		}
		return line
	}
	return f.Line
}
