package logs

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// SessionTips is a session of SMALL 2.0.0 to which both of two branches have added events. TargetOnly and HeadOnly are the files of these events.
type SessionTips struct {
	rule.Place
	Run                  *run.Run
	TargetOnly, HeadOnly []history.File
}

// judgeSessions judges each session of 2.0.0 to which both tips have added events, as a SessionTips. It judges none if a tip descends from the other.
// changed holds the differences between the tips.
func judgeSessions(ctx context.Context, r *run.Run, target, head history.Tip, changed []history.Change) error {
	sessions := map[string]*SessionTips{}
	for _, c := range changed {
		_, name, ok := small.SplitPath(c.Path)
		if !ok || records.KindOf(name) != records.Event || (c.Old.Mode == "") == (c.New.Mode == "") || !r.Source.IsImmutableRecord(c.Path) {
			continue
		}
		s := sessions[path.Dir(c.Path)]
		if s == nil {
			s = &SessionTips{Place: rule.Place{Commit: head.ID, Parent: target.ID}, Run: r}
			sessions[path.Dir(c.Path)] = s
		}
		if c.New.Mode == "" {
			s.TargetOnly = append(s.TargetOnly, c.Old)
		} else {
			s.HeadOnly = append(s.HeadOnly, c.New)
		}
	}
	for folder, s := range sessions {
		if len(s.TargetOnly) == 0 || len(s.HeadOnly) == 0 {
			delete(sessions, folder)
		}
	}
	if len(sessions) == 0 {
		return nil
	}
	bases, err := r.Source.History.MergeBases(ctx, target.ID, head.ID)
	if err != nil || slices.Contains(bases, target.ID) || slices.Contains(bases, head.ID) {
		return err
	}
	for _, folder := range slices.Sorted(maps.Keys(sessions)) {
		if err := r.Collector.Judge(ctx, sessions[folder]); err != nil {
			return err
		}
	}
	return nil
}
