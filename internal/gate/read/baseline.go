package read

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// baseline is an active baseline of the configuration: the trusted side's log begins with it.
type baseline struct {
	// path is where the log is on the trusted side, configured the path that the configuration gives.
	path, configured string
	// entries are the accepted entries, as they were when the baseline was made.
	entries      []small.Digest
	head         small.Digest
	equal        ledger.Equivalence
	acceptedPast *acceptedHistory
}

// acceptedHistory is what a baseline or a since commit accepts. For a baseline, these are the first commit of the trusted history whose log
// begins with it, and that commit's ancestors; for a since commit, that commit and its ancestors.
type acceptedHistory struct {
	commits map[string]bool
	// paths are where the log was in these commits.
	paths map[string]bool
	// entries are the entries that the log had in any of these commits.
	entries map[small.Digest]bool
}

// matchBaseline returns the entries that a baseline accepts, as they were when it was made, or nil if the log does not begin with them.
// It undoes waived edits, the last one first, until the head matches.
func matchBaseline(b *policy.Baseline, l *ledger.Ledger, waivers []policy.Waiver) []small.Digest {
	if l.Len() < b.Entries {
		return nil
	}
	entries := ledger.DigestsOf(l)[:b.Entries]
	if l.HeadAt(b.Entries) == b.Head {
		return entries
	}
	for _, w := range slices.Backward(waivers) {
		for i, d := range entries {
			if w.To != nil && *w.To == d {
				entries[i] = *w.From
			}
		}
		if ledger.HeadOf(entries) == b.Head {
			return entries
		}
	}
	return nil
}

// countAccepted counts the leading entries of a log that the baseline accepts, also where waivers let an entry change or be missing. ok is false if
// the log does not begin with the baseline.
func (b *baseline) countAccepted(l *ledger.Ledger) (n int, ok bool) {
	if l.Len() >= len(b.entries) && l.HeadAt(len(b.entries)) == b.head {
		return len(b.entries), true
	}
	at := 0
	for _, d := range b.entries {
		switch {
		case at < l.Len() && b.equal.AllowsTransition(d, l.Entries[at].Digest):
			at++
		case !b.equal.Dropped[d]:
			return 0, false
		}
	}
	return at, true
}

// activeBaselines returns the baselines with which the trusted side's log begins. Any other baseline is ignored, because it describes another
// log and could accept anything; config/baseline-mismatch reports one whose log does not begin with it.
func (src *Source) activeBaselines(ctx context.Context) ([]*baseline, error) {
	if src.baselinesKnown || src.History == nil || src.Trusted == "" {
		return src.baselines, nil
	}
	var found []*baseline
	for i := range src.Policy.Baselines {
		stanza := &src.Policy.Baselines[i]
		if src.Policy.BaselineFor(stanza.Path) != stanza || stanza.Entries == 0 {
			continue
		}
		b, err := src.locateBaseline(ctx, stanza)
		if err != nil {
			return nil, err
		}
		if b != nil {
			found = append(found, b)
		}
	}
	src.baselines, src.baselinesKnown = found, true
	return found, nil
}

// locateBaseline finds a baseline's log on the trusted side: at its path or, if the log moved away or was rotated, at any path where a log begins with
// it.
func (src *Source) locateBaseline(ctx context.Context, stanza *policy.Baseline) (*baseline, error) {
	files, err := src.History.List(ctx, src.Trusted, history.At(stanza.Path))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if b, err := src.baselineAt(ctx, stanza, f); b != nil || err != nil {
			return b, err
		}
	}
	if len(files) > 0 && (src.Policy.LogFor(stanza.Path) == nil || src.IsFamilyLog(stanza.Path)) { // only a configured log can be rotated
		src.Mismatched = append(src.Mismatched, stanza)
		return nil, nil
	}
	judged, err := src.History.List(ctx, src.Trusted, history.Judged(src.Policy))
	if err != nil {
		return nil, err
	}
	logs := src.ReaderOf(stanza.Path)
	for _, f := range judged {
		if f.Path == stanza.Path || !src.IsLog(f.Path) || src.ReaderOf(f.Path) != logs {
			continue
		}
		if b, err := src.baselineAt(ctx, stanza, f); b != nil || err != nil {
			return b, err
		}
	}
	if len(files) > 0 {
		src.Mismatched = append(src.Mismatched, stanza)
	}
	return nil, nil
}

// baselineAt returns the active baseline if the log in a file begins with it, and else nil.
func (src *Source) baselineAt(ctx context.Context, stanza *policy.Baseline, f history.File) (*baseline, error) {
	log, err := src.ReaderOf(stanza.Path).Read(ctx, f, nil)
	if err != nil || !log.Readable() {
		return nil, err
	}
	entries := matchBaseline(stanza, log.Log.Ledger, changeWaivers(src.Policy, src.Now, stanza.Path, f.Path))
	if entries == nil {
		return nil, nil
	}
	return &baseline{path: f.Path, configured: stanza.Path, entries: entries, head: stanza.Head, equal: src.EquivalenceByWaivers(stanza.Path, f.Path)}, nil
}

