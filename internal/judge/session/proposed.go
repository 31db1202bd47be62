package session

import (
	"context"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/policy"
)

// CheckProposed judges the configuration that a change brings, and adds the findings to r, the change's report. The change ends at tip, which is a
// commit, or the index; for the index, parents are the parents of the next commit. The change was judged by the trusted configuration, but the
// configuration that the change brings will be trusted next. If the new configuration is invalid, no later change could be judged, not even its
// correction. So r fails now (exit status 2), while the configuration is easy to correct. If the new configuration has new or altered stanzas of logs,
// the whole history is judged by these stanzas. A report r that has failed already (exit status 2) is returned as it is.
func (s *Session) CheckProposed(ctx context.Context, tip string, r *finding.Report, parents ...string) (*finding.Report, error) {
	if r.Verdict == finding.Error {
		return r, nil
	}
	p, invalid, err := s.readProposed(ctx, tip)
	if invalid != nil {
		r.Verdict = finding.Error
		r.Failure = &failure.Error{
			Message: "this change adds an invalid configuration: " + failure.Of(invalid).Message,
			Remedy:  "correct it in this change; " + policy.EveryKey,
			Err:     invalid,
		}
	}
	if invalid != nil || err != nil || p == nil || len(p.Logs) == 0 {
		return r, err
	}
	return s.judgeByNewStanzas(ctx, tip, parents, p, r)
}

// judgeByNewStanzas judges the history by the stanzas of logs that a change adds or alters, and adds the findings to r, the change's report. after is
// the configuration that the change brings.
func (s *Session) judgeByNewStanzas(ctx context.Context, tip string, parents []string, after *policy.Policy, r *finding.Report) (*finding.Report, error) {
	a := gate.Adoption{Tip: tip, Parents: parents, After: after, Before: []*policy.Policy{s.Opts.Policy}}
	starts := parents // the commits from which the change starts
	var err error
	if trusted := s.Opts.Trusted; !history.Uncommitted(tip) && trusted != "" {
		starts, err = s.Repo.MergeBases(ctx, trusted, tip)
	}
	if err != nil {
		return nil, err
	}
	for _, commit := range starts {
		data, found, err := githistory.ReadFile(ctx, s.Repo, commit, s.configFile(), policy.MaxSize)
		if err != nil {
			return nil, err
		}
		if p, invalid := policy.ParseWhole(s.configFile(), data, catalogue.Known(), s.schemasAt(ctx, commit)); found && invalid == nil { // an invalid configuration has judged nothing, so the new stanzas are not compared with it
			a.Before = append(a.Before, p)
		}
	}
	if !a.AltersLogs() {
		return r, nil
	}
	if a.Target, a.Lands, err = s.targetOf(ctx, tip, parents); err != nil {
		return nil, err
	}
	added := gate.Adopt(ctx, s.Repo, a, s.Opts)
	out := finding.Combine([]*finding.Report{r, added})
	out.Examined = r.Examined
	return out, nil
}

// targetOf finds target, the last commit that had landed before a change that ends at tip, and lands, for [gate.Adoption].
//
//   - If tip is the default branch's new tip, target is the merge base of the trusted commit and tip, and lands is true.
//   - If tip is another commit, target is the trusted commit.
//   - If tip is the index, target is the tip of the branch into which the checked-out branch will be merged, or else of the default branch.
//
// If none of these shares history with the change, everything that is committed counts as landed: target is tip, or for the index the first of parents,
// "" if there is none.
func (s *Session) targetOf(ctx context.Context, tip string, parents []string) (target string, lands bool, err error) {
	branches, err := s.Opts.Branches(ctx)
	if err != nil {
		return "", false, err
	}
	candidates, isDefaultTip := []string{s.Opts.Trusted}, branches.Default.ID == tip
	if history.Uncommitted(tip) {
		if len(parents) == 0 {
			return "", false, nil
		}
		tip, candidates = parents[0], []string{branches.Target.ID, branches.Default.ID}
	}
	for _, id := range candidates {
		if id == "" {
			continue
		}
		shared, err := s.Repo.MergeBases(ctx, id, tip)
		if err != nil {
			return "", false, err
		}
		if !isDefaultTip && len(shared) > 0 {
			return id, false, nil
		}
		if len(shared) > 0 {
			return shared[0], true, nil
		}
	}
	return tip, false, nil
}
