// Package witnesses compares the logs that a witness has seen on refs with those that the refs have now.
package witnesses

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/witness"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// Witnessed is one ref that a witness watches.
type Witnessed struct {
	// Seen has the logs as the witness last saw them; none if it sees the ref for the first time.
	Seen witness.Ref
	// Tip is the full id of the commit that the ref holds now; empty if the ref is gone.
	Tip string
	// Here reports whether a commit is in this clone.
	Here func(commit string) (bool, error)
}

// compareRef compares a ref's logs with those that the witness saw there, and returns them as they are now, for the next comparison. A log
// that was seen stays watched, whatever the configuration excludes.
func compareRef(ctx context.Context, r *run.Run, w Witnessed) (witness.Ref, error) {
	c := &comparison{run: r, Witnessed: w, now: map[string]*read.LedgerFile{}, noted: map[string]bool{}}
	if w.Tip == "" {
		return c.refGone(ctx)
	}
	return c.compareAll(ctx)
}

// comparison is the comparison of one ref.
type comparison struct {
	run *run.Run
	Witnessed
	// files are the files of the tip's workspaces; now are the tip's logs, by path.
	files []history.File
	now   map[string]*read.LedgerFile
	// out is what is returned for the next comparison. noted has the paths of its logs but for those that moved away: a list could have thousands.
	noted map[string]bool
	out   witness.Ref
}

func (c *comparison) refGone(ctx context.Context) (witness.Ref, error) {
	logs := unmoved(c.Seen.Logs)
	return c.out, c.judgeLoss(ctx, &loss{Ref: c.Seen.Name, Logs: logs, Place: rule.Place{Mandatory: true}}, witness.Latest(logs).Commit)
}

// judgeLoss judges a lost log, or a lost ref. last is the commit in which it was last seen.
func (c *comparison) judgeLoss(ctx context.Context, lost *loss, last string) (err error) {
	if last != "" {
		lost.Survives, err = c.Here(last)
	}
	if lost.Survives && err == nil && c.Tip != "" {
		lost.BuiltOn, err = c.isAncestor(ctx, last)
	}
	if err != nil {
		return err
	}
	return c.run.Collector.Judge(ctx, lost)
}

// unmoved returns the logs that have not moved away.
func unmoved(logs []witness.Log) []witness.Log {
	return slices.DeleteFunc(slices.Clone(logs), func(l witness.Log) bool { return l.Moved != "" })
}

