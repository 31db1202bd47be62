package report

import (
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
)

// verdict is the report's verdict; one that is none of the three is an error,
// as it is for the exit status.
func verdict(r *finding.Report) finding.Verdict {
	switch r.Verdict {
	case finding.Pass, finding.Fail:
		return r.Verdict
	}
	return finding.Error
}

// failureOf is what prevented the judgement, nil where nothing did. Outcome 2
// never goes without a message.
func failureOf(r *finding.Report) *failure.Error {
	if r.Failure == nil && verdict(r) == finding.Error {
		return &failure.Error{
			Message: "the judgement ended without a verdict and without a reason",
			Remedy:  "run the command again; if it says the same, it is a fault of this program: please report it",
		}
	}
	return r.Failure
}
