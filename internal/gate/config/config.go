// Package config judges the configuration and how it was applied.
package config

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Used is the configuration, with the run that was judged by it.
type Used struct {
	rule.Place
	Run *run.Run
}

// Judge judges the configuration and how it was applied.
func Judge(ctx context.Context, r *run.Run) error {
	if err := r.Collector.Judge(ctx, &Used{rule.Place{Commit: r.Scope.Tip.ID, Found: true}, r}); err != nil {
		return err
	}
	return explainProposed(ctx, r)
}

// explainProposed changes the findings that a waiver in the same change would allow: they then say that the waiver has to come first.
func explainProposed(ctx context.Context, r *run.Run) error {
	file := r.Learned.ConfigChange.New
	if !file.Regular() || len(r.Collector.Report.Findings) == 0 || r.Options.Floor.ForbidsWaivers() {
		return nil
	}
	data, problem, err := read.ReadFile(ctx, r.Source.Tree, file, small.Limits{MaxFileSize: policy.MaxSize})
	if err != nil || problem != nil {
		return err
	}
	proposed, invalid := policy.Parse(file.Path, data, r.Known())
	if invalid != nil {
		return nil //nolint:nilerr // another rule reports it
	}
	if r.Options.Floor.ForbidsBaselines() {
		proposed.Baselines = nil
	}
	approves := func(f finding.Finding) (bool, error) { return approvesRewrite(ctx, r, proposed, f) }
	return r.Collector.ExplainProposed(proposed, approves, func(commit, path string) string {
		s := r.Situation(commit)
		if history.Uncommitted(commit) && len(r.Scope.Parents) > 1 {
			return "" // git cannot commit a single file during a merge: finish the merge first
		}
		fix := remedy.Proposed(s.Undo(path, []string{"git add -- :/" + policy.File, `git commit -m "Waive an edit" -- :/` + policy.File, "git push"}))
		if history.Uncommitted(commit) || s.Standing != history.Own {
			return fix
		}
		return fix + ", `git push`; then make the edit again"
	})
}

// approvesRewrite reports whether a finding is about a rewrite of a log that a proposed configuration approves, and that is not accepted yet.
func approvesRewrite(ctx context.Context, r *run.Run, p *policy.Policy, f finding.Finding) (bool, error) {
	alone := *p
	alone.Waivers = slices.DeleteFunc(slices.Clone(p.Waivers), func(w policy.Waiver) bool { return !w.OfLog || w.Path != f.Path })
	if len(alone.Waivers) == 0 || f.Parent == "" || f.EditFrom == "" && f.EditTo == "" {
		return false, nil
	}
	before, err := r.Source.LogAt(ctx, f.Parent, f.Path)
	if err != nil || !before.Readable() {
		return false, err
	}
	after, err := r.Source.LogAt(ctx, cmp.Or(f.Commit, history.Index), f.Path)
	if err != nil || !after.Readable() {
		return false, err
	}
	accepts := func(p *policy.Policy) bool {
		return read.NewLogComparer(p, f.Path, r.Source.Now).Accepts(before.Log.Ledger, after.Log.Ledger)
	}
	return !accepts(r.Source.Policy) && accepts(&alone), nil
}

// ConfigChanged is config/changed: the change edits the gate's configuration, or a schema that it names.
var ConfigChanged = rule.New("config/changed", finding.SeverityWarning, finding.StagePolicy, rule.On(reportAdopted), rule.On(func(v *Used, r *rule.Reporter) {
	report := func(path, what string) {
		f := finding.Finding{
			Path:    path,
			Message: "this change edits " + what + "; it was judged under the current configuration: " + v.Run.Source.Policy.Source,
			Fix:     "have a person review the change; it takes effect with the next commit, and elsewhere once it is merged",
		}
		if r.RaisedBy != nil {
			f.Fix = "make the edit of " + wording.ShellWord(path) + " a change of its own, " + r.RaisedBy.Elsewhere
		}
		r.Add(f)
	}
	if v.Run.Learned.ConfigChange.Path != "" {
		report(policy.File, "the gate's configuration")
	}
	for _, path := range run.SortedKeys(v.Run.Learned.SchemaChanges) {
		report(path, "the schema of a log")
	}
}))

// WaiverUnused is config/waiver-unused: a waiver allows no edit in the history. Only a judgement of a whole history shows that.
var WaiverUnused = rule.New("config/waiver-unused", finding.SeverityWarning, finding.StagePolicy, rule.On(func(v *Used, r *rule.Reporter) {
	for i, w := range v.Run.Source.Policy.Waivers {
		if v.Run.Scope.Whole && !w.Expired(v.Run.Source.Now) && !v.Run.Collector.WaiverUsed(i) {
			r.Add(waiverFinding(w, "allows nothing in this history", "remove the stanza"))
		}
	}
}))

// WaiverExpired is config/waiver-expired: a waiver's last day has passed.
var WaiverExpired = rule.New("config/waiver-expired", finding.SeverityWarning, finding.StagePolicy, rule.On(func(v *Used, r *rule.Reporter) {
	for _, w := range v.Run.Source.Policy.Waivers {
		if w.Expired(v.Run.Source.Now) {
			r.Add(waiverFinding(w, "was valid until "+w.Until.Format("2006-01-02")+" (UTC)", "remove the stanza, or have a person set a later day"))
		}
	}
}))

func waiverFinding(w policy.Waiver, what, fix string) finding.Finding {
	rule := w.Rule
	if w.OfLog {
		rule = "a whole rewrite"
	}
	from, to := ledger.DigestText(w.From), ledger.DigestText(w.To)
	return finding.Finding{
		Path: policy.File, Line: w.Pos.Line, Column: w.Pos.Column,
		Subject: strings.Join([]string{w.Rule, w.Path, from, to}, " "),
		Message: fmt.Sprintf("the waiver of %s for %s %s", rule, w.Path, what),
		Fix:     fix,
	}
}

// BaselineMismatch is config/baseline-mismatch: a log does not begin with its baseline. Such a baseline is ignored.
var BaselineMismatch = rule.New("config/baseline-mismatch", finding.SeverityWarning, finding.StagePolicy, rule.On(func(v *Used, r *rule.Reporter) {
	fix := "see which commit rewrote the log, and how to take that back: `small-hook audit`"
	if !v.Run.Options.Floor.ForbidsBaselines() {
		fix += "; if the baseline is wrong, a person accepts the log as it is now, with small-hook baseline"
	}
	for _, b := range v.Run.Source.Mismatched {
		r.Add(finding.Finding{
			Path: policy.File, Line: b.Pos.Line, Column: b.Pos.Column, Subject: b.Path,
			Message: fmt.Sprintf("%s does not begin with the baseline of %s; the baseline is ignored and all of the log is judged", b.Path, wording.Count(b.Entries, "entry")),
			Fix:     fix,
		})
	}
}))
