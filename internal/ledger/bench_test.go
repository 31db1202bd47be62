package ledger

import (
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
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

// BenchmarkCredentials looks for credentials in an entry that has none.
func BenchmarkCredentials(b *testing.B) {
	doc, problems := small.Parse([]byte(`entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    status: "completed"
    evidence: "importer reads 1204 rows of https://example.org/rows?id=7; checksums in import/sums.txt match"
    command: "go test ./... -run 'TestImport|TestCheckpoint' -count 1"
    commit: "1c8dd23941d7a0f5b6c3e2d1f0a9b8c7d6e5f4a3"
    replayId: "3f1d0c5e8b7a69584736251403f2e1d0c9b8a7968574635241302f1e0d9c8b7a"
`), small.Limits{})
	if doc == nil {
		b.Fatal(problems)
	}
	entry := doc.Root.Get("entries").Items[0]
	for b.Loop() {
		if len(credentialsOf(entry)) > 0 {
			b.Fatal("it has one")
		}
	}
}
