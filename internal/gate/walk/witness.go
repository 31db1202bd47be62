package walk

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/witness"
)

// Witnessed is one ref that a witness looks at.
type Witnessed struct {
	// Seen is what the witness has seen there; without logs if it sees the ref for the first time.
	Seen witness.Ref
	// Tip is the full id of the commit that the ref holds now; empty if the ref is gone.
	Tip string
	// Here reports whether a commit is in this clone.
	Here func(commit string) (bool, error)
}

// CompareWitnessed compares what a witness has seen of a ref with what the ref holds now, and returns what the witness has then seen. A log
// that it saw stays watched, whatever the configuration excludes.
func CompareWitnessed(ctx context.Context, r *run.Run, w Witnessed) (witness.Ref, error) {
	c := &witnessing{walker: walker{r}, Witnessed: w, now: map[string]*read.LedgerFile{}}
	if w.Tip == "" {
		return c.refGone()
	}
	return c.compareAll(ctx)
}

// witnessing is the comparison of one ref.
type witnessing struct {
	walker
	Witnessed
	// now are the logs of the tip by path.
	now map[string]*read.LedgerFile
	out witness.Ref
}

func (c *witnessing) refGone() (witness.Ref, error) {
	gone := &subject.WitnessedLoss{Ref: c.Seen.Name, Logs: standing(c.Seen.Logs), Place: rule.Place{Mandatory: true}}
	var err error
	if last := witness.Latest(gone.Logs); last.Commit != "" {
		gone.Survives, err = c.Here(last.Commit)
	}
	if err == nil {
		c.Collector.Judge(gone)
	}
	return c.out, err
}

// standing are the logs that have not moved away.
func standing(logs []witness.Log) []witness.Log {
	return slices.DeleteFunc(slices.Clone(logs), func(l witness.Log) bool { return l.Moved != "" })
}

func (c *witnessing) compareAll(ctx context.Context) (witness.Ref, error) {
	c.out.Name = c.Seen.Name
	files, err := c.Source.Tree.List(ctx, c.Tip, history.Workspaces())
	if err != nil {
		return c.out, err
	}
	for _, f := range files {
		if read.IsLedger(f.Path) {
			log, err := c.Source.Ledgers.Read(ctx, f, nil)
			if err != nil {
				return c.out, err
			}
			c.now[f.Path] = &read.LedgerFile{File: f, Log: log.Log, Problems: log.Problems} // the same content may lie at several paths
		}
	}
	moves, err := c.moves()
	if err != nil {
		return c.out, err
	}
	for _, l := range c.Seen.Logs {
		if err := c.compareOne(ctx, l, moves); err != nil {
			return c.out, err
		}
	}
	for _, f := range files {
		c.addNew(f.Path)
	}
	c.forget()
	return c.out, nil
}

// forget drops the logs that have moved to where no log is any more: nobody is asked for their entries again.
func (c *witnessing) forget() {
	for before := -1; before != len(c.out.Logs); {
		before = len(c.out.Logs)
		there := map[string]bool{}
		for _, l := range c.out.Logs {
			there[l.Path] = true
		}
		c.out.Logs = slices.DeleteFunc(c.out.Logs, func(l witness.Log) bool { return l.Moved != "" && !there[l.Moved] })
	}
}

// builtOn reports whether the tip has a commit of this clone among its ancestors.
func (c *witnessing) builtOn(ctx context.Context, commit string) (bool, error) {
	bases, err := c.Source.History.MergeBases(ctx, commit, c.Tip)
	return slices.Contains(bases, commit), err
}

// compareOne compares one log that was seen.
func (c *witnessing) compareOne(ctx context.Context, l witness.Log, moves map[string]history.File) error {
	at := l.Path
	if to, moved := moves[l.Path]; moved {
		l.Moved, at = to.Path, to.Path
		c.out.Logs = append(c.out.Logs, l)
	} else if c.now[at] == nil && l.Moved != "" {
		c.out.Logs = append(c.out.Logs, l)
		return nil
	}
	now := c.now[at]
	if !now.Readable() {
		here, err := c.Here(l.Commit)
		if err != nil {
			return err
		}
		lost := &subject.WitnessedLoss{Ref: c.Seen.Name, Path: l.Path, Logs: []witness.Log{l}, Survives: here}
		if here {
			if lost.BuiltOn, err = c.builtOn(ctx, l.Commit); err != nil {
				return err
			}
		}
		lost.Place = rule.Place{Commit: c.Tip, Parent: l.Commit, Mandatory: true}
		if now != nil {
			lost.Problems = now.Problems
		}
		c.Collector.Judge(lost)
		return nil
	}
	c.see(at, l)
	return c.compareEntries(ctx, l, now)
}

// see records, once, what is seen of a log now; before is what was seen of it.
func (c *witnessing) see(path string, before witness.Log) {
	if slices.ContainsFunc(standing(c.out.Logs), func(l witness.Log) bool { return l.Path == path }) {
		return // it has come back to a path where it stood before
	}
	l := witness.Log{Path: path, Time: c.Source.Now.UTC().Truncate(time.Second), Commit: c.Tip, Entries: ledger.DigestsOf(c.now[path].Log.Ledger)}
	if before.Path == path && before.Commit == l.Commit && before.Moved == "" && slices.Equal(before.Entries, l.Entries) {
		l.Time = before.Time
	}
	c.out.Logs = append(c.out.Logs, l)
	c.Collector.Report.Ledgers = append(c.Collector.Report.Ledgers, finding.LedgerState{Path: path, Entries: len(l.Entries), Head: ledger.HeadOf(l.Entries)})
	c.Examined().Workspaces++
}

