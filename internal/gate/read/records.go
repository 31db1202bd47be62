package read

import (
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// IsRecord reports whether a path is that of a job's or campaign's record, whose switches are a log.
func (src *Source) IsRecord(path string) bool { return src.Policy.JudgesRecord(path) }

// IsLog reports whether what is at a path is append-only and judged.
func (src *Source) IsLog(path string) bool {
	return IsLedger(path) && src.Judges(path) || src.IsRecord(path)
}

// Logs reads what is append-only at a path.
func (src *Source) Logs(path string) *ledgers {
	if src.IsRecord(path) {
		return src.switches
	}
	return src.Ledgers
}

// readSwitches reads a record as the log of its switches.
func readSwitches(path string, data []byte, limits small.Limits) (*ledger.Log, []small.Problem) {
	r, problems := lane.ParseRecord(path, data, limits)
	if r == nil {
		return nil, problems
	}
	return &ledger.Log{Ledger: r.Ledger()}, nil
}

func switchValues(path string, data []byte, limits small.Limits) ([]*small.Value, error) {
	r, problems := lane.ParseRecord(path, data, limits)
	if r == nil {
		return nil, &failure.Error{Message: path + ": " + problems[0].Message, Remedy: problems[0].Hint}
	}
	return r.SwitchValues(), nil
}

// IsWorkflowOrRecord reports whether a path is that of a workflow file or a record to be judged.
func (src *Source) IsWorkflowOrRecord(path string) bool {
	return src.Policy.JudgesWorkflow(path) || src.IsRecord(path)
}
