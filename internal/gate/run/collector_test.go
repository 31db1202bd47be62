package run

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/policy"
)

// TestSeverityOf checks that what a family demands of a commit raises levels, those of notes too, and lowers none.
func TestSeverityOf(t *testing.T) {
	const off finding.Severity = "off"
	for _, test := range []struct {
		own              finding.Severity
		level, demand    policy.Level
		warningsAreError bool
		want             finding.Severity
	}{
		{own: finding.SeverityNote, want: finding.SeverityNote},
		{own: finding.SeverityNote, demand: policy.Warning, want: finding.SeverityWarning},
		{own: finding.SeverityNote, demand: policy.Error, want: finding.SeverityError},
		{own: finding.SeverityNote, warningsAreError: true, want: finding.SeverityNote},
		{own: finding.SeverityNote, demand: policy.Warning, warningsAreError: true, want: finding.SeverityError},
		{own: finding.SeverityNote, level: policy.Off, demand: policy.Off, want: off},
		{own: finding.SeverityWarning, level: policy.Off, want: off},
		{own: finding.SeverityWarning, level: policy.Off, demand: policy.Warning, want: finding.SeverityWarning},
		{own: finding.SeverityWarning, demand: policy.Off, want: finding.SeverityWarning},
		{own: finding.SeverityError, demand: policy.Warning, want: finding.SeverityError},
		{own: finding.SeverityWarning, level: policy.Error, demand: policy.Warning, want: finding.SeverityError},
		{own: finding.SeverityError, level: policy.Warning, demand: policy.Error, want: finding.SeverityError},
	} {
		one := rule.New("append-only/reconciled-insertion", test.own, finding.StageHistory)
		c := &Collector{policy: &policy.Policy{Rules: map[string]policy.Level{}}}
		if test.level != "" {
			c.policy.Rules[one.ID] = test.level
		}
		in := &rule.Rigour{WarningsAreErrors: test.warningsAreError, Rules: map[string]policy.Level{}}
		if test.demand != "" {
			in.Rules[one.ID] = test.demand
		}
		got, _, on := c.severityOf(&one, test.own, in)
		if !on {
			got = off
		}
		if got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