// addNew notes a log that has not been seen before.
func (c *witnessing) addNew(path string) {
	log := c.now[path]
	known := slices.ContainsFunc(slices.Concat(c.out.Logs, c.Seen.Logs), func(l witness.Log) bool { return l.Path == path })
	switch {
	case log == nil || known || !c.Source.Judges(path):
	case log.Readable():
		c.see(path, witness.Log{})
	default:
		c.Examined().Notes = append(c.Examined().Notes, path+" of "+c.Seen.Name+" cannot be read as a log, and is not witnessed: "+log.Problems[0].Message)
	}
}

// moves finds the logs that are gone from their paths and go on at new ones.
func (c *witnessing) moves() (map[string]history.File, error) {
	var gone, added []*read.LedgerFile
	for _, l := range standing(c.Seen.Logs) {
		if c.now[l.Path] == nil {
			gone = append(gone, stub(l))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.now)) {
		seen := slices.ContainsFunc(standing(c.Seen.Logs), func(l witness.Log) bool { return l.Path == path })
		if log := c.now[path]; !seen && log.Readable() && c.Source.Judges(path) {
			added = append(added, log)
		}
	}
	return c.Source.MovedLogs(gone, added)
}

// stub is a log of whose entries nothing but the digest is known.
func stub(l witness.Log) *read.LedgerFile {
	entries := make([]ledger.Entry, len(l.Entries))
	for i, d := range l.Entries {
		entries[i] = ledger.Entry{Index: i, Digest: d}
	}
	return &read.LedgerFile{File: history.File{Path: l.Path}, Log: &ledger.Log{Ledger: ledger.OfEntries(entries)}}
}

// compareEntries judges what has become of a log's entries.
func (c *witnessing) compareEntries(ctx context.Context, l witness.Log, now *read.LedgerFile) error {
	old := stub(l)
	if now.Log.Extends(old.Log.Ledger) {
		return nil
	}
	before, err := c.surviving(ctx, l)
	if err != nil {
		return err
	}
	survives := before != nil
	if !survives {
		before = old
	}
	equal, err := c.Source.EquivalenceOn(ctx, []string{l.Commit}, l.Path, now.File.Path, before, now)
	if err != nil {
		return err
	}
	with := ledger.CompareOptions{Equal: equal, NewRecords: c.Source.Ledgers.Records(ctx, now.File), OldRecords: func() ([]*small.Value, error) {
		return slices.Repeat([]*small.Value{{Kind: small.Null}}, old.Log.Len()), nil // no entry pairs with these
	}}
	if survives {
		with.OldRecords = c.Source.Ledgers.Records(ctx, before.File)
	}
	compared, err := ledger.Compare(before.Log.Ledger, now.Log.Ledger, with)
	if err != nil {
		return err
	}
	if !survives {
		compared.OldRecords = nil
	}
	if compared.Reconciled() {
		compared.Inserted = nil
		compared.Edits = slices.DeleteFunc(compared.Edits, func(x ledger.Edit) bool { return x.Kind == ledger.EditInserted })
	}
	change := subject.WitnessedChange{Ref: c.Seen.Name, Seen: l, Survives: survives}
	if survives {
		if change.BuiltOn, err = c.builtOn(ctx, l.Commit); err != nil {
			return err
		}
	}
	change.LogChange = &subject.LogChange{Path: now.File.Path, OldPath: l.Path, Comparison: compared}
	c.judgeWitnessed(change)
	return nil
}

// judgeWitnessed judges one log's change, and lists what waivers excuse.
func (c *witnessing) judgeWitnessed(change subject.WitnessedChange) {
	e := change.LogChange
	e.Place = rule.Place{Commit: c.Tip, Parent: change.Seen.Commit, Mandatory: true}
	c.Collector.Judge(&change)
	if len(e.Waived) == 0 {
		return
	}
	excused, compared := *e, *e.Comparison
	compared.Edits, compared.Inserted = e.Waived, nil
	excused.Comparison, excused.Excused = &compared, true
	other := change
	other.LogChange = &excused
	c.Collector.Judge(&other)
}

// surviving reads a log as it was seen, if its commit is still in the clone; nil if it is not, or holds another log than the witness saw.
func (c *witnessing) surviving(ctx context.Context, l witness.Log) (*read.LedgerFile, error) {
	here, err := c.Here(l.Commit)
	if err != nil || !here {
		return nil, err
	}
	dir, _ := small.WorkspaceOf(l.Path)
	files, err := c.Source.Tree.List(ctx, l.Commit, history.Workspaces(dir))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(files, func(f history.File) bool { return f.Path == l.Path })
	if at < 0 {
		return nil, nil
	}
	log, err := c.Source.Ledgers.Read(ctx, files[at], nil)
	if err != nil || !log.Readable() || !slices.Equal(ledger.DigestsOf(log.Log.Ledger), l.Entries) {
		return nil, err
	}
	return &read.LedgerFile{File: files[at], Log: log.Log}, nil
}
