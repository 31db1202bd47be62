package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// readSwitches reads a job's record as the ledger of its switches.
func readSwitches(path string, data []byte, limits small.Limits) (*small.Log, []small.Problem) {
	r, problems := lane.ParseRecord(path, data, limits)
	if r == nil {
		return nil, problems
	}
	return &small.Log{Ledger: r.Ledger()}, nil
}

// switchValues gives the switches of a record in full, for an explanation.
func switchValues(path string, data []byte, limits small.Limits) ([]*small.Value, error) {
	r, problems := lane.ParseRecord(path, data, limits)
	if r == nil {
		return nil, &Failure{Message: path + ": " + problems[0].Message, Remedy: problems[0].Hint}
	}
	return r.SwitchValues(), nil
}

// records judges what a node did to the records at some paths; others are passed
// over.
func (j *judgement) records(ctx context.Context, s *step, paths []string) error {
	for _, path := range paths {
		if !j.isRecord(path) {
			continue
		}
		child, parents, err := j.sides(ctx, s, path)
		if err != nil {
			return err
		}
		if _, err := j.logBetween(ctx, s, path, child, parents); err != nil {
			return err
		}
		if err := j.kept(ctx, s.node, path, child, parents, s.changes); err != nil {
			return err
		}
	}
	return nil
}

// keptIn judges what a node with one parent did to what a record holds to.
func (j *judgement) keptIn(ctx context.Context, n node, path string, changes [][]Change) error {
	if !j.isRecord(path) {
		return nil
	}
	s, err := j.step(ctx, n, changes)
	if err != nil {
		return err
	}
	child, parents, err := j.sides(ctx, s, path)
	if err != nil {
		return err
	}
	return j.kept(ctx, n, path, child, parents, changes)
}

// ruleOfProblem is the rule that speaks of a log that cannot be read.
func (j *judgement) ruleOfProblem(path string, kind small.ProblemKind) *Rule {
	switch {
	case !j.isRecord(path):
		return ruleOfProblem(kind)
	case j.opts.Policy.JudgesJob(path):
		return &ruleWorkflowHistory
	}
	return &ruleWorkflowCampaign
}

// recordProblem is the finding of a record's problem. What nobody can read has
// something to do as well, in whatever way it cannot be read.
func recordProblem(path string, p small.Problem) Finding {
	f := problemFinding(path, p)
	if f.Fix == "" {
		f.Fix = "correct the line, or begin again with the last version that can be read (git log --patch -- " + shellQuote(path) + " shows it)"
	}
	return f
}
