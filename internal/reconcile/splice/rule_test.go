package splice

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/rules"
)

// TestRuleIsThere: the rule that is asked for is one of the gate's.
func TestRuleIsThere(t *testing.T) {
	if _, ok := rules.Find(timestampOrder); !ok {
		t.Errorf("there is no rule %s", timestampOrder)
	}
}
