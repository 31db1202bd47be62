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
func (j *judgement) records(ctx context.Context, n node, changes [][]Change, paths []string) error {
	for _, path := range paths {
		if !j.isRecord(path) {
			continue
		}
		if _, err := j.log(ctx, n, path, changes); err != nil {
			return err
		}
		if err := j.turnedBack(ctx, n, path, changes); err != nil {
			return err
		}
	}
	return nil
}

// turnedBack judges on each edge whether a campaign's child has left a status on
// which nothing follows.
func (j *judgement) turnedBack(ctx context.Context, n node, path string, changes [][]Change) error {
	for i, edge := range changes {
		for _, c := range edge {
			if c.Path != path {
				continue
			}
			before, err := j.record(ctx, c.Old)
			if err != nil {
				return err
			}
			after, err := j.record(ctx, c.New)
			if err != nil {
				return err
			}
			if before == nil || after == nil {
				continue
			}
			r := &reporter{commit: n.id}
			if len(n.parents) > 0 {
				r.parent = n.parents[i]
			}
			if turned := after.TurnedBack(before); len(turned) > 0 {
				j.add(runWorkflowRules(&workflowView{path: path, turned: turned}, r))
			}
		}
	}
	return nil
}

// record reads a file as a record; nil where it is none.
func (j *judgement) record(ctx context.Context, f File) (*lane.Record, error) {
	if f.Mode == "" || f.Unmerged {
		return nil, nil
	}
	data, problem, err := readFile(ctx, j.history, f, j.opts.limits())
	if err != nil || problem != nil {
		return nil, err
	}
	r, _ := lane.ParseRecord(f.Path, data, j.opts.limits())
	return r, nil
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