func (c *comparison) compareAll(ctx context.Context) (witness.Ref, error) {
	c.out.Name = c.Seen.Name
	files, err := c.run.Source.Tree.List(ctx, c.Tip, history.Workspaces())
	if err != nil {
		return c.out, err
	}
	c.files = files
	configured, err := c.run.Source.Tree.List(ctx, c.Tip, history.Matching(c.run.Source.Policy.Watched()...))
	if err != nil {
		return c.out, err
	}
	configured = slices.DeleteFunc(configured, func(f history.File) bool { return !c.configured(f.Path) })
	files = slices.Concat(files, configured)
	for _, f := range files {
		if read.IsProgress(f.Path) || c.configured(f.Path) {
			log, err := c.run.Source.ReaderOf(f.Path).Read(ctx, f, nil)
			if err != nil {
				return c.out, err
			}
			c.now[f.Path] = &read.LedgerFile{File: f, Log: log.Log, Problems: log.Problems} // the same content may be at several paths
		}
	}
	if err := c.addRecords(ctx, c.files); err != nil {
		return c.out, err
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
	seen := pathsOf(c.Seen.Logs)
	for _, f := range files {
		if !seen[f.Path] && !c.noted[f.Path] {
			c.noteNew(f.Path)
		}
	}
	c.dropMoved()
	return c.out, nil
}

// pathsOf returns the set of the logs' paths.
func pathsOf(logs []witness.Log) map[string]bool {
	out := map[string]bool{}
	for _, l := range logs {
		out[l.Path] = true
	}
	return out
}

// configured reports whether the configuration names a log at the path.
func (c *comparison) configured(path string) bool { return c.run.Source.Policy.LogFor(path) != nil }

// shouldNote reports whether a log that was not seen before is watched from now on.
func (c *comparison) shouldNote(path string) bool {
	return c.configured(path) || c.run.Source.Judges(path)
}

// dropMoved drops the logs that moved to a path that has no log any more.
func (c *comparison) dropMoved() {
	for before := -1; before != len(c.out.Logs); {
		before = len(c.out.Logs)
		there := pathsOf(c.out.Logs)
		c.out.Logs = slices.DeleteFunc(c.out.Logs, func(l witness.Log) bool { return l.Moved != "" && !there[l.Moved] })
	}
}

// isAncestor reports whether a commit of this clone is the tip or an ancestor of it.
func (c *comparison) isAncestor(ctx context.Context, commit string) (bool, error) {
	bases, err := c.run.Source.History.MergeBases(ctx, commit, c.Tip)
	return slices.Contains(bases, commit), err
}

// compareOne compares one log that was seen.
func (c *comparison) compareOne(ctx context.Context, l witness.Log, moves map[string]history.File) error {
	at := l.Path
	if _, in := small.WorkspaceOf(at); !in && !c.configured(at) {
		c.run.Examined().Notes = append(c.run.Examined().Notes, at+" of "+c.Seen.Name+" is no log of the configuration any more, and is not witnessed")
		return nil
	}
	if to, moved := moves[l.Path]; moved {
		l.Moved, at = to.Path, to.Path
		c.out.Logs = append(c.out.Logs, l)
	} else if c.now[at] == nil && l.Moved != "" {
		c.out.Logs = append(c.out.Logs, l)
		return nil
	}
	now := c.now[at]
	if !now.Readable() {
		lost := &loss{Ref: c.Seen.Name, Path: l.Path, Logs: []witness.Log{l}, Place: rule.Place{Commit: c.Tip, Parent: l.Commit, Mandatory: true}}
		if now != nil {
			lost.Problems = now.Problems
		}
		return c.judgeLoss(ctx, lost, l.Commit)
	}
	if isProfilePath(at) {
		dir, _, _ := small.SplitPath(at)
		now.Log, _ = recordsOf(c.files, dir, l.Entries)
		c.note(at, l)
		return c.compareRecords(ctx, l, now)
	}
	c.note(at, l)
	return c.compareEntries(ctx, l, now)
}

// note adds a log as it is now to out, once. before is the log as it was seen.
func (c *comparison) note(path string, before witness.Log) {
	if c.noted[path] {
		return // it moved away and has come back
	}
	c.noted[path] = true
	log := c.now[path].Log.Ledger
	l := witness.Log{Path: path, Time: c.run.Source.Now.UTC().Truncate(time.Second), Commit: c.Tip}
	l.SetEntries(log)
	if before.Path == path && before.Commit == l.Commit && before.Moved == "" && slices.Equal(before.Entries, l.Entries) {
		l.Time = before.Time
	}
	c.out.Logs = append(c.out.Logs, l)
	if !c.configured(path) || !c.run.Source.IsFileEntry(path) {
		c.run.Account.Ledgers = append(c.run.Account.Ledgers, finding.LedgerState{Path: path, Entries: log.Len(), Head: c.run.Source.Policy.LogFor(path).Head(log)})
	}
	if c.configured(path) {
		c.run.Learned.Logs[c.run.Source.LogName(path)] = true
	} else {
		c.run.Examined().Workspaces++
	}
}

// noteNew notes a log that was not seen before.
func (c *comparison) noteNew(path string) {
	log := c.now[path]
	_, name, _ := small.SplitPath(path)
	switch {
	case log == nil || !c.shouldNote(path) || records.IsOriginalLog(name): // an original is a record too
	case log.Readable():
		c.note(path, witness.Log{})
	default:
		c.run.Examined().Notes = append(c.run.Examined().Notes, path+" of "+c.Seen.Name+" cannot be read as a log, and is not witnessed: "+log.Problems[0].Message)
	}
}

// moves finds the logs that are gone from their paths and continue at new ones.
func (c *comparison) moves() (map[string]history.File, error) {
	var gone, added []*read.LedgerFile
	for _, l := range unmoved(c.Seen.Logs) {
		if c.now[l.Path] == nil {
			gone = append(gone, digestsOnly(l))
			c.orderAsSeen(l)
		}
	}
	seen := pathsOf(unmoved(c.Seen.Logs))
	for _, path := range slices.Sorted(maps.Keys(c.now)) {
		if log := c.now[path]; !seen[path] && log.Readable() && c.shouldNote(path) {
			added = append(added, log)
		}
	}
	return c.run.Source.MovedLogs(gone, added)
}

// digestsOnly returns a seen log as one whose entries have nothing but their digests.
func digestsOnly(l witness.Log) *read.LedgerFile {
	return &read.LedgerFile{File: history.File{Path: l.Path}, Log: &ledger.Log{Ledger: l.Ledger()}}
}

// compareEntries judges what has become of a log's entries.
func (c *comparison) compareEntries(ctx context.Context, l witness.Log, now *read.LedgerFile) error {
	old := digestsOnly(l)
	if now.Log.Extends(old.Log.Ledger) {
		return nil
	}
	before, err := c.readIfHere(ctx, l)
	if err != nil {
		return err
	}
	survives := before != nil
	if !survives {
		before = old
	}
	equal, err := c.run.Source.EquivalenceOn(ctx, []string{l.Commit}, l.Path, now.File.Path, before, now)
	if err != nil {
		return err
	}
	with := ledger.CompareOptions{Equal: equal, NewRecords: c.run.Source.ReaderOf(now.File.Path).Records(ctx, now.File), OldRecords: func() ([]*small.Value, error) {
		return slices.Repeat([]*small.Value{{Kind: small.Null}}, old.Log.Len()), nil // no entry pairs with these
	}}
	if survives {
		with.OldRecords = c.run.Source.ReaderOf(before.File.Path).Records(ctx, before.File)
	}
	compared, err := ledger.Compare(before.Log.Ledger, now.Log.Ledger, with)
	if err != nil {
		return err
	}
	if !survives {
		compared.OldRecords = nil
	}
	change := &seenChange{Ref: c.Seen.Name, Seen: l, Survives: survives}
	if survives {
		if change.BuiltOn, err = c.isAncestor(ctx, l.Commit); err != nil {
			return err
		}
	}
	change.LogChange = &logs.LogChange{Run: c.run, Path: now.File.Path, OldPath: l.Path, Comparison: compared}
	if compared.Reconciled() || c.configured(now.File.Path) { // a merge may put entries there, and has no mark
		change.Inserted = nil
	}
	change.Place = rule.Place{Commit: c.Tip, Parent: l.Commit, Mandatory: true}
	return c.run.Collector.Judge(ctx, change)
}

// readIfHere reads a seen log from the commit in which it was seen; nil if the clone does not have this commit, or if the log there is another.
func (c *comparison) readIfHere(ctx context.Context, l witness.Log) (*read.LedgerFile, error) {
	here, err := c.Here(l.Commit)
	if err != nil || !here {
		return nil, err
	}
	log, err := c.run.Source.LogAt(ctx, l.Commit, l.Path)
	if err != nil || !log.Readable() || !slices.Equal(ledger.DigestsOf(log.Log.Ledger), ledger.DigestsOf(l.Ledger())) {
		return nil, err
	}
	return log, nil
}

// Judge compares the refs' logs with those that a witness saw there, and appends the logs as they are now to seen, which the caller keeps if the
// report has no finding. accept has fingerprints, or their first digits: findings with these are listed as waived. A fingerprint that no finding
// has is a failure.
func Judge(refs []Witnessed, accept []string, seen *[]witness.Ref) run.Pass {
	return func(ctx context.Context, r *run.Run) error {
		for _, w := range refs {
			now, err := compareRef(ctx, r, w)
			if err != nil {
				return err
			}
			if now.Name != "" {
				*seen = append(*seen, now)
			}
		}
		return setAside(&r.Collector.Report, accept)
	}
}

// setAside moves the accepted findings to the waived ones.
func setAside(r *finding.Report, accept []string) error {
	var all []string
	for i := range r.Findings {
		all = append(all, r.Findings[i].Fingerprint())
	}
	accepted := map[string]bool{}
	for _, a := range accept {
		found, several := finding.Complete(strings.ToLower(a), all)
		switch {
		case len(a) < finding.ShortestFingerprint || found == "":
			return &failure.Error{
				Message: fmt.Sprintf("no finding has the fingerprint %q", a),
				Remedy:  fmt.Sprintf("give --accept at least %d digits of a fingerprint that the witness reports now", finding.ShortestFingerprint),
			}
		case several:
			return &failure.Error{Message: fmt.Sprintf("several findings have a fingerprint that begins with %q", a), Remedy: "give more digits of it"}
		}
		accepted[found] = true
	}
	var left []finding.Finding
	for _, f := range r.Findings {
		if accepted[f.Fingerprint()] {
			f.Reason = "accepted with --accept"
			r.Waived = append(r.Waived, f)
		} else {
			left = append(left, f)
		}
	}
	r.Findings = left
	return nil
}
