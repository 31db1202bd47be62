package session

import (
	"context"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/policy"
)

// CheckAdded judges the configuration that a change brings, and adds to the change's report. The change ends at tip, which is a commit, or the index
// with its parents. The change itself was judged by the trusted configuration, but the one that it brings will be trusted next. If that is invalid,
// no later change could be judged, not even its correction. So it is outcome 2 now, while it is easy to correct. If it has new or altered stanzas of
// logs, the whole history is judged by them.
func (s *Session) CheckAdded(ctx context.Context, tip string, r *finding.Report, parents ...string) (*finding.Report, error) {
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
	return s.adopt(ctx, tip, parents, p, r)
}

// adopt judges the history by the stanzas of logs that a change adds or alters, and adds what they find to the change's report.
func (s *Session) adopt(ctx context.Context, tip string, parents []string, after *policy.Policy, r *finding.Report) (*finding.Report, error) {
	a := gate.Adoption{Tip: tip, Parents: parents, After: after, Before: []*policy.Policy{s.Opts.Policy}}
	before := parents
	var err error
	if a.Target = s.Opts.Trusted; !history.Uncommitted(tip) && a.Target != "" {
		before, err = s.Repo.MergeBases(ctx, a.Target, tip)
	}
	if err != nil {
		return nil, err
	}
	for _, commit := range before {
		data, found, err := githistory.ReadFile(ctx, s.Repo, commit, s.configFile(), policy.MaxSize)
		if err != nil {
			return nil, err
		}
		if p, invalid := policy.ParseWhole(s.configFile(), data, catalogue.Known(), s.schemasAt(ctx, commit)); found && invalid == nil { // an invalid one judged nothing
			a.Before = append(a.Before, p)
		}
	}
	if !a.Alters() {
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

// targetOf finds what had landed before a change that ends at tip: see [gate.Adoption]. For a committed change that is what the trusted commit has, for
// the index what the branch has into which it will be merged. Where there is neither, everything that is committed has landed.
func (s *Session) targetOf(ctx context.Context, tip string, parents []string) (target string, lands bool, err error) {
	branches, err := s.Opts.Branches(ctx)
	if err != nil {
		return "", false, err
	}
	targets, landed := []string{s.Opts.Trusted}, branches.Landed.ID == tip
	if history.Uncommitted(tip) {
		if len(parents) == 0 {
			return "", false, nil
		}
		tip, targets = parents[0], []string{branches.Target.ID, branches.Landed.ID}
	}
	for _, id := range targets {
		if id == "" {
			continue
		}
		shared, err := s.Repo.MergeBases(ctx, id, tip)
		if err != nil {
			return "", false, err
		}
		if !landed && len(shared) > 0 {
			return id, false, nil
		}
		if len(shared) > 0 {
			return shared[0], true, nil
		}
	}
	return tip, false, nil
}
