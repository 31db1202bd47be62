package gate

import (
	"cmp"
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleConcurrentAppend = Rule{
	ID: "divergence/concurrent-append", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkConcurrentAppend), On(checkNeighbour)},
}

func checkConcurrentAppend(t *LogTips, r *Reporter) {
	if t.outcome != diverged {
		return
	}
	f := t.finding()
	f.Common = commonOf(t.target, t.targetOnly)
	f.Sides = []Side{{Name: t.targetName, Entries: refsOf(t.targetOnly)}, {Name: t.headName, Entries: refsOf(t.headOnly)}}
	what, noun := "recorded work", "entry"
	if t.switches {
		what, noun = "switched the workflow of one job", "switch"
	}
	f.Message = fmt.Sprintf("both branches %s since they parted: %s has %s (%s); %s has %s (%s)", what,
		t.targetName, count(len(t.targetOnly), noun), entryList(t.targetOnly),
		t.headName, count(len(t.headOnly), noun), entryList(t.headOnly))
	if len(t.targetOnly) == 0 && len(t.headOnly) == 0 {
		f.Message = fmt.Sprintf("%s and %s hold the same %s in different orders", t.targetName, t.headName, plural(noun))
	}
	if t.switches {
		// No merge can join them, and no waiver make the two one: each began at the
		// workflow that was active where the branches parted.
		f.subject, f.EditFrom, f.EditTo = f.EditFrom+" "+f.EditTo, "", ""
		f.Fix = fmt.Sprintf("on %s, git rebase %s: keep the switches of %s as they are, and record the branch's own again after them, from the workflow that they led to; if the branch is published already, push it under another name",
			t.headName, shellQuote(t.targetName), t.targetName)
		r.Add(f)
		return
	}
	f.Fix = fmt.Sprintf("%s, then %s", t.merge, reconcileHint)
	if ours, theirs, same := atOnce(t.targetOnly, t.headOnly); same {
		f.Fix = fmt.Sprintf("%s of %s and %s of %s have the same time, and small-hook reconcile puts neither first: on its branch, record the one that is not published yet again, with the time of recording (git commit --amend, or git rebase -i); then %s",
			entryWords(ours), t.targetName, entryWords(theirs), t.headName, f.Fix)
	}
	r.Add(f)
}

func checkNeighbour(n *NeighbourLog, r *Reporter) {
	f := n.finding()
	f.Message = fmt.Sprintf("%s has recorded %s in this run that you do not have: %s; you have %s that it does not have: %s",
		n.neighbour.words(), count(len(n.theirs), "entry"), entryList(n.theirs), count(len(n.headOnly), "entry"), entryList(n.headOnly))
	name := cmp.Or(n.neighbour.Name, short(n.neighbour.ID))
	f.Common = commonOf(n.target, n.targetOnly)
	f.Sides = []Side{{Name: name, Entries: refsOf(n.theirs)}, {Name: "the index", Entries: refsOf(n.headOnly)}}
	f.Fix = fmt.Sprintf("let one of you wait for the other, and merge soon: git merge %s, then %s", shellQuote(name), reconcileHint)
	r.Add(f)
}

// atOnce finds two entries, one of each side, that no order of time can tell
// apart.
func atOnce(target, head []small.Entry) (ours, theirs small.Entry, found bool) {
	at := make(map[time.Time]small.Entry, len(target))
	for _, e := range target {
		if instant, ok := parseInstant(e.Timestamp); ok {
			at[instant.UTC()] = e
		}
	}
	for _, e := range head {
		if instant, ok := parseInstant(e.Timestamp); ok {
			if ours, found = at[instant.UTC()]; found {
				return ours, e, true
			}
		}
	}
	return small.Entry{}, small.Entry{}, false
}
