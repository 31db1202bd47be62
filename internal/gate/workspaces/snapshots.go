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

// Rules are the rules about workspaces, in the order of the documentation.
var Rules = []rule.Rule{
	rule.New("validate/missing-artifact", finding.SeverityError, finding.StageValidate, rule.On(checkMissing)),
	rule.New("validate/not-a-file", finding.SeverityError, finding.StageValidate, rule.On(checkNotAFile), rule.On(reportUnreadable(small.ProblemNotAFile))),
	rule.New("validate/too-large", finding.SeverityError, finding.StageValidate, rule.On(reportProblems(small.ProblemTooLarge)), rule.On(reportUnreadable(small.ProblemTooLarge))),
	rule.New("validate/yaml", finding.SeverityError, finding.StageValidate, rule.On(reportProblems(small.ProblemYAML)), rule.On(reportUnreadable(small.ProblemYAML))),
	rule.New("validate/multiple-documents", finding.SeverityError, finding.StageValidate, rule.On(reportProblems(small.ProblemDocuments)), rule.On(reportUnreadable(small.ProblemDocuments))),
	rule.New("validate/schema", finding.SeverityError, finding.StageValidate, rule.On(reportProblems(small.ProblemSchema)), rule.On(reportUnreadable(small.ProblemSchema))),

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
	rule.New("lint/command-proof", finding.SeverityError, finding.StageLint, rule.On(checkCommandProof)).InStrictMode(),

	rule.New("verify/workspace", finding.SeverityError, finding.StageVerify, rule.On(checkWorkspace)),
	rule.New("verify/replay-id", finding.SeverityError, finding.StageVerify, rule.On(checkReplayID)),
	rule.New("verify/handoff-task", finding.SeverityError, finding.StageVerify, rule.On(checkHandoffTask), rule.Reading(checkHandedOver)),
	rule.New("verify/completed-evidence", finding.SeverityError, finding.StageVerify, rule.On(checkCompletedEvidence)),
	rule.New("verify/replay-mismatch", finding.SeverityWarning, finding.StageVerify, rule.On(checkReplayMismatch)),
}

// JudgeChanged judges the workspaces that the change touches, as of the tip.
func JudgeChanged(ctx context.Context, r *run.Run) error {
	return JudgeAt(ctx, r, r.Scope.Tip.ID, run.SortedKeys(r.Learned.Workspaces))
}

// JudgeAll judges all workspaces of the tip.
func JudgeAll(ctx context.Context, r *run.Run) error { return JudgeAt(ctx, r, r.Scope.Tip.ID, nil) }

// JudgeAt judges the workspaces of one revision: those in dirs, or all if dirs is nil.
func JudgeAt(ctx context.Context, r *run.Run, revision string, dirs []string) error {
	if dirs != nil && len(dirs) == 0 {
		return nil
	}
	return judgeMatching(ctx, r, revision, history.Workspaces(dirs...), r.Source.Policy.Judges)
}

// JudgeChecked judges the workspace in the directory that is checked, even if the configuration excludes it. If the check is recursive, it
// judges all workspaces in and below the directory, except for those that the configuration excludes.
func JudgeChecked(ctx context.Context, r *run.Run) error {
	s := r.Scope
	if !s.Recursive {
		return judgeMatching(ctx, r, s.Tip.ID, history.Workspaces(s.Dir), func(dir string) bool { return dir == s.Dir })
	}
	return judgeMatching(ctx, r, s.Tip.ID, history.Workspaces(), func(dir string) bool {
		return r.Source.Policy.Judges(dir) && (s.Dir == "" || dir == s.Dir || strings.HasPrefix(dir, s.Dir+"/"))
	})
}

// judgeMatching judges the workspaces among the files of a revision that a filter selects, as far as judged accepts their directory.
func judgeMatching(ctx context.Context, r *run.Run, revision string, of history.Filter, judged func(dir string) bool) error {
	files, err := r.Source.Tree.List(ctx, revision, of)
	if err != nil {
		return err
	}
	found, byDir := read.GroupByWorkspace(files)
	found = slices.DeleteFunc(found, func(dir string) bool { return !judged(dir) })
	twins, err := findTwins(ctx, r, revision, found)
	if err != nil {
		return err
	}
	before, err := listLogsBefore(ctx, r, found)
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
		if err := judgeWorkspace(ctx, r, w, revision, before); err != nil {
			return err
		}
	}
	return nil
}

