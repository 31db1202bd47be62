package policy_test

import (
	"slices"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/policy/lane"
)

func init() { policy.SetSections(append(slices.Clone(lane.Sections), lane.Workflows)) }
