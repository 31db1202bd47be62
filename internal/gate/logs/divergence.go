package logs

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// LogTips compares one log on two branches: the head is to be merged into the target.
type LogTips struct {
	rule.Place
	*ledger.Divergence
	Path                 string
	TargetName, HeadName string
	// MergeFix returns the fix that merges the one branch into the other.
	MergeFix func() string
	// Stanza is the stanza of a configured log; nil for other logs.
	Stanza *policy.Log
	// Unrelated is true if a configured log diverged on branches that share no commit. git does not merge these, so no merge is judged later.
	Unrelated bool
	// Immutable is true if the log is a file of 2.0.0 that must not change.
	Immutable bool
}

// Finding begins a finding at the first entry that only the head has or, if there is none, at the first inserted one.
func (t *LogTips) Finding() finding.Finding {
	f := finding.Finding{Path: t.Path, EditFrom: t.Stanza.Head(t.Target).String(), EditTo: t.Stanza.Head(t.Head).String()}
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

// BothAppendedFinding returns the finding that both sides appended to the log: did says what they did, noun names what they appended.
func (t *LogTips) BothAppendedFinding(did, noun, fix string) finding.Finding {
	f := t.Finding()
	f.Common = finding.CommonOf(t.Target, t.TargetOnly)
	f.Sides = []finding.Side{{Name: t.TargetName, Entries: finding.RefsOf(t.TargetOnly)}, {Name: t.HeadName, Entries: finding.RefsOf(t.HeadOnly)}}
	f.Fix = fix
	f.Message = fmt.Sprintf("both branches %s since they parted: %s has %s (%s); %s has %s (%s)", did,
		t.TargetName, wording.Count(len(t.TargetOnly), noun), ledger.DescribeAll(t.TargetOnly),
		t.HeadName, wording.Count(len(t.HeadOnly), noun), ledger.DescribeAll(t.HeadOnly))
	if len(t.TargetOnly) == 0 && len(t.HeadOnly) == 0 {
		f.Message = fmt.Sprintf("%s and %s hold the same %s in different orders", t.TargetName, t.HeadName, wording.Plural(noun))
	}
	return f
}

// FamilyTips compares a log that a family of rules reads on two branches: only the family's rules judge it.
type FamilyTips struct{ *LogTips }

// judgeForks judges each workspace that both tips have and in which they differ, as a read.Fork. It judges none if a tip descends from the other, or
// if the histories are unrelated. changed holds the differences between the tips.
func judgeForks(ctx context.Context, r *run.Run, target, head history.Tip, changed []history.Change) error {
	dirs := map[string]bool{}
	for _, c := range changed {
		if dir, _, ok := small.SplitPath(c.Path); ok && r.Options.Policy.Judges(dir) && c.Old.Mode != "" && c.New.Mode != "" {
			dirs[dir] = true
		}
	}
	if len(dirs) == 0 {
		return nil
	}
	bases, err := r.Source.History.MergeBases(ctx, target.ID, head.ID)
	if err != nil || len(bases) == 0 || slices.Contains(bases, target.ID) || slices.Contains(bases, head.ID) {
		return err
	}
	for _, dir := range run.SortedKeys(dirs) {
		fork, err := r.Source.ForkOf(ctx, dir, target.ID, head.ID, bases)
		if err != nil {
			return err
		}
		if fork == nil {
			continue
		}
		fork.Place = rule.Place{Commit: head.ID, Parent: target.ID}
		fork.TargetName, fork.HeadName = target.Name, head.Name
		if err := r.Collector.Judge(ctx, fork); err != nil {
			return err
		}
	}
	return nil
}
