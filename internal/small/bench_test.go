package small

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// logText is a progress log of n entries, each about as large as those of
// public logs: 780 bytes.
func logText(n int) string {
	var b strings.Builder
	b.WriteString("small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n")
	for i := range n {
		b.WriteString(logEntry(i))
	}
	return b.String()
}

func logEntry(i int) string {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 61 * time.Second)
	return fmt.Sprintf(`  - timestamp: %q
    task_id: "task-%d"
    replayId: "%064x"
    status: "completed"
    evidence: |
%s    command: "go test ./importer -run 'TestImport/%d'"
    commit: "0123abc"
    notes: %q
`, at.Format("2006-01-02T15:04:05.000000000Z07:00"), i/3, i/100,
		strings.Repeat("      a line of what the tests printed, with words\n", 7), i, strings.Repeat("a note ", 14))
}

var logSizes = []int{10, 1_000, 20_000}

func BenchmarkReadLog(b *testing.B) {
	for _, n := range logSizes {
		data := []byte(logText(n))
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if log, problems := ReadLog(data, Limits{}); log == nil {
					b.Fatal(problems)
				}
			}
		})
	}
}

// BenchmarkExtend reads a log to which one entry was appended.
func BenchmarkExtend(b *testing.B) {
	for _, n := range logSizes {
		text := logText(n)
		log, problems := ReadLog([]byte(text), Limits{})
		if log == nil {
			b.Fatal(problems)
		}
		data := []byte(text + logEntry(n))
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if longer, problems := log.Extend(data, Limits{}); longer == nil || longer.Len() != n+1 {
					b.Fatal(problems)
				}
			}
		})
	}
}

func BenchmarkCheckSchema(b *testing.B) {
	for _, n := range []int{10, 1_200, 20_000} {
		doc := parsed(b, logText(n))
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
		artifactSchema(Progress, schemaText(Progress))
	}
}

func BenchmarkEntryDigest(b *testing.B) {
	entry := parsed(b, logText(1)).Root.Get("entries").Items[0]
	b.ReportAllocs()
	for b.Loop() {
		EntryDigest(entry)
	}
}
