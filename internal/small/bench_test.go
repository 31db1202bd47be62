package small

import (
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/smalltest"
)

func BenchmarkCheckSchema(b *testing.B) {
	for _, n := range []int{10, 1_200, 20_000} {
		doc := parsed(b, smalltest.LogText(n))
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if problems := CheckSchema(Progress, doc); len(problems) > 0 {
					b.Fatal(problems[0])
				}
			}
		})
	}
}

// BenchmarkCompileSchema is what the first document of an artifact pays.
func BenchmarkCompileSchema(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		artifactSchema(Progress, artifactText(Progress))
	}
}

func BenchmarkEntryDigest(b *testing.B) {
	entry := parsed(b, smalltest.LogText(1)).Root.Get("entries").Items[0]
	b.ReportAllocs()
	for b.Loop() {
		EntryDigest(entry)
	}
}
