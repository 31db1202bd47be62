package profile2

import (
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
)

// Family are workspaces of the profile 2.0.0.
var Family = run.Family{
	Name:  "profile2",
	Rules: []rule.Rule{Canonical, Record, Import, StrayV1, Causal, Policy, SessionFork, LateV1, TwoProfiles, Decision},
	Checks: map[string]rule.Check{
		"validate/not-a-file": CheckOf(small.ProblemNotAFile),
		"validate/too-large":  CheckOf(small.ProblemTooLarge),
		"validate/yaml":       CheckOf(small.ProblemYAML),
		"validate/schema":     CheckOf(small.ProblemSchema),
		"secret/credential":   Credential,
	},
	Workspace: Judge,
}
