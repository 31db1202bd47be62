package small

import (
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

func BenchmarkEntryDigest(b *testing.B) {
	entry := parsed(b, smalltest.LogText(1)).Root.Get("entries").Items[0]
	b.ReportAllocs()
	for b.Loop() {
		EntryDigest(entry)
	}
}
