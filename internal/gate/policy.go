package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// judgePolicy judges the configuration and how it was applied. Only a whole history shows that a waiver excuses
// nothing.
func judgePolicy(ctx context.Context, r *run.Run) error {
	v := &subject.Policy{
		Place: rule.Place{Commit: r.Scope.Tip.ID, Found: true}, Policy: r.Source.Policy,
		Changed: r.Scope.PolicyChange, Mismatched: r.Source.Mismatched, Unions: r.Scope.Unions,
	}
	for i, w := range r.Source.Policy.Waivers {
		switch {
		case w.Expired(r.Source.Now):
			v.Expired = append(v.Expired, w)
		case r.Scope.Whole && !r.Collector.Used(i):
			v.Unused = append(v.Unused, w)
		}
	}
	r.Collector.Judge(v)
	return answerProposed(ctx, r)
}

// answerProposed says of what a waiver in the same change would excuse that the waiver has to come first.
func answerProposed(ctx context.Context, r *run.Run) error {
	file := r.Scope.PolicyChange.New
	if !file.Regular() || len(r.Collector.Report.Findings) == 0 {
		return nil
	}
	data, problem, err := read.ReadFile(ctx, r.Source.Tree, file, small.Limits{MaxFileSize: policy.MaxSize})
	if err != nil || problem != nil {
		return err
	}
	if proposed, invalid := policy.Parse(file.Path, data, rules.Known()); invalid == nil { // else that is reported, and nothing else counts
		r.Collector.AnswerProposed(proposed, func(commit, path string) string {
			s := r.Situation(commit)
			fix := s.Undo(path, []string{"git add -- :/" + policy.File, `git commit -m "Waive an edit" -- :/` + policy.File, "git push"})
			if history.Uncommitted(commit) || s.Standing != history.Own {
				return fix
			}
			return fix + ", `git push`; then make the edit again"
		})
	}
	return nil
}
