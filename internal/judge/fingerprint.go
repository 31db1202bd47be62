package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// EditSelection selects the findings to waive: those with a fingerprint in Fingerprints, and those of Rule.
type EditSelection struct {
	// Fingerprints are fingerprints, or at least their first finding.ShortestFingerprint digits.
	Fingerprints []string
	// Rule is a rule's id; empty selects no rule.
	Rule string
}

// matches reports whether the selection has a finding of this rule, with this fingerprint.
func (s EditSelection) matches(rule, fingerprint string) bool {
	return s.Rule != "" && rule == s.Rule || slices.ContainsFunc(s.Fingerprints, func(f string) bool { return strings.HasPrefix(fingerprint, f) })
}

// validate fails if a fingerprint is too short, or if there is no rule with the name Rule.
func (s EditSelection) validate() error {
	for _, f := range s.Fingerprints {
		if len(f) < finding.ShortestFingerprint {
			return &failure.Error{
				Message: fmt.Sprintf("%q is too short for a fingerprint", f),
				Remedy:  fmt.Sprintf("give at least %d digits of it", finding.ShortestFingerprint),
			}
		}
	}
	if _, known := catalogue.Find(s.Rule); s.Rule != "" && !known {
		return UnknownRule(s.Rule)
	}
	return nil
}

// UnknownRule returns the failure for a name that no rule has.
func UnknownRule(name string) error {
	message := fmt.Sprintf("there is no rule %q", name)
	if near := policy.Suggest(name, catalogue.IDs()); near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return &failure.Error{Message: message, Remedy: "`small-hook explain` lists all rules"}
}

// EditToWaive is an edit for which edit.Waive writes a waiver.
type EditToWaive struct {
	// Rule is empty if the waiver is for a rewrite of the log at Path as a whole. From and To are then ledger heads.
	Rule, Path string
	// From and To are digests as text. From is empty if the edit adds something, To if it removes something.
	From, To string
	// Reason and Until (a day as in 2006-01-02, or empty) go into the waiver.
	Reason, Until string
}

// foundEdit is the edit that a finding reports, with the finding's fingerprint.
type foundEdit struct {
	fingerprint string
	edit        EditToWaive
}

// FindEdits judges the index and HEAD's history, and returns the edits that the selected findings report. It fails if no finding has a selected
// fingerprint, or if none is of the selected rule.
func FindEdits(ctx context.Context, req session.Request, sought EditSelection) ([]EditToWaive, error) {
	if err := sought.validate(); err != nil {
		return nil, err
	}
	req.Find = func(f *finding.Finding) bool { return sought.matches(f.Rule, f.Fingerprint()) }
	req.Strict = true // audit reports more in strict mode
	var all []foundEdit
	var waived []finding.Finding
	for _, judge := range []func() *finding.Report{
		func() *finding.Report { return PreCommit(ctx, req) },
		func() *finding.Report { return Audit(ctx, req, "") },
	} {
		r := judge()
		if r.Failure != nil {
			return nil, r.Failure
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			all = append(all, foundEdit{f.Fingerprint(), EditToWaive{Rule: f.Rule, Path: f.Path, From: f.EditFrom, To: f.EditTo}})
		}
		if sought.Rule == "" && sought.foundAll(all) {
			break
		}
		waived = append(waived, r.Waived...)
	}
	if err := sought.checkNotWaived(all, waived); err != nil {
		return nil, err
	}
	return sought.pick(all, "in the index or in HEAD's history",
		"stage the change first (`git add`); `small-hook audit --format json` lists the findings of the history with their\n"+
			"fingerprints; or name the report that has it with --report")
}

// FindEditsIn returns the edits of the selected findings in a JSON report. It fails as FindEdits does.
func FindEditsIn(report []byte, sought EditSelection) ([]EditToWaive, error) {
	if err := sought.validate(); err != nil {
		return nil, err
	}
	var read struct {
		Schema   string
		Findings []struct {
			Rule, Path, Fingerprint string
			Edit                    struct{ From, To string }
		}
		More *struct{} // nil if the report lists all findings
	}
	const remedy = "small-hook audit --format json --output FILE"
	if err := json.Unmarshal(report, &read); err != nil {
		return nil, &failure.Error{Message: "the report cannot be read as JSON: " + err.Error(), Remedy: remedy, Err: err}
	}
	if !strings.HasPrefix(read.Schema, "small-gate/report/") {
		return nil, &failure.Error{Message: "this is not a report of small-gate: its schema is not small-gate/report/v1", Remedy: remedy}
	}
	var all []foundEdit
	for _, f := range read.Findings {
		all = append(all, foundEdit{f.Fingerprint, EditToWaive{Rule: f.Rule, Path: f.Path, From: f.Edit.From, To: f.Edit.To}})
	}
	if read.More != nil {
		return sought.pick(all, "that the report lists (it does not list all)", "leave --report out and run this in the repository: then all findings are searched")
	}
	return sought.pick(all, "in the report", "copy it from the report's \"fingerprint\"")
}

// foundAll reports whether all has a finding for each fingerprint of the selection.
func (s EditSelection) foundAll(all []foundEdit) bool {
	return !slices.ContainsFunc(s.Fingerprints, func(f string) bool {
		return !slices.ContainsFunc(all, func(e foundEdit) bool { return strings.HasPrefix(e.fingerprint, f) })
	})
}

// checkNotWaived fails if a selected fingerprint is not in all because the configuration already waives the finding. waived are the findings that the
// configuration waives.
func (s EditSelection) checkNotWaived(all []foundEdit, waived []finding.Finding) error {
	for _, f := range s.Fingerprints {
		matches := func(w finding.Finding) bool { return strings.HasPrefix(w.Fingerprint(), f) }
		if only := (EditSelection{Fingerprints: []string{f}}); !only.foundAll(all) && slices.ContainsFunc(waived, matches) {
			return &failure.Error{
				Message: "the configuration here waives that edit already: " + f,
				Remedy:  "the waiver counts once the target branch has it: bring it there first, in a change of its own",
			}
		}
	}
	return nil
}

// pick returns the edits of the selected findings, each edit once. where and remedy are texts for the failure if a selected fingerprint or the selected
// rule has no finding.
func (s EditSelection) pick(all []foundEdit, where, remedy string) ([]EditToWaive, error) {
	var fingerprints []string
	for _, e := range all {
		fingerprints = append(fingerprints, e.fingerprint)
	}
	picked := map[string]bool{}
	var out []EditToWaive
	for _, f := range s.Fingerprints {
		full, several := finding.Complete(f, fingerprints)
		if several {
			return nil, &failure.Error{Message: "several findings have a fingerprint that begins with " + f, Remedy: "give more digits of it"}
		}
		if full == "" {
			return nil, &failure.Error{Message: fmt.Sprintf("no finding %s has the fingerprint %s", where, f), Remedy: remedy}
		}
		picked[full] = true
	}
	seen := map[EditToWaive]bool{} // an edit may be reported for two commits
	for _, e := range all {
		if (picked[e.fingerprint] || s.Rule != "" && e.edit.Rule == s.Rule) && !seen[e.edit] {
			seen[e.edit] = true
			out = append(out, e.edit)
		}
	}
	if len(out) == 0 {
		return nil, &failure.Error{Message: fmt.Sprintf("no finding %s is of the rule %s", where, s.Rule), Remedy: remedy}
	}
	return out, nil
}
