package policy_test

import (
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

func init() { policy.SetSections(append(slices.Clone(lane.Sections), lane.Workflows)) }
