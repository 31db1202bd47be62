package gate

import (
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// isRecord reports whether a path is that of a job's or a campaign's record,
// whose switches of workflow are a log.
func (src *source) isRecord(path string) bool { return src.policy.JudgesRecord(path) }

// isLog reports whether a path is that of anything append-only that is judged.
func (src *source) isLog(path string) bool {
	return isLedger(path) && src.judges(path) || src.isRecord(path)
}

// logs reads what is append-only at a path.
func (src *source) logs(path string) *ledgers {
	if src.isRecord(path) {
		return src.switches
	}
	return src.ledgers
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

// isWorkflowOrRecord reports whether a path is that of a workflow file or a record
// to be judged.
func (src *source) isWorkflowOrRecord(path string) bool {
	return src.policy.JudgesWorkflow(path) || src.isRecord(path)
}
