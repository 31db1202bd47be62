package logs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
)

// Twin is a file of the tip whose path differs only in case from that of a configured log, or of a file in one. One of the two paths is the log's; the other
// file may be on another branch.
type Twin struct {
	rule.Place
	Run *run.Run
	// Path is that of the file, Log the other one. IsNew is true if the change adds the file.
	Path, Log string
	IsNew     bool
}

// JudgeTwins judges the files of the tip that are twins of configured logs, if the change has added one of the two.
func JudgeTwins(ctx context.Context, r *run.Run) error {
	p := r.Source.Policy
	if len(p.Logs) == 0 || !r.Scope.Whole && !r.Learned.AddsFiles {
		return nil
	}
	filter := history.Filter{AnyCase: true}
	for i := range p.Logs {
		filter.Patterns = append(filter.Patterns, p.Logs[i].Path)
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, filter)
	if err != nil {
		return err
	}
	alike := map[string][]string{}
	for _, f := range files {
		key := small.Fold(f.Path)
		alike[key] = append(alike[key], f.Path)
	}
	for _, key := range slices.Sorted(maps.Keys(alike)) {
		if paths := alike[key]; len(paths) > 1 {
			if err := judgeAlike(ctx, r, paths); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeAlike judges files of the tip whose paths differ only in case, unless a revision before the change or, in a whole history, the since commit of one
// of the logs has all of them.
func judgeAlike(ctx context.Context, r *run.Run, paths []string) error {
	guarded := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return r.Source.Policy.LogFor(path) == nil })
	if len(guarded) == 0 {
		return nil
	}
	before := map[string]bool{}
	for _, revision := range beforeTwins(r, guarded) {
		if revision == "" {
			continue
		}
		had, err := r.Source.Tree.List(ctx, revision, history.At(paths...))
		if err != nil || len(had) == len(paths) {
			return err
		}
		for _, f := range had {
			before[f.Path] = true
		}
	}
	// The log is a file that was there before, or else the one whose name is last in the order of bytes, in which small letters come after capitals.
	slices.SortFunc(guarded, func(a, b string) int {
		if before[a] != before[b] {
			if before[a] {
				return -1
			}
			return 1
		}
		return strings.Compare(b, a)
	})
	for _, path := range paths {
		if path == guarded[0] {
			continue
		}
		t := &Twin{Place: rule.Place{Commit: r.Scope.Tip.ID, Found: true}, Run: r, Path: path, Log: guarded[0], IsNew: !before[path]}
		if err := r.Collector.Judge(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// judgeTwinsOfTips judges the files that the head has added and that are twins of logs which the target has added, or the other way round: a merge of the
// two branches has both files. changed holds the differences between the tips.
func judgeTwinsOfTips(ctx context.Context, r *run.Run, target, head history.Tip, changed []history.Change) error {
	if len(r.Source.Policy.Logs) == 0 {
		return nil
	}
	ofTarget := map[string]string{}
	for _, c := range changed {
		if c.New.Mode == "" {
			ofTarget[small.Fold(c.Path)] = c.Path
		}
	}
	for _, c := range changed {
		other := ofTarget[small.Fold(c.Path)]
		if c.Old.Mode != "" || other == "" || r.Source.Policy.LogFor(c.Path) == nil && r.Source.Policy.LogFor(other) == nil {
			continue
		}
		bases, err := r.Source.History.MergeBases(ctx, target.ID, head.ID)
		if err != nil {
			return err
		}
		there := false
		for _, base := range bases {
			files, err := r.Source.Tree.List(ctx, base, history.At(c.Path, other))
			if err != nil {
				return err
			}
			there = there || len(files) > 0 // one side has removed it, so a merge does, too
		}
		if there {
			continue
		}
		t := &Twin{Place: rule.Place{Commit: head.ID, Parent: target.ID}, Run: r, Path: c.Path, Log: other, IsNew: true}
		if err := r.Collector.Judge(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// beforeTwins lists the revisions whose twins of some logs are accepted.
func beforeTwins(r *run.Run, logs []string) []string {
	switch {
	case r.Scope.Whole:
		var since []string
		for _, at := range logs {
			since = append(since, r.Source.Policy.LogFor(at).Since)
		}
		return slices.Compact(since)
	case len(r.Scope.Parents) > 0:
		return r.Scope.Parents
	}
	return []string{r.Scope.Before()}
}

// checkTwin reports a twin of a log: on many disks the two are one file.
func checkTwin(t *Twin, r *rule.Reporter) {
	f := finding.Finding{
		Path: t.Path, Line: 1,
		Message: fmt.Sprintf("%s differs from the log %s in nothing but case: macOS and Windows treat the two names as one, and can check out only one of them", wording.Quote(t.Path), wording.Quote(t.Log)),
		Fix:     "rename the one that came later",
	}
	if history.Uncommitted(t.Commit) && t.IsNew {
		f.Fix = "give it a name of its own; to leave it out of the commit: " + wording.Commands("git rm --cached -- "+wording.TopPath(t.Path))
	}
	r.Add(f)
}
