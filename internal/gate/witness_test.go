package gate_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rules/witnesses"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/witness"
)

// modelSeen is what a witness has seen of one directory's log, in the naive model.
type modelSeen struct {
	entries []modelEntry
	// away is true once the log has moved on to the directory to.
	away bool
	to   string
}

// deleted is the tip of a ref that is gone.
const deleted = -1

// look compares what a ref holds now, commit c, with what was seen, and returns what is seen then.
func (m model) look(seen map[string]modelSeen, c int) (verdict modelVerdict, next map[string]modelSeen) {
	next = map[string]modelSeen{}
	if c == deleted {
		return bad, next
	}
	arrived := map[string]bool{}
	var gone []string
	for _, dir := range workspaceDirs {
		state := m[c].logs[dir].state
		s, known := seen[dir]
		standing := known && !s.away
		arrived[dir] = !standing && state == readable
		if standing && state == absent {
			gone = append(gone, dir)
		}
		if state == readable {
			next[dir] = modelSeen{entries: m[c].logs[dir].entries}
		}
		if known && state == readable {
			verdict = max(verdict, judgeLedgers(s.entries, m[c].logs[dir].entries), judgeWay(s.entries, m[c].logs[dir].entries))
		}
		if known && state == broken {
			verdict = bad
		}
		if s.away && state == absent {
			next[dir] = s
		}
	}
	slices.SortStableFunc(gone, func(a, b string) int { return len(seen[b].entries) - len(seen[a].entries) })
	for len(gone) > 0 {
		log := seen[gone[0]].entries
		var alike, to []string
		for _, dir := range gone {
			if slices.EqualFunc(seen[dir].entries, log, func(a, b modelEntry) bool { return a.version == b.version }) {
				alike = append(alike, dir)
			}
		}
		for _, dir := range workspaceDirs {
			if arrived[dir] && holds(m[c].logs[dir].entries, [][]modelEntry{log}, true) {
				to = append(to, dir)
			}
		}
		moved := len(to) == len(alike) || len(to) > len(alike) && len(log) == 0
		for i, dir := range alike {
			if !moved {
				verdict = bad
				continue
			}
			arrived[to[i]] = false
			next[dir] = modelSeen{entries: log, away: true, to: to[i]}
			now := m[c].logs[to[i]].entries
			verdict = max(verdict, judgeLedgers(log, now), judgeWay(log, now))
		}
		gone = slices.DeleteFunc(gone, func(dir string) bool { return slices.Contains(alike, dir) })
	}
	for range next { // what goes on in a log whose loss was accepted is given up with it
		maps.DeleteFunc(next, func(_ string, s modelSeen) bool {
			_, there := next[s.to]
			return s.away && !there
		})
	}
	return verdict, next
}

// witnessDisagrees has a witness look at a ref that is pushed, with and without force, deleted and recreated, and returns the
// first difference from the naive model. Every other time it accepts what it finds, and goes on from there.
func witnessDisagrees(w *world, seen *ways) string {
	m := w.model()
	h, ids := w.history()
	tips := []int{}
	for i, pair := range w.pairs {
		tips = append(tips, pair[0], pair[1])
		if i%2 == 1 {
			tips = append(tips, deleted)
		}
	}
	for c := range ids {
		tips = append(tips, c)
	}
	state, known := witness.Ref{Name: "refs/heads/b"}, map[string]modelSeen{}
	lookAt := func(i int, accept []string) (*finding.Report, []witness.Ref) {
		at := witnesses.Witnessed{Seen: state, Here: func(string) (bool, error) { return i%2 == 0, nil }}
		if tips[i] != deleted {
			at.Tip = ids[tips[i]]
		}
		return look(h, []witnesses.Witnessed{at}, accept, w.options())
	}
	for i, c := range tips {
		r, next := lookAt(i, nil)
		want, then := m.look(known, c)
		seen.count(want)
		what := fmt.Sprintf("look %d, at c%d,", i, c)
		if r.Verdict == finding.Error || want != unsure && (r.Verdict == finding.Fail) != (want == bad) {
			return fmt.Sprintf("%s is %s in the model, %s by the witness\n%s%v", what, want, r.Verdict, listFindings(r, ids), r.Failure)
		}
		if r.Verdict == finding.Fail {
			if i%2 == 0 {
				continue // it stays where it is
			}
			var accept []string
			for _, f := range r.Findings {
				accept = append(accept, f.Fingerprint())
			}
			if len(accept) > 1 && !slices.Contains(accept[1:], accept[0]) { // one that is there twice is lost twice
				if some, _ := lookAt(i, accept[1:]); some.Verdict != finding.Fail {
					return what + " goes on past a finding that nobody accepted\n" + listFindings(r, ids)
				}
			}
			if r, next = lookAt(i, accept); r.Verdict != finding.Pass {
				return what + " does not go on past what was accepted\n" + listFindings(r, ids)
			}
		}
		known, state = then, witness.Ref{Name: state.Name}
		if len(next) > 0 {
			state = next[0]
		}
		text, err := (&witness.State{Repository: "x", Refs: []witness.Ref{state}}).Text()
		if err != nil {
			return err.Error()
		}
		back, err := witness.Parse(text)
		if err != nil {
			return fmt.Sprintf("%s leaves a state that does not come back: %v\n%s", what, err, text)
		}
		state = back.Refs[0]
	}
	return ""
}

