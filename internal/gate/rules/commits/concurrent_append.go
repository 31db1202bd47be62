package commits

import (
	"cmp"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// ConcurrentAppend is divergence/concurrent-append: two branches both appended to one log.
var ConcurrentAppend = rule.New("divergence/concurrent-append", finding.SeverityError, finding.StageHistory, rule.On(checkConcurrentAppend), rule.On(checkNeighbour))

func checkConcurrentAppend(t *subject.LogTips, r *rule.Reporter) {
	if t.Outcome != ledger.Diverged {
		return
	}
	f := t.Finding()
	f.Common = finding.CommonOf(t.Target, t.TargetOnly)
	f.Sides = []finding.Side{{Name: t.TargetName, Entries: finding.RefsOf(t.TargetOnly)}, {Name: t.HeadName, Entries: finding.RefsOf(t.HeadOnly)}}
	what, noun := "recorded work", "entry"
	if t.Switches {
		what, noun = "switched the workflow of one job", "switch"
	}
	f.Message = fmt.Sprintf("both branches %s since they parted: %s has %s (%s); %s has %s (%s)", what,
		t.TargetName, wording.Count(len(t.TargetOnly), noun), ledger.DescribeAll(t.TargetOnly),
		t.HeadName, wording.Count(len(t.HeadOnly), noun), ledger.DescribeAll(t.HeadOnly))
	if len(t.TargetOnly) == 0 && len(t.HeadOnly) == 0 {
		f.Message = fmt.Sprintf("%s and %s hold the same %s in different orders", t.TargetName, t.HeadName, wording.Plural(noun))
	}
	if t.Switches {
		// No merge can join them, and no waiver make the two one: each began at the
		// workflow that was active where the branches parted.
		f.Subject, f.EditFrom, f.EditTo = f.EditFrom+" "+f.EditTo, "", ""
		f.Fix = "rebase the branch on the other as long as nobody else has it: keep the other side's switches as they are, and record the branch's own again after them, " +
			"from the workflow that they led to; if the branch is already published, push it under another name"
		r.Add(f)
		return
	}
	f.Fix = subject.MergeWith(t.Merge)
	r.Add(f)
}

func checkNeighbour(n *subject.NeighbourLog, r *rule.Reporter) {
	f := n.Finding()
	f.Message = fmt.Sprintf("%s has recorded %s on the same task that you do not have: %s; you have %s that it does not have: %s",
		n.Neighbour.Describe(), wording.Count(len(n.Theirs), "entry"), ledger.DescribeAll(n.Theirs), wording.Count(len(n.HeadOnly), "entry"), ledger.DescribeAll(n.HeadOnly))
	name := cmp.Or(n.Neighbour.Name, history.Short(n.Neighbour.ID))
	f.Common = finding.CommonOf(n.Target, n.TargetOnly)
	f.Sides = []finding.Side{{Name: name, Entries: finding.RefsOf(n.Theirs)}, {Name: "the index", Entries: finding.RefsOf(n.HeadOnly)}}
	f.Fix = "let one of you finish the task, and merge that before the other goes on"
	if n.Neighbour.Worktree == "" {
		f.Fix = "once this is committed, take in what the other has, with small-hook sync"
	}
	r.Add(f)
}
