package gate_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Properties that need no model: what never is a finding, what always is one,
// and what a report must not depend on.

// someHistories is how many histories each property is tried on.
func someHistories() int { return max(*histories/20, 20) }

// differ compares two reports; "" if they are the same. It leaves out what a
// finding keeps for waivers and the engine, and no report shows, because that
// depends on the bytes of a log.
func differ(a, b *finding.Report) string {
	return cmp.Diff(a, b, cmpopts.IgnoreFields(finding.Finding{}, "OldPath", "Subject", "Edits", "Whole"))
}

// TestAppendingIsNeverFound: histories in which entries are only appended, and
// the text is written in ever different ways, have no findings.
func TestAppendingIsNeverFound(t *testing.T) {
	forEachHistory(t, someHistories(), func(source *world) string {
		b := &builder{tape: &tape{bytes: randomTape(uint64(len(source.draw())))}}
		var log worldLog
		for i := range 3 + b.n(8) {
			c := worldCommit{logs: map[string]worldLog{}}
			if i > 0 {
				c.parents = []int{i - 1}
			}
			log.entries = append(slices.Clone(log.entries), b.entries(b.n(4))...)
			log.style = b.restyle(log.style)
			c.logs[""] = log
			b.commits = append(b.commits, c)
		}
		h, ids := b.history()
		last := len(ids) - 1
		for _, r := range []*finding.Report{
			gate.Audit(context.Background(), h, ids[last], testOptions()),
			gate.Range(context.Background(), h, ids[0], ids[last], testOptions()),
			gate.Push(context.Background(), h, history.Update{Old: ids[0], New: ids[last]}, testOptions()),
		} {
			if found := listFindings(r, ids); found != "" || r.Verdict == finding.Error {
				return b.draw() + found
			}
		}
		return ""
	})
}

// TestWritingDifferentlyIsNeverFound: every way to write a log against every
// other.
func TestWritingDifferentlyIsNeverFound(t *testing.T) {
	b := &builder{tape: &tape{bytes: randomTape(7)}}
	var entries []logEntry
	for i, text := range someTexts {
		e := b.entry()
		e["evidence"], e["notes"] = text, someTexts[(i+1)%len(someTexts)]
		e["verification"] = map[string]any{"text": text, "n": i, "none": nil, "yes": true}
		entries = append(entries, e)
	}
	var styles []style
	for q := range quoteKinds {
		for bits := range 64 {
			on := func(bit int) bool { return bits>>bit&1 == 1 }
			styles = append(styles, style{
				quotes: q, reversed: on(0), indented: on(1), comments: on(2), crlf: on(3), flow: on(4), anchors: on(5),
			})
		}
	}
	h := newMemoryHistory()
	first := h.commit(worldCommit{logs: map[string]worldLog{"": {entries: entries}}}.tree())
	for _, s := range styles {
		tree := worldCommit{logs: map[string]worldLog{"": {entries: entries, style: s}}}.tree()
		h.stage(tree)
		r := gate.Pending(context.Background(), h, []string{first}, testOptions())
		if found := listFindings(r, []string{first}); found != "" || r.Verdict == finding.Error {
			t.Fatalf("%s\n%v\n%s\n%s", s, r.Failure, found, tree[logPath("")].data)
		}
	}
}

// TestAnyChangeIsFound: whatever value of an earlier entry changes, there is a
// finding that names the entry.
func TestAnyChangeIsFound(t *testing.T) {
	for seed := range uint64(max(someHistories()/50, 2)) {
		b := &builder{tape: &tape{bytes: randomTape(*firstSeed + seed)}}
		entries := b.entries(4)
		entries[1]["verification"] = map[string]any{"ran": "go test", "passed": 12, "all": true}
		h := newMemoryHistory()
		first := h.commit(worldCommit{logs: map[string]worldLog{"": {entries: entries}}}.tree())
		for i, e := range entries[:3] {
			for _, changed := range everyChange(e) {
				now := slices.Clone(entries)
				now[i] = changed
				now = append(now, b.entry())
				h.stage(worldCommit{logs: map[string]worldLog{"": {entries: now, style: b.restyle(style{})}}}.tree())
				r := gate.Pending(context.Background(), h, []string{first}, testOptions())
				names := func(f finding.Finding) bool {
					return ofHistory(f) && f.Severity == finding.SeverityError && f.Entry != nil && f.Entry.Index == i
				}
				if !slices.ContainsFunc(r.Findings, names) || r.Verdict != finding.Fail {
					t.Fatalf("seed %d: not found:\n%s\n%s\n%s", seed, e.key(), changed.key(), listFindings(r, []string{first}))
				}
			}
		}
	}
}

// everyChange lists versions of an entry in which one value differs, a space
// inside a string included.
func everyChange(e logEntry) []logEntry {
	var out []logEntry
	change := func(key string, v any) {
		c := e.clone()
		c[key] = v
		out = append(out, c)
	}
	for key, value := range e {
		for _, v := range otherValues(value) {
			change(key, v)
		}
		without := e.clone()
		delete(without, key)
		renamed := without.clone()
		renamed[key+"2"] = value
		out = append(out, without, renamed)
	}
	change("new", "")
	change("new", nil)
	return slices.DeleteFunc(out, func(c logEntry) bool { return c.key() == e.key() })
}