// isProfile2 reports whether files belong to a workspace of the profile 2.0.0. The profile file says so; if it is gone or broken, records
// without a log of 1.0.0 do.
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
		held[records.KindOf(name)], log = true, log || read.IsProgress(f.Path)
	}
	return !log && held[records.Session] && held[records.Event], nil
}

// findTwins finds, for each workspace, the paths that differ only in case from its directory or one above it.
func findTwins(ctx context.Context, r *run.Run, revision string, dirs []string) (map[string][]string, error) {
	out := map[string][]string{}
	filter := history.Twins(dirs...)
	if len(filter.Twins) == 0 {
		return out, nil
	}
	files, err := r.Source.Tree.List(ctx, revision, filter)
	at := map[string][]string{} // the twins of each directory
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

// judgeWorkspace judges a workspace, and adds its ledger to the report. The entries are reported only for the tip: if every commit is judged,
// there would be too many. before holds the logs before the change; see listLogsBefore.
func judgeWorkspace(ctx context.Context, r *run.Run, w *read.Workspace, revision string, before map[string]history.File) error {
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
	if w.EntriesBefore, err = countEntriesBefore(ctx, r, w, before); err != nil {
		return err
	}
	if w.Strict {
		if w.Proofs, err = findProofs(ctx, r, w, revision); err != nil {
			return err
		}
	}
	w.DeletedFix = findDeletedFix(r, w.Path(small.Progress))
	w.Situation = func(entry small.Digest) (s remedy.Situation) {
		s = r.SituationOf(entry, revision)
		s.MendFirst = rejectsOwnCommit(r, w.Path(small.Progress))
		return s
	}
	w.SituationOfCopy = func(entry small.Digest) remedy.Situation { return r.SituationOfCopy(entry, revision) }
	return r.Collector.Judge(ctx, w)
}

// rejectsOwnCommit reports whether an error about a log names a commit that has not landed.
func rejectsOwnCommit(r *run.Run, log string) bool {
	return slices.ContainsFunc(r.Collector.Report.Findings, func(f finding.Finding) bool {
		if f.Path != log || f.Severity != finding.SeverityError || f.Commit == "" || history.Uncommitted(f.Commit) {
			return false
		}
		standing := r.Situation(f.Commit).Standing
		return standing == history.Own || standing == history.Published
	})
}

// findDeletedFix returns the fix for a log that was deleted by a commit which nobody else has; empty if no finding says so.
func findDeletedFix(r *run.Run, log string) string {
	for _, f := range r.Collector.Report.Findings {
		if f.Rule == "append-only/log-deleted" && f.Path == log && f.Commit != "" && r.Situation(f.Commit).Standing == history.Own {
			return f.Fix
		}
	}
	return ""
}

// listLogsBefore returns the logs of workspaces as they were before everything that is judged, by path; none for a whole history. It lists all
// of them at once, because there may be thousands.
func listLogsBefore(ctx context.Context, r *run.Run, dirs []string) (map[string]history.File, error) {
	before := r.Scope.Before()
	if r.Source.History == nil || r.Scope.Whole || before == "" {
		return nil, nil
	}
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, small.Progress.Path(dir))
	}
	return history.ListByPath(ctx, r.Source.Tree, before, history.At(paths...))
}

// countEntriesBefore counts the entries that a workspace's log had before everything that is judged. It is all of them for a whole history, and
// -1 if there is no history.
func countEntriesBefore(ctx context.Context, r *run.Run, w *read.Workspace, before map[string]history.File) (int, error) {
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
	log, err := r.Source.ProgressReader.Read(ctx, file, nil)
	if err != nil || !log.Readable() {
		return 0, err
	}
	return log.Log.Len(), nil
}
