package combine

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
)

// TestRuleIsThere: the rule named here exists in the gate.
func TestRuleIsThere(t *testing.T) {
	if _, ok := catalogue.Find(timestampOrder); !ok {
		t.Errorf("there is no rule %s", timestampOrder)
	}
}
