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

// shortestAccepted is how many digits of a fingerprint have to be given.
const shortestAccepted = 8

// setAccepted sets the accepted findings apart.
func setAccepted(r *finding.Report, accept []string) error {
	accepted := map[string]bool{}
	for _, a := range accept {
		found := ""
		for _, f := range r.Findings {
			whole := f.Fingerprint()
			if len(a) < shortestAccepted || !strings.HasPrefix(whole, strings.ToLower(a)) {
				continue
			}
			if found != "" && found != whole {
				return &failure.Error{Message: fmt.Sprintf("several findings have a fingerprint that begins with %q", a), Remedy: "give more digits of it"}
			}
			found = whole
		}
		if found == "" {
			return &failure.Error{
				Message: fmt.Sprintf("no finding has the fingerprint %q", a),
				Remedy:  fmt.Sprintf("give --accept at least %d digits of a fingerprint that the witness reports now", shortestAccepted),
			}
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
