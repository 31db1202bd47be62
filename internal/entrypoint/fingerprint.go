package entrypoint

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
)

// shortestFingerprint is how many digits of a fingerprint have to be given.
const shortestFingerprint = 8

// waivable is a finding of a report as it can be waived.
type waivable struct {
	fingerprint string
	edit        Excuse
}

// FindEdit looks for a finding by its fingerprint (at least its first eight digits): in the index, then in HEAD's history.
func FindEdit(ctx context.Context, req Request, fingerprint string) (Excuse, error) {
	if err := checkLength(fingerprint); err != nil {
		return Excuse{}, err
	}
	req.find = fingerprint
	for _, judge := range []func() *finding.Report{
		func() *finding.Report { return PreCommit(ctx, req) },
		func() *finding.Report { return Audit(ctx, req, "") },
	} {
		r := judge()
		if r.Failure != nil {
			return Excuse{}, r.Failure
		}
		var all []waivable
		for i := range r.Findings {
			f := &r.Findings[i]
			all = append(all, waivable{f.Fingerprint(), Excuse{Rule: f.Rule, Path: f.Path, From: f.EditFrom, To: f.EditTo}})
		}
		if edit, found, err := findIn(all, fingerprint); err != nil || found {
			return edit, err
		}
	}
	return Excuse{}, &failure.Error{
		Message: fmt.Sprintf("no finding has the fingerprint %s, neither in the index nor in HEAD's history", fingerprint),
		Remedy: "stage the change first (`git add`); `small-hook audit --format json` lists the findings of the history with their\n" +
			"fingerprints; or name the report that has it with --report",
	}
}

// FindEditIn looks for a finding by its fingerprint in a JSON report.
func FindEditIn(report []byte, fingerprint string) (Excuse, error) {
	if err := checkLength(fingerprint); err != nil {
		return Excuse{}, err
	}
	var read struct {
		Schema   string
		Findings []struct {
			Rule, Path, Fingerprint string
			Edit                    struct{ From, To string }
		}
		More *struct{} // there if not all are listed
	}
	const remedy = "small-hook audit --format json --output FILE"
	if err := json.Unmarshal(report, &read); err != nil {
		return Excuse{}, &failure.Error{Message: "the report cannot be read as JSON: " + err.Error(), Remedy: remedy, Err: err}
	}
	if !strings.HasPrefix(read.Schema, "small-gate/report/") {
		return Excuse{}, &failure.Error{Message: "this is not a report of small-gate: its schema is not small-gate/report/v1", Remedy: remedy}
	}
	var all []waivable
	for _, f := range read.Findings {
		all = append(all, waivable{f.Fingerprint, Excuse{Rule: f.Rule, Path: f.Path, From: f.Edit.From, To: f.Edit.To}})
	}
	edit, found, err := findIn(all, fingerprint)
	switch {
	case err != nil || found:
		return edit, err
	case read.More != nil:
		return edit, &failure.Error{
			Message: fmt.Sprintf("no listed finding has the fingerprint %s, and the report does not list all findings", fingerprint),
			Remedy:  "leave --report out and run this in the repository: then all findings are searched",
		}
	}
	return edit, &failure.Error{
		Message: fmt.Sprintf("no finding of the report has the fingerprint %s", fingerprint),
		Remedy:  "copy it from the report's \"fingerprint\"",
	}
}

func checkLength(fingerprint string) error {
	if len(fingerprint) >= shortestFingerprint {
		return nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("%q is too short for a fingerprint", fingerprint),
		Remedy:  fmt.Sprintf("give at least %d digits of it", shortestFingerprint),
	}
}

func findIn(all []waivable, fingerprint string) (edit Excuse, found bool, err error) {
	whole := ""
	for _, w := range all {
		if !strings.HasPrefix(w.fingerprint, fingerprint) {
			continue
		}
		if found && w.fingerprint != whole {
			return Excuse{}, false, &failure.Error{
				Message: fmt.Sprintf("several findings have a fingerprint that begins with %s", fingerprint),
				Remedy:  "give more digits of it",
			}
		}
		edit, found, whole = w.edit, true, w.fingerprint
	}
	return edit, found, nil
}
