package subject

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
)

// LogTips is one log on two branches: the target is to be merged into, the head is to be merged.
type LogTips struct {
	rule.Place
	*ledger.Divergence
	Path                 string
	TargetName, HeadName string
	// Merge is the branch to merge into the checked-out one.
	Merge string
	// Switches is true of a job's switch history.
	Switches bool
}

// Finding begins a finding at the head's first own entry.
func (t *LogTips) Finding() finding.Finding {
	f := finding.Finding{Path: t.Path, EditFrom: t.Target.Head().String(), EditTo: t.Head.Head().String()}
	own := t.HeadOnly
	if len(own) == 0 {
		own = t.Inserted
	}
	if len(own) > 0 {
		f.Line, f.Column = own[0].Pos.Line, own[0].Pos.Column
		f.Entry = finding.RefOf(own[0])
	}
	return f
}
