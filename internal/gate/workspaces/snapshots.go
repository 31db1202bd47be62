// Package workspaces judges workspaces as of one tree: the pass, and the rules of the families validate, lint and verify.
package workspaces

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// Rules are those about workspaces, in documented order.
var Rules = []rule.Rule{
	rule.New("validate/missing-artifact", finding.SeverityError, finding.StageValidate, rule.On(checkMissing)),
	rule.New("validate/not-a-file", finding.SeverityError, finding.StageValidate, rule.On(checkNotAFile), rule.On(unreadable(small.ProblemNotAFile))),
	rule.New("validate/too-large", finding.SeverityError, finding.StageValidate, rule.On(problemsOf(small.ProblemTooLarge)), rule.On(unreadable(small.ProblemTooLarge))),
	rule.New("validate/yaml", finding.SeverityError, finding.StageValidate, rule.On(problemsOf(small.ProblemYAML)), rule.On(unreadable(small.ProblemYAML))),
	rule.New("validate/multiple-documents", finding.SeverityError, finding.StageValidate, rule.On(problemsOf(small.ProblemDocuments)), rule.On(unreadable(small.ProblemDocuments))),
	rule.New("validate/schema", finding.SeverityError, finding.StageValidate, rule.On(problemsOf(small.ProblemSchema)), rule.On(unreadable(small.ProblemSchema))),

	rule.New("lint/blank", finding.SeverityError, finding.StageLint, rule.On(checkBlank)),
	rule.New("lint/timestamp-format", finding.SeverityError, finding.StageLint, rule.On(checkTimestampFormat)),
	rule.New("lint/timestamp-order", finding.SeverityError, finding.StageLint, rule.On(checkTimestampOrder)),
	rule.New("lint/evidence", finding.SeverityError, finding.StageLint, rule.On(checkEvidence)),
	rule.New("lint/duplicate-id", finding.SeverityWarning, finding.StageLint, rule.On(checkDuplicateID)),
	rule.New("lint/version-quoting", finding.SeverityWarning, finding.StageLint, rule.On(checkVersionQuoting)),
	rule.New("lint/round-trip", finding.SeverityWarning, finding.StageLint, rule.On(checkRoundTrip), rule.On(checkRoundTripOfNew)),
	rule.New("lint/insecure-link", finding.SeverityError, finding.StageLint, rule.On(checkInsecureLink)).InStrictMode(),
	rule.New("lint/layout", finding.SeverityError, finding.StageLint, rule.On(checkLayout)).InStrictMode(),
	rule.New("lint/task-evidence", finding.SeverityError, finding.StageLint, rule.On(checkTaskEvidence)).InStrictMode(),
	rule.New("lint/unknown-task", finding.SeverityError, finding.StageLint, rule.On(checkUnknownTask)).InStrictMode(),

	rule.New("verify/workspace", finding.SeverityError, finding.StageVerify, rule.On(checkWorkspace)),
	rule.New("verify/replay-id", finding.SeverityError, finding.StageVerify, rule.On(checkReplayID)),
	rule.New("verify/handoff-task", finding.SeverityError, finding.StageVerify, rule.On(checkHandoffTask), rule.Reading(checkHandedOver)),
	rule.New("verify/completed-evidence", finding.SeverityError, finding.StageVerify, rule.On(checkCompletedEvidence)),
	rule.New("verify/replay-mismatch", finding.SeverityWarning, finding.StageVerify, rule.On(checkReplayMismatch)),
}

// Changed judges, at the tip, the workspaces that changed.
func Changed(ctx context.Context, r *run.Run) error {
	return At(ctx, r, r.Scope.Tip.ID, run.SortedKeys(r.Learned.Workspaces))
}

// All judges, at the tip, all workspaces.
func All(ctx context.Context, r *run.Run) error { return At(ctx, r, r.Scope.Tip.ID, nil) }

// At judges the workspaces of one revision: all of them, or only those in dirs.
func At(ctx context.Context, r *run.Run, revision string, dirs []string) error {
	if dirs != nil && len(dirs) == 0 {
		return nil
	}
	return judgeAll(ctx, r, revision, history.Workspaces(dirs...), r.Source.Policy.Judges)
}

// Checked judges the workspace in the directory that is checked, even if the configuration excludes it, or, if the check is recursive,
// those at or below it.
func Checked(ctx context.Context, r *run.Run) error {
	s := r.Scope
	if !s.Recursive {
		return judgeAll(ctx, r, s.Tip.ID, history.Workspaces(s.Dir), func(dir string) bool { return dir == s.Dir })
	}
	return judgeAll(ctx, r, s.Tip.ID, history.Workspaces(), func(dir string) bool {
		return r.Source.Policy.Judges(dir) && (s.Dir == "" || dir == s.Dir || strings.HasPrefix(dir, s.Dir+"/"))
	})
}

// judgeAll judges the workspaces among some files of a revision, and notes their ledgers in the report.
func judgeAll(ctx context.Context, r *run.Run, revision string, of history.Filter, judged func(dir string) bool) error {
	files, err := r.Source.Tree.List(ctx, revision, of)
	if err != nil {
		return err
	}
	found, byDir := read.GroupByWorkspace(files)
	found = slices.DeleteFunc(found, func(dir string) bool { return !judged(dir) })
	twins, err := twinsOf(ctx, r, revision, found)
	if err != nil {
		return err
	}
	before, err := logsBefore(ctx, r, found)
	if err != nil {
		return err
	}
	for _, dir := range found {
		is, err := isProfile2(ctx, r, byDir[dir])
		if err != nil {
			return err
		}
		if is {
			r.Examined().Workspaces++
			if err := r.Profile2(ctx, r, revision, dir, byDir[dir]); err != nil {
				return err
			}
			continue
		}
		w, err := r.Source.ReadWorkspace(ctx, dir, byDir[dir])
		if err != nil {
			return err
		}
		w.Twins = twins[dir]
		if err := judge(ctx, r, w, revision, before); err != nil {
			return err
		}
	}
	return nil
}

