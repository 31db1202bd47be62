package entrypoint

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate"
)

// shortestFingerprint is how many digits of a fingerprint have to be given.
const shortestFingerprint = 8

// named is a finding of a report as it can be waived.
type named struct {
	fingerprint string
	edit        Excuse
}

// FindEdit looks for a finding by its fingerprint (or the beginning of one, at
// least eight digits): in the index first, then in HEAD's history.
func FindEdit(ctx context.Context, req Request, fingerprint string) (Excuse, error) {
	if err := longEnough(fingerprint); err != nil {
		return Excuse{}, err
	}
	req.find = fingerprint
	for _, judge := range []func() *gate.Report{
		func() *gate.Report { return PreCommit(ctx, req) },
		func() *gate.Report { return Audit(ctx, req, "") },
	} {
		r := judge()
		if r.Failure != nil {
			return Excuse{}, r.Failure
		}
		var all []named
		for i := range r.Findings {
			f := &r.Findings[i]
			all = append(all, named{f.Fingerprint(), Excuse{Rule: f.Rule, Path: f.Path, From: f.EditFrom, To: f.EditTo}})
		}
		if found, err := only(all, fingerprint); err != nil || found != nil {
			return orNone(found), err
		}
	}
	return Excuse{}, &gate.Failure{
		Message: fmt.Sprintf("no finding has the fingerprint %s, neither in the index nor in HEAD's history", fingerprint),
		Remedy: "stage the change first (git add); small-hook audit --format json lists the findings of the history with their\n" +
			"fingerprints; or name the report that has it with --report",
	}
}

// FindEditIn looks for a finding by its fingerprint in a JSON report, as
// FindEdit does.
func FindEditIn(report []byte, fingerprint string) (Excuse, error) {
	if err := longEnough(fingerprint); err != nil {
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
	const remedy = "write one with: small-hook audit --format json --output FILE"
	if err := json.Unmarshal(report, &read); err != nil {
		return Excuse{}, &gate.Failure{Message: "the report cannot be read as JSON: " + err.Error(), Remedy: remedy, Err: err}
	}
	if !strings.HasPrefix(read.Schema, "small-gate/report/") {
		return Excuse{}, &gate.Failure{Message: "this is no report of small-gate: its schema is not small-gate/report/v1", Remedy: remedy}
	}
	var all []named
	for _, f := range read.Findings {
		all = append(all, named{f.Fingerprint, Excuse{Rule: f.Rule, Path: f.Path, From: f.Edit.From, To: f.Edit.To}})
	}
	found, err := only(all, fingerprint)
	if err == nil && found == nil {
		err = &gate.Failure{
			Message: fmt.Sprintf("no finding of the report has the fingerprint %s", fingerprint),
			Remedy:  "copy it from the report's \"fingerprint\"",
		}
		if read.More != nil {
			err = &gate.Failure{
				Message: fmt.Sprintf("no listed finding has the fingerprint %s, and the report does not list all findings", fingerprint),
				Remedy:  "leave --report out and run this in the repository: then all findings are searched",
			}
		}
	}
	return orNone(found), err
}

func longEnough(fingerprint string) error {
	if len(fingerprint) >= shortestFingerprint {
		return nil
	}
	return &gate.Failure{
		Message: fmt.Sprintf("%q is too short for a fingerprint", fingerprint),
		Remedy:  fmt.Sprintf("give at least %d digits of it", shortestFingerprint),
	}
}

// only finds the one finding whose fingerprint begins so, nil if there is none.
func only(all []named, fingerprint string) (*named, error) {
	var found *named
	for i := range all {
		if !strings.HasPrefix(all[i].fingerprint, fingerprint) {
			continue
		}
		if found != nil && found.fingerprint != all[i].fingerprint {
			return nil, &gate.Failure{
				Message: fmt.Sprintf("the fingerprint %s is that of several findings", fingerprint),
				Remedy:  "give more digits of it",
			}
		}
		found = &all[i]
	}
	return found, nil
}

func orNone(found *named) Excuse {
	if found == nil {
		return Excuse{}
	}
	return found.edit
}