// findAcceptedHistory finds out what a baseline accepts, and remembers it.
func (src *Source) findAcceptedHistory(ctx context.Context, b *baseline) (*acceptedHistory, error) {
	if b.acceptedPast != nil {
		return b.acceptedPast, nil
	}
	a, n, err := src.loadAncestry(ctx, src.Trusted)
	if err != nil {
		return nil, err
	}
	p := &acceptedHistory{commits: map[string]bool{}, paths: map[string]bool{}, entries: map[small.Digest]bool{}}
	first, path, err := src.findAdoption(ctx, b, a, a.reachableFrom(n))
	if err != nil || first < 0 {
		b.acceptedPast = p
		return p, err
	}
	p.paths[path] = true
	within := a.reachableFrom(first)
	for i := first; i >= 0; i-- { // backwards: addAccepted learns a log's earlier path from the commit that moved it
		if !within[i] {
			continue
		}
		p.commits[a.commits[i].id] = true
		if err := src.addAccepted(ctx, p, a, i); err != nil {
			return nil, err
		}
	}
	for grown := true; grown; {
		grown = false
		for _, w := range changeWaivers(src.Policy, src.Now, slices.Collect(maps.Keys(p.paths))...) {
			if p.entries[*w.From] && !p.entries[*w.To] {
				p.entries[*w.To], grown = true, true
			}
		}
	}
	b.acceptedPast = p
	return p, nil
}

// findAdoption finds the first commit whose log begins with a baseline. It returns the commit's number, -1 if there is none, and the log's
// path there.
func (src *Source) findAdoption(ctx context.Context, b *baseline, a *ancestry, within []bool) (int, string, error) {
	earlier := map[string]*LedgerFile{}
	for i := range within {
		if !within[i] {
			continue
		}
		for _, edge := range a.commits[i].changes {
			for _, c := range edge {
				if c.New.Mode == "" || src.ReaderOf(c.Path) != src.ReaderOf(b.path) {
					continue
				}
				log, err := src.ReaderOf(c.Path).Read(ctx, c.New, earlier[c.Path])
				if err != nil {
					return 0, "", err
				}
				if !log.Readable() {
					continue
				}
				earlier[c.Path] = log
				if _, ok := b.countAccepted(log.Log.Ledger); ok {
					return i, c.Path, nil
				}
			}
		}
	}
	return -1, "", nil
}

// addAccepted adds the log's entries in one commit to p and, if the log moved there, the path that it left.
func (src *Source) addAccepted(ctx context.Context, p *acceptedHistory, a *ancestry, n int) error {
	commit := &a.commits[n]
	for i, edge := range commit.changes {
		for _, c := range edge {
			if !p.paths[c.Path] {
				continue
			}
			if c.Old.Mode == "" && len(commit.parents) > 0 {
				parent := a.commits[commit.parents[i]].id
				m, err := src.findMoves(ctx, moveSearch{parent: parent, child: commit.id, changes: edge, combines: len(commit.parents) > 1, equal: src.equalByWaivers})
				if err != nil {
					return err
				}
				for _, from := range m.byNewPath()[c.Path] {
					p.paths[from] = true
				}
			}
			log, err := src.ReaderOf(c.Path).Read(ctx, c.New, nil)
			if err != nil {
				return err
			}
			if log.Readable() {
				for _, e := range log.Log.Entries {
					p.entries[e.Digest] = true
				}
			}
		}
	}
	return nil
}

// IsBeforeBaseline reports whether a baseline accepts what a commit did to a log.
func (src *Source) IsBeforeBaseline(ctx context.Context, commit, path string) (bool, error) {
	baselines, err := src.activeBaselines(ctx)
	if err != nil {
		return false, err
	}
	for _, b := range baselines {
		p, err := src.findAcceptedHistory(ctx, b)
		if err != nil {
			return false, err
		}
		if p.commits[commit] && p.paths[path] {
			return true, nil
		}
	}
	return false, nil
}

// EquivalenceOn returns which entries count as equal on an edge: by the waivers, and by baselines that the edge takes over. It takes a baseline over if
// before does not begin with it, and after does or the commit merges a parent that the baseline accepts. The entries that the baseline accepts then count
// neither in before nor in after. Entries that the branch itself recorded count.
func (src *Source) EquivalenceOn(ctx context.Context, parents []string, from, to string, before, after *LedgerFile) (ledger.Equivalence, error) {
	equal := src.EquivalenceByWaivers(from, to)
	baselines, err := src.activeBaselines(ctx)
	if err != nil || before.Log == after.Log {
		return equal, err
	}
	for _, b := range baselines {
		if _, ok := b.countAccepted(before.Log.Ledger); ok {
			continue
		}
		_, takes := b.countAccepted(after.Log.Ledger)
		merges := len(parents) > 1 && (from == b.path || to == b.path)
		if !takes && !merges {
			continue
		}
		p, err := src.findAcceptedHistory(ctx, b)
		if err != nil {
			return equal, err
		}
		if from != b.path && from != b.configured && !p.paths[from] {
			continue // the log at from is not the one that the baseline accepts
		}
		// A merge with a commit that the baseline accepts also takes over the edits made up to there.
		if takes || slices.ContainsFunc(parents, func(id string) bool { return p.commits[id] }) {
			equal = equal.Accepting(p.entries)
		}
	}
	return equal, nil
}

// countAccepted counts the leading entries of a workspace's log that a baseline accepts. If there is no history, the log itself has to begin
// with the baseline.
func (src *Source) countAccepted(ctx context.Context, path string, l *ledger.Ledger) (int, error) {
	if src.History == nil {
		b := src.Policy.BaselineFor(path)
		if b == nil {
			return 0, nil
		}
		if matchBaseline(b, l, changeWaivers(src.Policy, src.Now, path)) == nil {
			src.Mismatched = append(src.Mismatched, b)
			return 0, nil
		}
		return b.Entries, nil
	}
	baselines, err := src.activeBaselines(ctx)
	for _, b := range baselines {
		if n, ok := b.countAccepted(l); ok {
			return n, nil
		}
	}
	return 0, err
}
