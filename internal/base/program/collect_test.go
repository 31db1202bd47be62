package program

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// After the first collection memory grows as by default.
func TestCollectLater(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	collectLater()
	for deadline := time.Now().Add(time.Minute); ; runtime.GC() {
		metrics.Read(percent)
		if percent[0].Value.Uint64() == 100 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d percent", percent[0].Value.Uint64())
		}
	}
}
