package gate_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var (
	histories = flag.Int("histories", gittest.Cases(50, 2000), "how many random histories are judged")
	firstSeed = flag.Uint64("seed", gittest.Seed(1), "the first random history's seed")
)

// now is the present in tests of histories: after all made-up entries.
var now = firstTime.AddDate(0, 6, 0)

func testOptions() run.Options { return run.Options{Mode: "test", Now: now} }

// refuses reports whether a report refuses the history, whatever it says about
// the tip's snapshot: made-up entries often do not fit the schema, and no
// other artifact is there.
func refuses(r *finding.Report) bool {
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
		return f.Severity == finding.SeverityError && ofHistory(f)
	})
}

// ofHistory reports whether a finding is about the history: about an edge, or
// about a log that cannot be read.
func ofHistory(f finding.Finding) bool {
	if f.Stage != finding.StageValidate {
		return f.Stage == finding.StageHistory
	}
	switch f.Rule {
	case "validate/missing-artifact":
		return false
	case "validate/schema":
		return strings.Contains(f.Message, `"entries" is`)
	}
	return true
}

// ways counts what happened in random histories, so that a run that compared
// nothing is noticed.
type ways struct{ pass, fail, unsure atomic.Int64 }

func (w *ways) count(v modelVerdict) {
	switch v {
	case fine:
		w.pass.Add(1)
	case unsure:
		w.unsure.Add(1)
	case bad:
		w.fail.Add(1)
	}
}

// disagreement judges a history in every way and returns the first difference
// from the naive model; "" if there is none. It looks at commits one by one
// if each is true, else at a few.
func disagreement(w *world, each bool, seen *ways) string {
	m := w.model()
	h, ids := w.history()
	last := len(ids) - 1
	compare := func(what string, want modelVerdict, r *finding.Report) string {
		if r.Verdict == finding.Error {
			return fmt.Sprintf("%s could not be judged: %v", what, r.Failure)
		}
		seen.count(want)
		if want != unsure && refuses(r) != (want == bad) {
			return fmt.Sprintf("%s is %s in the model, refused by the gate: %v\n%s", what, want, refuses(r), listFindings(r, ids))
		}
		return ""
	}
	audit := gate.Audit(context.Background(), h, ids[last], w.options())
	if d := compare(fmt.Sprintf("audit of c%d", last), m.judgeAudit(last), audit); d != "" {
		return d
	}
	if d := placesDisagree(m, audit, ids); d != "" {
		return d + "\n" + listFindings(audit, ids)
	}
	for i, pair := range w.pairs {
		if !each && i > 1 {
			break
		}
		r := gate.Range(context.Background(), h, ids[pair[0]], ids[pair[1]], w.options())
		if d := compare(fmt.Sprintf("range c%d..c%d", pair[0], pair[1]), m.judgeRange(pair[0], pair[1]), r); d != "" {
			return d
		}
		if !each && i == 0 {
			continue
		}
		r = gate.Push(context.Background(), h, history.Update{Ref: "refs/heads/b", Old: ids[pair[0]], New: ids[pair[1]]}, w.options())
		if d := compare(fmt.Sprintf("push of c%d over c%d", pair[1], pair[0]), m.judgePush(pair[0], pair[1]), r); d != "" {
			return d
		}
	}
	for c := range ids {
		if !each && c%4 != last%4 {
			continue
		}
		h.stage(w.commits[c].tree())
		r := gate.Pending(context.Background(), h, pick(ids, w.commits[c].parents), w.options())
		what := fmt.Sprintf("c%d as the index", c)
		if d := compare(what, m.judgeCommit(c), r); d != "" {
			return d
		}
		if d := familiesDisagree(m, c, r); d != "" {
			return what + ": " + d + "\n" + listFindings(r, ids)
		}
	}
	return ""
}

// placesDisagree compares at which commits an audit refuses something: never
// at one that the model finds fine, and always at the first that the model
// finds bad. What comes after may be the same edit once more.
func placesDisagree(m model, audit *finding.Report, ids []string) string {
	refused := map[string]bool{}
	for _, f := range audit.Findings {
		if f.Severity == finding.SeverityError && ofHistory(f) {
			refused[f.Commit] = true
		}
	}
	first := true
	for _, c := range m.inOrder(len(ids)-1, map[int]bool{}) {
		id := ids[c]
		verdict := m.judgeCommit(c)
		if verdict == fine && refused[id] {
			return fmt.Sprintf("c%d is fine in the model, refused by the audit", c)
		}
		if verdict == bad && first && !refused[id] {
			return fmt.Sprintf("c%d is the first that is bad in the model, but not refused by the audit", c)
		}
		first = first && verdict == fine
	}
	return ""
}