// TestWitnessModel compares a witness with the naive model.
func TestWitnessModel(t *testing.T) {
	var seen ways
	t.Run("histories", func(t *testing.T) {
		forEachHistory(t, *histories, func(w *world) string { return witnessDisagrees(w, &seen) })
	})
	pass, fail, open := seen.pass.Load(), seen.fail.Load(), seen.unsure.Load()
	t.Logf("%d looks pass, %d fail, %d may do either", pass, fail, open)
	if pass < int64(*histories) || fail < int64(*histories) || open*20 > pass+fail {
		t.Error("the histories are lopsided: they no longer test much")
	}
}

// TestWitnessDeletedRef deletes a ref whose logs were seen at two commits. The remedy names the later one, and says whether that one is
// still in the clone.
func TestWitnessDeletedRef(t *testing.T) {
	older, later := strings.Repeat("a", 40), strings.Repeat("b", 40)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	seen := witness.Ref{Name: "refs/heads/b", Logs: []witness.Log{
		{Path: "a/.small/progress.small.yml", Time: at.Add(time.Hour), Commit: later}, {Path: "b/.small/progress.small.yml", Time: at, Commit: older},
	}}
	for here, want := range map[string]string{older: "bbbbbbbbbbbb, which this clone does not have", later: "bbbbbbbbbbbb, which this clone still has"} {
		gone := witnesses.Witnessed{Seen: seen, Here: func(commit string) (bool, error) { return commit == here, nil }}
		r, _ := look(newMemoryHistory(), []witnesses.Witnessed{gone}, nil, testOptions())
		if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Fix, want) {
			t.Errorf("%q is not said: %+v", want, r.Findings)
		}
	}
}

// TestWitnessWaivedModificationReordered waives that b becomes b', and puts a before b: that order no waiver allows.
func TestWitnessWaivedModificationReordered(t *testing.T) {
	f := newFlow(t)
	f.waive("append-only/modified", "b", "b'")
	f.commit("A", "", "b a")
	f.commit("B", "A", "b' a")
	f.commit("C", "A", "a b'")
	_, seen := look(f.h, []witnesses.Witnessed{{Seen: witness.Ref{Name: "HEAD"}, Tip: f.id("A")}}, nil, f.opts)
	for tip, want := range map[string]finding.Verdict{"B": finding.Pass, "C": finding.Fail} {
		at := witnesses.Witnessed{Seen: seen[0], Tip: f.id(tip), Here: func(string) (bool, error) { return true, nil }}
		if r, _ := look(f.h, []witnesses.Witnessed{at}, nil, f.opts); r.Verdict != want {
			t.Errorf("%s is %s, %s is wanted: %v", tip, r.Verdict, want, f.lines(r.Findings))
		}
	}
}

// look compares what refs hold now with what a witness has seen there, and returns what it has seen now.
func look(h history.History, refs []witnesses.Witnessed, accept []string, opts run.Options) (report *finding.Report, seen []witness.Ref) {
	report = gate.Do(context.Background(), h, opts, witnesses.Judge(refs, accept, &seen))
	return report, seen
}
