package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// isRecord reports whether a path is that of a job's or a campaign's record,
// whose switches of workflow are a log.
func (j *judgement) isRecord(path string) bool { return j.opts.Policy.JudgesRecord(path) }

// isLog reports whether a path is that of anything append-only that is judged.
func (j *judgement) isLog(path string) bool {
	return isLedger(path) && j.judges(path) || j.isRecord(path)
}

// logs reads what is append-only at a path.
func (j *judgement) logs(path string) *ledgers {
	if j.isRecord(path) {
		return j.switches
	}
	return j.ledgers
}

// readSwitches reads a record as the log of its switches.
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

// ruleOfUnreadable is the rule that speaks of a log that cannot be read.
func (j *judgement) ruleOfUnreadable(path string, kind small.ProblemKind) *Rule {
	switch {
	case !j.isRecord(path):
		return ruleOfProblem(kind)
	case j.opts.Policy.JudgesJob(path):
		return &ruleWorkflowHistory
	}
	return &ruleWorkflowCampaign
}
