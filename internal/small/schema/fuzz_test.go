package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

func parsed(t testing.TB, text string) *small.Document {
	t.Helper()
	doc, problems := small.Parse([]byte(text), small.Limits{})
	if doc == nil {
		t.Fatalf("%v\n%q\n%s", problems, text, text)
	}
	return doc
}

// FuzzCheckArtifact demands that any document is judged, as by a JSON Schema
// library, at places within the file.
func FuzzCheckArtifact(f *testing.F) {
	for _, data := range smalltest.SeedTexts(f) {
		for i := range small.Artifacts {
			smalltest.Seed(f, func() { fitsSchemaOrNot(f, data, byte(i)) }, data, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, artifact byte) { fitsSchemaOrNot(t, data, artifact) })
}

func fitsSchemaOrNot(t testing.TB, data []byte, artifact byte) {
	t.Helper()
	doc, _ := small.Parse(data, small.Limits{})
	if doc == nil {
		return
	}
	a := small.Artifacts[int(artifact)%len(small.Artifacts)]
	problems := CheckArtifact(a, doc)
	checkProblems(t, data, problems)
	for _, extensions := range [][]string{nil, Extensions} {
		if diff := cmp.Diff(checkedByLibrary(t, a, doc, extensions), CheckArtifact(a, doc, extensions...), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-library +ours):\n%s\n%q", diff, data)
		}
	}
}

// TestSchemaEntries tries logs whose entries nearly fit.
func TestSchemaEntries(t *testing.T) {
	texts := []string{"a", "\"\"", "' '", "completed", "Completed", "12", "null", "{a: 1}", "{}", "[a]", "0123abc", "0123ABC", "\"0123456\"", strings.Repeat("a1", 32), strings.Repeat("A1", 32), "!!binary aGk=", "|\n      a\n", "2026-01-01"}
	keys := []string{"timestamp", "replayId", "status", "evidence", "verification", "test", "command", "command_sha256", "link", "commit", "notes", "agent_id", "other", "1", "<<"}
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		b := strings.Builder{}
		b.WriteString("small_version: \"1.0.0\"\nowner: agent\nentries:\n")
		for range 1 + r.IntN(6) {
			b.WriteString("  - task_id: " + smalltest.Pick(r, []string{"a", "a", "a", "a", "\"\"", "1"}) + "\n")
			for _, i := range r.Perm(len(keys))[:r.IntN(4)] {
				b.WriteString("    " + keys[i] + ": " + smalltest.Pick(r, texts) + "\n")
			}
		}
		fitsSchemaOrNot(t, []byte(b.String()), byte(slices.Index(small.Artifacts, small.Progress)))
	}
}

func checkProblems(t testing.TB, data []byte, problems []small.Problem) {
	t.Helper()
	lines := 2 + bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + bytes.Count(data, []byte("\u0085")) +
		bytes.Count(data, []byte("\u2028")) + bytes.Count(data, []byte("\u2029"))
	for _, p := range problems {
		if p.Kind == "" || p.Message == "" || p.Pos.Line < 1 || p.Pos.Column < 1 || p.Pos.Line > lines || p.Pos.Column > len(data)+2 {
			t.Fatalf("%#v", p)
		}
		if len(p.Message) > 1000 || len(p.Hint) > 1000 || len(p.Subject) > 1000 {
			t.Fatalf("a message of %d bytes", len(p.Message)+len(p.Hint)+len(p.Subject))
		}
	}
}

func BenchmarkCheckArtifact(b *testing.B) {
	for _, n := range []int{10, 1_200, 20_000} {
		doc := parsed(b, smalltest.LogText(n))
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if problems := CheckArtifact(small.Progress, doc); len(problems) > 0 {
					b.Fatal(problems[0])
				}
			}
		})
	}
}

// BenchmarkCompileSchema measures the extra cost of an artifact's first document.
func BenchmarkCompileSchema(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Of(artifactText(small.Progress), artifactForms)()
	}
}
