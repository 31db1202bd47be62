package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/config"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// Adoption is a change that brings a configuration with new or altered stanzas of logs.
type Adoption struct {
	// Tip is the last commit of the change, or the index, whose parents are Parents.
	Tip     string
	Parents []string
	// Target is the tip of the branch that the change will be merged into, or HEAD if there is none; empty if nothing is committed yet. Lands is
	// true if the change replaces the tip of the default branch; Target is then the last commit that both have.
	Target string
	Lands  bool
	// Before are the configurations that the change starts from; After is the new one.
	Before []*policy.Policy
	After  *policy.Policy
}

// isAltered reports whether the change alters how the log at a path is judged.
func (a *Adoption) isAltered(path string) bool {
	now := a.After.LogFor(path)
	return now != nil && !slices.ContainsFunc(a.Before, func(p *policy.Policy) bool { return now.JudgesLike(p.LogFor(path)) })
}

// AltersLogs reports whether the change may alter how a log is judged.
func (a *Adoption) AltersLogs() bool {
	return !slices.ContainsFunc(a.Before, func(p *policy.Policy) bool { return a.After.SameLogs(p) })
}

// Adopt judges the whole history of a change and its target by the stanzas that the change adds or alters. Otherwise they would make a later
// change fail. Findings in commits of the target are listed under config/changed; those in the change's own commits are reported as they will
// be once the configuration counts.
func Adopt(ctx context.Context, h history.History, a Adoption, opts run.Options) *finding.Report {
	commits, err := ownCommits(ctx, h, a)
	if err != nil {
		return run.FailureReport(opts, err)
	}
	found := judgeAdopted(ctx, h, a, opts)
	if found.Verdict == finding.Error {
		return found
	}
	past := map[*policy.Log][]finding.Finding{}
	own := found.Findings[:0:0]
	for _, f := range found.Findings {
		if stanza := a.After.LogFor(f.Path); stanza != nil && f.Commit != "" && !commits[f.Commit] {
			past[stanza] = append(past[stanza], f)
		} else {
			own = append(own, f)
		}
	}
	listed := newRun(h, opts, run.Scope{Tip: history.Tip{ID: a.Tip}}).Do(ctx, func(ctx context.Context, r *run.Run) error {
		for i := range a.After.Logs {
			stanza := &a.After.Logs[i]
			adopted := &config.Adopted{
				Stanza: stanza, PastFindings: past[stanza], Target: a.Target,
				SinceInChange: commits[stanza.Since], ForbidsSince: opts.Floor.ForbidsSince(),
			}
			if err := r.Collector.Judge(ctx, adopted); err != nil {
				return err
			}
		}
		return nil
	})
	found.Findings, found.More.Warnings = own, 0
	if len(own) == 0 && found.Verdict == finding.Fail {
		found.Verdict, found.More = finding.Pass, finding.Counts{} // those beyond the limit are in the target's commits too
	}
	return finding.Combine([]*finding.Report{listed, found})
}

// ownCommits returns the commits that the change adds to its target.
func ownCommits(ctx context.Context, h history.History, a Adoption) (map[string]bool, error) {
	own := map[string]bool{}
	if a.Target == "" {
		return own, nil // nothing is committed yet
	}
	commits, err := h.Commits(ctx, a.tips(), []string{a.Target})
	for _, c := range commits {
		own[c.ID] = true
	}
	return own, err
}

// tips returns the commits whose histories the target will have once it has the change.
func (a *Adoption) tips() []string {
	tips := []string{a.Tip}
	if history.Uncommitted(a.Tip) {
		tips = slices.Clone(a.Parents)
	}
	if a.Target != "" && !a.Lands {
		tips = append(tips, a.Target)
	}
	return tips
}

// judgeAdopted judges all commits of the change and of its target by the new configuration, for the logs that it judges differently.
func judgeAdopted(ctx context.Context, h history.History, a Adoption, opts run.Options) *finding.Report {
	opts.OnlyLastingErrors, opts.Policy = true, a.After
	opts.Compared, opts.Reported, opts.Find, opts.Heads, opts.EachCommit = history.Compared{}, nil, nil, nil, false
	branches := history.Branches{Default: history.Tip{ID: a.Target}, Target: history.Tip{ID: a.Target}}
	if a.Lands {
		branches.Default.ID = a.Tip
	}
	opts.Branches = func(context.Context) (history.Branches, error) { return branches, nil }
	scope := run.Scope{Tip: history.Tip{ID: a.Tip}, Parents: a.Parents, Logs: a.isAltered, Adopts: true}
	opts.Trusted = scope.Before()
	return newRun(h, opts, scope).Do(ctx, func(ctx context.Context, r *run.Run) (err error) {
		r.Learned.Commits, err = r.Source.Commits(ctx, a.tips(), nil)
		if history.Uncommitted(a.Tip) {
			r.Learned.Commits = append(r.Learned.Commits, history.Commit{ID: a.Tip, Parents: a.Parents})
		}
		return err
	}, logs.JudgeCommits)
}
