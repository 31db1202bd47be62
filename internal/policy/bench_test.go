package policy

import (
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// BenchmarkParse reads the smallest configuration, an ordinary one, and one
// with a thousand waivers.
func BenchmarkParse(b *testing.B) {
	ordinary := []byte("version: 1\nstrict: true\nmode: observe\nworkspaces: {exclude: [\"**/testdata/**\"]}\n" +
		"rules: {lint/duplicate-id: error, divergence/plan: off}\nagents: {authors: [\"*[[]bot]*\"]}\n")
	many := ordinary
	for i := range 1000 {
		w := newWaiver(b)
		w.Path = fmt.Sprintf("services/%d/.small/progress.small.yml", i)
		if i == 0 {
			many = append(many, "waivers:\n"...)
		}
		many = append(many, yamltext.Lines("  - ", w.stanza(), "\n")...)
	}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"minimal", []byte("version: 1\n")}, {"ordinary", ordinary}, {"1000-waivers", many},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse("HEAD", c.data, knownRules); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAddWaiver adds the thousandth waiver.
func BenchmarkAddWaiver(b *testing.B) {
	data := []byte("version: 1\nwaivers:\n")
	for i := range 999 {
		w := newWaiver(b)
		w.Path = fmt.Sprintf("services/%d/.small/progress.small.yml", i)
		data = append(data, yamltext.Lines("  - ", w.stanza(), "\n")...)
	}
	w := newWaiver(b)
	for b.Loop() {
		if _, err := AddWaivers(data, []Waiver{w}, knownRules); err != nil {
			b.Fatal(err)
		}
	}
}
