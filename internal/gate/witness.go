package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/walk"
	"github.com/small-gate/small-gate/internal/witness"
)

// Witness judges what refs hold now by what a witness has seen there, and returns what it has seen now, to be kept if the report has no
// finding. Findings that are accepted, by their fingerprints or the first digits of them, are set apart. A fingerprint of no finding is a
// failure.
func Witness(ctx context.Context, h history.History, refs []walk.Witnessed, accept []string, opts run.Options) (*finding.Report, []witness.Ref) {
	var seen []witness.Ref
	r := run.New(h, opts, run.Scope{})
	report := r.Do(ctx, func(ctx context.Context, r *run.Run) error {
		for _, w := range refs {
			now, err := walk.CompareWitnessed(ctx, r, w)
			if err != nil {
				return err
			}
			if now.Name != "" {
				seen = append(seen, now)
			}
		}
		return setAccepted(&r.Collector.Report, accept)
	})
	return report, seen
}

// setAccepted sets the accepted findings apart.
func setAccepted(r *finding.Report, accept []string) error {
	var all []string
	for i := range r.Findings {
		all = append(all, r.Findings[i].Fingerprint())
	}
	accepted := map[string]bool{}
	for _, a := range accept {
		found, several := finding.Whole(strings.ToLower(a), all)
		switch {
		case len(a) < finding.ShortestFingerprint || found == "":
			return &failure.Error{
				Message: fmt.Sprintf("no finding has the fingerprint %q", a),
				Remedy:  fmt.Sprintf("give --accept at least %d digits of a fingerprint that the witness reports now", finding.ShortestFingerprint),
			}
		case several:
			return &failure.Error{Message: fmt.Sprintf("several findings have a fingerprint that begins with %q", a), Remedy: "give more digits of it"}
		}
		accepted[found] = true
	}
	var left []finding.Finding
	for _, f := range r.Findings {
		if accepted[f.Fingerprint()] {
			f.Reason = "accepted with --accept"
			r.Waived = append(r.Waived, f)
		} else {
			left = append(left, f)
		}
	}
	r.Findings = left
	return nil
}
