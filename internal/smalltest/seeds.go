package smalltest

import (
	"flag"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/conformance"
)

// SeedTexts are files that the fuzzers begin with, each once.
func SeedTexts(f *testing.F) [][]byte {
	var out [][]byte
	known := map[string]bool{}
	for _, c := range conformance.Cases(f) {
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

// Seed gives a fuzzer what it begins with. Where nothing is fuzzed, that is tried
// at once: a subtest for each of thousands costs more than what it tests.
func Seed(f *testing.F, try func(), args ...any) {
	if flag.Lookup("test.fuzz").Value.String() != "" {
		f.Add(args...)
		return
	}
	defer func() {
		if f.Failed() {
			f.Logf("the seed is %.2000q", args)
		}
	}()
	try()
}
