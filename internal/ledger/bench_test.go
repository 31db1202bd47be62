package ledger

import (
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/smalltest"
)

func BenchmarkReadLog(b *testing.B) {
	for _, n := range smalltest.LogSizes {
		data := []byte(smalltest.LogText(n))
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if log, problems := ReadLog(data, small.Limits{}); log == nil {
					b.Fatal(problems)
				}
			}
		})
	}
}

// BenchmarkExtend reads a log to which one entry was appended.
func BenchmarkExtend(b *testing.B) {
	for _, n := range smalltest.LogSizes {
		text := smalltest.LogText(n)
		log, problems := ReadLog([]byte(text), small.Limits{})
		if log == nil {
			b.Fatal(problems)
		}
		data := []byte(text + smalltest.LogEntry(n))
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if longer, problems := log.Extend([]byte(text), data, small.Limits{}); longer == nil || longer.Len() != n+1 {
					b.Fatal(problems)
				}
			}
		})
	}
}
