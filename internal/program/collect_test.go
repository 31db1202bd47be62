package program

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// TestCollectLate wants only the first collection to come late.
func TestCollectLate(t *testing.T) {
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	usual := percent()
	collectLate()
	if got := percent(); got != firstPercent {
		t.Errorf("%d %% at first", got)
	}
	for end := time.Now().Add(10 * time.Second); percent() != usual; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("%d %% after a collection, not %d", percent(), usual)
		}
	}
}
