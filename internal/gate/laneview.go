package gate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// laneView is what rules about lanes read.
type laneView struct {
	state *laneState
	// report is nil where no lane is claimed.
	report *LaneReport
	// firstLog is the first log of the head, where the change adds to none.
	firstLog string
	// entries are what the change adds to its logs, as one sequence.
	entries []laneEntry
	// untried is, for each pattern of the evidence that is to stand after the
	// work, what commits did to files that no such evidence follows.
	untried map[string][]untriedCommit
	// brought are the commits that brought what evidence and work stand in, by
	// entry.
	brought map[small.Digest]map[string]bool
}

// laneEntry is an entry that a change adds to a log.
type laneEntry struct {
	small.Entry
	// path is the log's.
	path string
	// at is the latest time of its log up to here, the zero time where none can
	// be read.
	at time.Time
}

// done reports whether an entry says of something that it was done: it has
// evidence that says something, and no status that says otherwise.
func (e laneEntry) done() bool {
	return e.Evidenced && e.Told && (e.Status == "" || e.Status == "completed")
}

// log is the path of the log in which something is to be recorded: the first
// that the change adds to, or the first that there is.
func (v *laneView) log() string {
	log := cmp.Or(v.firstLog, small.Progress.Path(""))
	for i, e := range v.entries {
		if i == 0 || e.path < log {
			log = e.path
		}
	}
	return log
}

// mayAsk reports whether anything may have to be recorded in a log.
func (v *laneView) mayAsk() bool {
	s := v.state
	return len(s.switches) > 0 || s.claim.Lane.Less(v.report.Fits) || s.ends && len(s.rigour.Before)+len(s.rigour.After) > 0
}

// firstLog is the path of the first log that is judged in the head, empty for
// none.
func (j *judgement) firstLog(ctx context.Context, head string) (string, error) {
	files, err := j.history.Files(ctx, head)
	for _, f := range files {
		if isLedger(f.Path) && j.judges(f.Path) {
			return f.Path, err
		}
	}
	return "", err
}

// words names an entry, with its log where the change adds to several.
func (v *laneView) words(e laneEntry) string {
	if slices.ContainsFunc(v.entries, func(other laneEntry) bool { return other.path != e.path }) {
		return entryWords(e.Entry) + " of " + e.path
	}
	return entryWords(e.Entry)
}

// laneEntries finds the entries that the change brings, those that no base has.
// Those of several logs are merged by their times, and each log keeps its own
// order: an entry whose time cannot be read, or is before that of the one before
// it, follows that one.
func (j *judgement) laneEntries(ctx context.Context, s *laneState) ([]laneEntry, error) {
	if !s.ends && len(s.switches) == 0 {
		return nil, nil // nothing is asked of them
	}
	edges := EdgesOf(s.head, s.bases)
	changes, err := j.history.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	known, err := j.entriesBefore(ctx, s, changes)
	if err != nil {
		return nil, err
	}
	var out []laneEntry
	for _, c := range changes[0] {
		if !isLedger(c.Path) || !j.judges(c.Path) || c.New.Mode == "" {
			continue
		}
		if slices.ContainsFunc(changes, func(edge []Change) bool { return !touches(edge, c.Path) }) {
			continue // a base has all of it
		}
		now, err := j.ledgers.read(ctx, c.New, nil)
		if err != nil {
			return nil, err
		}
		if !now.readable() {
			continue // that is a finding of its own
		}
		var last time.Time
		for _, e := range now.log.Entries {
			if at, ok := parseInstant(e.Timestamp); ok && at.After(last) {
				last = at
			}
			if !known[e.Digest] {
				known[e.Digest] = true // a copy says nothing more
				out = append(out, laneEntry{Entry: e, path: c.Path, at: last})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b laneEntry) int { return a.at.Compare(b.at) })
	return out, nil
}

// entriesBefore are the entries of the bases in the logs that differ from the
// change's, and where the change has a new log, in all: that may be a copy of
// another one, and what was copied is not of this change.
func (j *judgement) entriesBefore(ctx context.Context, s *laneState, changes [][]Change) (map[small.Digest]bool, error) {
	var logs []File
	for _, c := range slices.Concat(changes...) {
		logs = append(logs, c.Old)
	}
	if slices.ContainsFunc(changes[0], func(c Change) bool { return isLedger(c.Path) && c.Old.Mode == "" }) {
		for _, base := range s.bases {
			files, err := j.history.Files(ctx, base)
			if err != nil {
				return nil, err
			}
			logs = append(logs, files...)
		}
	}
	known := map[small.Digest]bool{}
	for _, f := range logs {
		if !isLedger(f.Path) || f.Mode == "" {
			continue
		}
		if err := j.entriesOf(ctx, f, nil, func(digest small.Digest) { known[digest] = true }); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// touches reports whether a path is among some changes.
func touches(changes []Change, path string) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Path == path })
}