// familiesDisagree compares which kind of finding one commit has: what an
// ordinary commit does is never a divergence, and an unresolved interleaving
// on the edge of a merge is nothing else.
func familiesDisagree(m model, c int, r *finding.Report) string {
	found := map[string]bool{}
	for _, f := range r.Findings {
		if ofHistory(f) && f.Severity == finding.SeverityError {
			family, _, _ := strings.Cut(f.Rule, "/")
			found[family] = true
		}
	}
	if len(m[c].parents) < 2 {
		if found["divergence"] {
			return "an ordinary commit diverges"
		}
		return ""
	}
	var unresolved, other bool
	for _, dir := range workspaceDirs {
		log := m[c].logs[dir]
		if log.state == broken {
			return ""
		}
		var parents [][]modelEntry
		for _, p := range m[c].parents {
			other = other || log.state == absent && m[p].logs[dir].state != absent
			for _, ledger := range m.before(p, dir, m.moves(p, c, true, !m.related(c, slices.Index(m[c].parents, p))), log.state != absent) {
				parents = append(parents, ledger)
				other = other || log.state == readable && judgeWay(ledger, log.entries) != fine
				ledger = required(ledger, log.entries)
				if judgeLedgers(ledger, log.entries) != bad || log.state != readable {
					continue
				}
				if firstPlaces(ledger, log.entries) >= 0 {
					unresolved = true
				} else {
					other = true
				}
			}
		}
		other = other || log.state == readable && judgeNewInMerge(parents, log.entries) != fine
	}
	if !other && unresolved && (!found["divergence"] || found["append-only"]) {
		return "an unresolved merge should be a divergence and nothing else"
	}
	return ""
}

// listFindings writes a report's findings for a person who looks for the
// reason of a disagreement.
func listFindings(r *finding.Report, ids []string) string {
	var out strings.Builder
	for _, f := range r.Findings {
		if ofHistory(f) {
			fmt.Fprintf(&out, "  %s %s c%d from c%d %s:%d: %s\n", f.Severity, f.Rule,
				slices.Index(ids, f.Commit), slices.Index(ids, f.Parent), f.Path, f.Line, f.Message)
		}
	}
	return out.String()
}

// randomTape is the tape of a seed.
func randomTape(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	out := make([]byte, 100+random.IntN(300))
	for i := range out {
		out[i] = byte(random.UintN(256))
	}
	return out
}

// forEachHistory calls a check for many random histories, on several
// processors. The check says what is wrong, or "".
func forEachHistory(t *testing.T, number int, check func(*world) string) {
	t.Helper()
	const batches = 4
	for batch := range batches {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			t.Parallel()
			for i := batch; i < number; i += batches {
				seed := *firstSeed + uint64(i)
				bytes := randomTape(seed)
				if check(buildWorld(&tape{bytes: bytes})) == "" {
					continue
				}
				bytes = shrink(bytes, func(b []byte) bool { return check(buildWorld(&tape{bytes: b})) != "" })
				w := buildWorld(&tape{bytes: bytes})
				t.Fatalf("seed %d, made simpler (tape %x):\n%s\n%s", seed, bytes, w.draw(), check(w))
			}
		})
	}
}

// TestModel compares verdicts about random histories with the naive model.
// A long run: go test ./internal/gate -run TestModel -histories=100000.
func TestModel(t *testing.T) {
	var seen ways
	start := time.Now()
	t.Run("histories", func(t *testing.T) {
		forEachHistory(t, *histories, func(w *world) string { return disagreement(w, *histories > 2000, &seen) })
	})
	pass, fail, open := seen.pass.Load(), seen.fail.Load(), seen.unsure.Load()
	t.Logf("%d histories from seed %d in %s: %d judgements pass, %d fail, %d may do either",
		*histories, *firstSeed, time.Since(start).Round(time.Second), pass, fail, open)
	if *histories >= 1000 && (pass < int64(*histories) || fail < int64(*histories) || open*20 > pass+fail) {
		t.Error("the histories are lopsided: they no longer test much")
	}
}
