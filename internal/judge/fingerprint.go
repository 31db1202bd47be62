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

// Sought selects the findings to waive: those with some fingerprints (at least their first eight digits), or all of a rule.
type Sought struct {
	Fingerprints []string
	Rule         string
}

func (s Sought) matches(rule, fingerprint string) bool {
	return s.Rule != "" && rule == s.Rule || slices.ContainsFunc(s.Fingerprints, func(f string) bool { return strings.HasPrefix(fingerprint, f) })
}

func (s Sought) check() error {
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

// UnknownRule is the failure for the name of a rule that does not exist.
func UnknownRule(name string) error {
	message := fmt.Sprintf("there is no rule %q", name)
	if near := policy.Suggest(name, catalogue.IDs()); near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return &failure.Error{Message: message, Remedy: "`small-hook explain` lists all rules"}
}

// Excuse is an edit that Waive is to excuse.
type Excuse struct {
	// Rule is empty for a rewrite of the log at Path as a whole. From and To are then ledger heads.
	Rule, Path string
	// From and To are digests as text, empty on the side that has none.
	From, To string
	// Reason and Until (a day, 2006-01-02, or empty) go into the stanza.
	Reason, Until string
}

// waivable is a report's finding, as far as a waiver needs it.
type waivable struct {
	fingerprint string
	edit        Excuse
}

// FindEdits looks for findings in the index and in HEAD's history. It finds one for each fingerprint; for a rule, at least one.
func FindEdits(ctx context.Context, req session.Request, sought Sought) ([]Excuse, error) {
	if err := sought.check(); err != nil {
		return nil, err
	}
	req.Find = func(f *finding.Finding) bool { return sought.matches(f.Rule, f.Fingerprint()) }
	req.Strict = true // strict mode finds more in a history
	var all []waivable
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
			all = append(all, waivable{f.Fingerprint(), Excuse{Rule: f.Rule, Path: f.Path, From: f.EditFrom, To: f.EditTo}})
		}
		if sought.Rule == "" && sought.found(all) {
			break
		}
		waived = append(waived, r.Waived...)
	}
	if err := sought.waivedAlready(all, waived); err != nil {
		return nil, err
	}
	return sought.in(all, "in the index or in HEAD's history",
		"stage the change first (`git add`); `small-hook audit --format json` lists the findings of the history with their\n"+
			"fingerprints; or name the report that has it with --report")
}

// FindEditsIn looks for findings in a JSON report.
func FindEditsIn(report []byte, sought Sought) ([]Excuse, error) {
	if err := sought.check(); err != nil {
		return nil, err
	}
	var read struct {
		Schema   string
		Findings []struct {
			Rule, Path, Fingerprint string
			Edit                    struct{ From, To string }
		}
		More *struct{} // present if not all are listed
	}
	const remedy = "small-hook audit --format json --output FILE"
	if err := json.Unmarshal(report, &read); err != nil {
		return nil, &failure.Error{Message: "the report cannot be read as JSON: " + err.Error(), Remedy: remedy, Err: err}
	}
	if !strings.HasPrefix(read.Schema, "small-gate/report/") {
		return nil, &failure.Error{Message: "this is not a report of small-gate: its schema is not small-gate/report/v1", Remedy: remedy}
	}
	var all []waivable
	for _, f := range read.Findings {
		all = append(all, waivable{f.Fingerprint, Excuse{Rule: f.Rule, Path: f.Path, From: f.Edit.From, To: f.Edit.To}})
	}
	if read.More != nil {
		return sought.in(all, "among those that the report lists, which are not all,", "leave --report out and run this in the repository: then all findings are searched")
	}
	return sought.in(all, "in the report", "copy it from the report's \"fingerprint\"")
}

// found reports whether there is a finding for each fingerprint.
func (s Sought) found(all []waivable) bool {
	return !slices.ContainsFunc(s.Fingerprints, func(f string) bool {
		return !slices.ContainsFunc(all, func(w waivable) bool { return strings.HasPrefix(w.fingerprint, f) })
	})
}

// waivedAlready is a failure if a finding that is sought is not among all, because the configuration waives it.
func (s Sought) waivedAlready(all []waivable, waived []finding.Finding) error {
	for _, f := range s.Fingerprints {
		is := func(w finding.Finding) bool { return strings.HasPrefix(w.Fingerprint(), f) }
		if one := (Sought{Fingerprints: []string{f}}); !one.found(all) && slices.ContainsFunc(waived, is) {
			return &failure.Error{
				Message: "the configuration here waives that edit already: " + f,
				Remedy:  "the waiver counts once the target branch has it: bring it there first, in a change of its own",
			}
		}
	}
	return nil
}

// in picks the findings that are sought. where and remedy go into the failure for those that are missing.
func (s Sought) in(all []waivable, where, remedy string) ([]Excuse, error) {
	var fingerprints []string
	for _, w := range all {
		fingerprints = append(fingerprints, w.fingerprint)
	}
	picked := map[string]bool{}
	var out []Excuse
	for _, f := range s.Fingerprints {
		whole, several := finding.Whole(f, fingerprints)
		if several {
			return nil, &failure.Error{Message: "several findings have a fingerprint that begins with " + f, Remedy: "give more digits of it"}
		}
		if whole == "" {
			return nil, &failure.Error{Message: fmt.Sprintf("no finding %s has the fingerprint %s", where, f), Remedy: remedy}
		}
		picked[whole] = true
	}
	seen := map[Excuse]bool{} // one may be found in two commits
	for _, w := range all {
		if (picked[w.fingerprint] || s.Rule != "" && w.edit.Rule == s.Rule) && !seen[w.edit] {
			seen[w.edit] = true
			out = append(out, w.edit)
		}
	}
	if len(out) == 0 {
		return nil, &failure.Error{Message: fmt.Sprintf("no finding %s is of the rule %s", where, s.Rule), Remedy: remedy}
	}
	return out, nil
}