func otherValues(value any) []any {
	out := []any{nil, true, false, 0, 1, "", " ", map[string]any{}}
	switch v := value.(type) {
	case string:
		for at := range v {
			out = append(out, v[:at]+" "+v[at:], v[:at]+"\u200b"+v[at:])
		}
		out = append(out, v+" ", v+"\n", v+"\t", map[string]any{"text": v})
	case int:
		out = append(out, v+1, -v, fmt.Sprint(v), float64(v)+0.5)
	case bool:
		out = append(out, fmt.Sprint(v))
	case map[string]any:
		for key, inner := range v {
			for _, x := range otherValues(inner) {
				c := maps.Clone(v)
				c[key] = x
				out = append(out, c)
			}
		}
	}
	return out
}

// TestAppendedBytesThatChangeAnEntry: the old bytes are all there, and what
// follows them changes the last entry.
func TestAppendedBytesThatChangeAnEntry(t *testing.T) {
	const before = "small_version: \"1.0.0\"\nowner: agent\nentries:\n" +
		"  - task_id: a\n    evidence: done\n  - task_id: b\n    verification:\n      ran: tests pass\n"
	const text = "small_version: \"1.0.0\"\nowner: agent\nentries:\n  - task_id: a\n    evidence: |\n      done\n"
	for _, c := range []struct{ before, more string }{
		{before, "    notes: more\n"},
		{before, "      more: words\n"},
		{before, "        and more words\n"},
		{before, "\n        and more words\n"},
		{before, "    notes: more\n  - task_id: c\n    evidence: done\n"},
		{before, "    <<: {notes: more}\n"},
		{text, "      and more\n"},
		{text, "      and more\n  - task_id: c\n    evidence: done\n"},
		{text, "      - task_id: c\n"},
		{text, "\n\n      done\n"},
	} {
		h := newMemoryHistory()
		path := logPath("")
		first := h.commit(fileTree{path: {data: c.before}})
		second := h.commit(fileTree{path: {data: c.before + c.more}}, first)
		h.stage(h.trees[second])
		for _, r := range []*finding.Report{
			gate.Pending(context.Background(), h, []string{first}, testOptions()),
			gate.Audit(context.Background(), h, second, testOptions()),
			gate.Range(context.Background(), h, first, second, testOptions()),
		} {
			if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
				return f.Rule == "append-only/modified" || f.Rule == "append-only/deleted"
			}) {
				t.Errorf("not found: %q", c.more)
			}
		}
		// The other way round, the end of an entry is taken away.
		h.stage(h.trees[first])
		if r := gate.Pending(context.Background(), h, []string{second}, testOptions()); !refuses(r) {
			t.Errorf("not found when it is taken away: %q", c.more)
		}
	}
}

// inOtherOrder is a history that lists commits, where order does not matter,
// in another order.
type inOtherOrder struct {
	*memoryHistory
	random *rand.Rand
}

func (h inOtherOrder) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	commits, err := h.memoryHistory.Commits(ctx, include, exclude)
	if err != nil {
		return nil, err
	}
	var out []history.Commit
	listed := map[string]bool{}
	waiting := map[string]bool{}
	for _, c := range commits {
		waiting[c.ID] = true
	}
	for len(out) < len(commits) {
		c := commits[h.random.IntN(len(commits))]
		ready := !listed[c.ID] && !slices.ContainsFunc(c.Parents, func(p string) bool { return waiting[p] })
		if ready {
			out, listed[c.ID] = append(out, c), true
			delete(waiting, c.ID)
		}
	}
	return out, nil
}

// TestReportsDependOnContentAlone: a history judged twice, listed in another
// order, or written so that no log begins with the bytes of an earlier one
// (which takes the long way of reading) has the same report.
func TestReportsDependOnContentAlone(t *testing.T) {
	gittest.Long(t)
	forEachHistory(t, someHistories(), func(w *world) string {
		h, ids := w.history()
		long := *w
		long.commits = nil
		for _, c := range w.commits {
			c.logs = maps.Clone(c.logs)
			for dir, log := range c.logs {
				log.style.first = "# version " + blobID(log.file())
				c.logs[dir] = log
			}
			long.commits = append(long.commits, c)
		}
		asBytesDiffer, _ := long.history()
		other := inOtherOrder{h, rand.New(rand.NewPCG(uint64(len(ids)), 1))}
		judge := func(view history.History, h *memoryHistory) []*finding.Report {
			reports := []*finding.Report{gate.Audit(context.Background(), view, ids[len(ids)-1], testOptions())}
			for _, p := range w.pairs {
				reports = append(reports,
					gate.Range(context.Background(), view, ids[p[0]], ids[p[1]], testOptions()),
					gate.Push(context.Background(), view, history.Update{Old: ids[p[0]], New: ids[p[1]]}, testOptions()))
			}
			for i, c := range w.commits {
				h.stage(h.trees[ids[i]])
				reports = append(reports, gate.Pending(context.Background(), view, pick(ids, c.parents), testOptions()))
			}
			return reports
		}
		reports := judge(h, h)
		for name, view := range map[string]history.History{"twice": h, "other order": other, "long way": asBytesDiffer} {
			under := h
			if name == "long way" {
				under = asBytesDiffer
			}
			for i, again := range judge(view, under) {
				if d := differ(reports[i], again); d != "" {
					return fmt.Sprintf("%s, report %d: %s", name, i, d)
				}
			}
		}
		return ""
	})
}
