package divergence

import (
	"cmp"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
)

// checkNeighbour reports a neighbour, another work tree or the upstream branch, that has recorded work on the same task. CompareNeighbours
// lowers it to a warning, unless the configuration makes the rule an error.
func checkNeighbour(n *logs.NeighbourLog, r *rule.Reporter) {
	f := n.Finding()
	f.Message = fmt.Sprintf("%s has recorded %s on the same task, which the index lacks: %s; the index has %s that the other lacks: %s",
		n.Neighbour.Describe(), wording.Count(len(n.Theirs), "entry"), ledger.DescribeAll(n.Theirs), wording.Count(len(n.HeadOnly), "entry"), ledger.DescribeAll(n.HeadOnly))
	name := cmp.Or(n.Neighbour.Name, history.Short(n.Neighbour.ID))
	f.Common = finding.CommonOf(n.Target, n.TargetOnly)
	f.Sides = []finding.Side{{Name: name, Entries: finding.RefsOf(n.Theirs)}, {Name: "the index", Entries: finding.RefsOf(n.HeadOnly)}}
	f.Fix = "let one of you finish the task, and merge that before the other goes on"
	if n.Neighbour.Worktree == "" {
		f.Fix = "take in what the other has: `small-hook sync`"
	}
	r.Add(f)
}
