package smalltest

import (
	"flag"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/conformance"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// SeedTexts are files for the fuzzers to begin with, each once. The quick tests use a third of those of others.
func SeedTexts(f *testing.F) [][]byte {
	var out [][]byte
	known := map[string]bool{}
	for i, c := range conformance.Cases(f) {
		if i%gittest.Cases(3, 1) != 0 {
			continue
		}
		for _, data := range c.Files {
			if !known[string(data)] {
				known[string(data)] = true
				out = append(out, data)
			}
		}
	}
	out = append(out, []byte("entries:\n"+strings.ReplaceAll(strings.Join(LogPieces, ""), "D", "  ")))
	for _, piece := range LogPieces {
		out = append(out, []byte("entries:\n"+strings.ReplaceAll(piece, "D", "")))
	}
	for seed := range uint64(50) {
		r := Seeded(seed)
		s := Styler{R: r, T: f}
		out = append(out, []byte(s.Document("entries", []any{RandomMap(r, 3), RandomMap(r, 2)})))
	}
	return out
}

// everySeed is prime, so that it skips no value of a parameter that the seeds cycle through.
const everySeed = 23

var seedsSeen int

// Seed gives a fuzzer its seeds. A fuzzer tries all of them before it begins, and thousands take longer than its time: of more than a
// hundred it gets a sample. Without fuzzing, a seed is tried directly: a subtest for each of thousands takes longer than the test itself.
func Seed(f *testing.F, try func(), args ...any) {
	if flag.Lookup("test.fuzz").Value.String() != "" {
		if seedsSeen++; seedsSeen <= 100 || seedsSeen%everySeed == 0 {
			f.Add(args...)
		}
		return
	}
	defer func() {
		if f.Failed() {
			f.Logf("the seed is %.2000q", args)
		}
	}()
	try()
}