// isProfile2 reports whether files are those of a workspace of the profile 2.0.0: by its profile or, if that is gone or broken, by records
// without a log of 1.0.0.
func isProfile2(ctx context.Context, r *run.Run, files []history.File) (bool, error) {
	for _, f := range files {
		if _, name, _ := small.SplitPath(f.Path); name == records.ProfileFile {
			if is, err := r.Source.IsProfile2(ctx, f); err != nil || is {
				return is, err
			}
		}
	}
	held := map[records.Kind]bool{}
	log := false
	for _, f := range files {
		_, name, _ := small.SplitPath(f.Path)
		held[records.KindOf(name)], log = true, log || read.IsLedger(f.Path)
	}
	return !log && held[records.Session] && held[records.Event], nil
}

// twinsOf finds, for each of some workspaces, the paths that differ from a directory at or above it only in case.
func twinsOf(ctx context.Context, r *run.Run, revision string, dirs []string) (map[string][]string, error) {
	out := map[string][]string{}
	filter := history.Twins(dirs...)
	if len(filter.Twins) == 0 {
		return out, nil
	}
	files, err := r.Source.Tree.List(ctx, revision, filter)
	at := map[string][]string{} // twins by the directory that has them
	known := small.NewTwins(filter.Twins)
	for _, f := range files {
		for _, of := range known.Of(f.Path) {
			if twin, _ := small.Twin(f.Path, of); !slices.Contains(at[of], twin) {
				at[of] = append(at[of], twin)
			}
		}
	}
	for _, dir := range dirs {
		for _, above := range history.Twins(dir).Twins {
			out[dir] = append(out[dir], at[above]...)
		}
	}
	return out, err
}

// judge judges a workspace, and notes it and its ledger for the report; in full only the tip's, because
// with every commit's snapshot there would be many. before has its log on the side that it is compared with.
func judge(ctx context.Context, r *run.Run, w *read.Workspace, revision string, before map[string]history.File) error {
	r.Examined().Workspaces++
	tip := revision == r.Scope.Tip.ID
	if tip {
		r.Learned.TipWorkspaces = append(r.Learned.TipWorkspaces, w.Dir)
	}
	if log := w.Ledger(); w.HasLedger() {
		state := finding.LedgerState{Path: w.Path(small.Progress), Entries: log.Len(), Head: log.Head()}
		if tip {
			state.Log = finding.LogEntries(log, r.BranchOf)
			if r.Options.Evidence {
				entries := w.List(small.Progress, "entries")
				for i := range min(len(entries), len(state.Log)) {
					text, _ := entries[i].Get("evidence").Str()
					state.Log[i].Evidence = secret.Mask(wording.Clip(text))
				}
			}
		}
		r.Account.Ledgers = append(r.Account.Ledgers, state)
	}
	w.Place, w.Strict = rule.Place{Commit: revision, Found: tip}, r.Collector.Strict
	var err error
	if w.EntriesBefore, err = settled(ctx, r, w, before); err != nil {
		return err
	}
	w.DeletedFix = deleted(r, w.Path(small.Progress))
	w.Situation = func(entry small.Digest) remedy.Situation { return r.SituationOf(entry, revision) }
	return r.Collector.Judge(ctx, w)
}

// deleted is the fix for a log that was deleted by a commit which nobody else has; empty if none was found.
func deleted(r *run.Run, log string) string {
	for _, f := range r.Collector.Report.Findings {
		if f.Rule == "append-only/log-deleted" && f.Path == log && f.Commit != "" && r.Situation(f.Commit).Standing == history.Own {
			return f.Fix
		}
	}
	return ""
}

// logsBefore are the logs of some workspaces on the side that they are compared with, by path; none if there is no such side. They are
// listed at once, because there may be thousands.
func logsBefore(ctx context.Context, r *run.Run, dirs []string) (map[string]history.File, error) {
	before := r.Scope.Before()
	if r.Source.History == nil || r.Scope.Whole || before == "" {
		return nil, nil
	}
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, small.Progress.Path(dir))
	}
	files, err := r.Source.Tree.List(ctx, before, history.At(paths...))
	out := map[string]history.File{}
	for _, f := range files {
		out[f.Path] = f
	}
	return out, err
}

// settled is how many entries a workspace's log has on the side that it is compared with; -1 without a history, all of them in a whole one.
func settled(ctx context.Context, r *run.Run, w *read.Workspace, before map[string]history.File) (int, error) {
	switch {
	case r.Source.History == nil:
		return -1, nil
	case !w.HasLedger():
		return 0, nil
	case r.Scope.Whole:
		return w.Ledger().Len(), nil
	}
	file, there := before[w.Path(small.Progress)]
	if !there {
		return 0, nil
	}
	log, err := r.Source.Ledgers.Read(ctx, file, nil)
	if err != nil || !log.Readable() {
		return 0, err
	}
	return log.Log.Len(), nil
}
