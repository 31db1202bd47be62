package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
)

func TestLaneTrailers(t *testing.T) {
	for message, want := range map[string][]string{
		"":                           nil,
		"x":                          nil,
		"Lane: fast":                 nil, // a title
		"x\n\nLane: fast":            {"fast"},
		"x\n\nlane : deep \n":        {"deep"},
		"x\n\nLANE:\n":               {""},
		"x\n\nLane: fast\nlane: b\n": {"fast", "b"},
		"x\n\nLane:\n\tfast\n":       {"fast"},
		"x\n\nLanes: fast\n":         nil,
		"x\n\nThe Lane: fast\n":      nil,
		"x\n\nLane: fast\n\nwords":   nil,
		"x\n\nwords\nLane: fast\n":   nil,
		"x\n\nLane: \xff\xfe\u00fc":  {"\ufffd"},
	} {
		if got := gate.LaneTrailers([]byte(message)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// BenchmarkLaneTrailers is what lanes cost for each commit of a range where
// nobody uses them.
func BenchmarkLaneTrailers(b *testing.B) {
	message := []byte("Read the export\n\n" + strings.Repeat("It has more lines than one, and Lots of them.\n", 6) + "\nSmall-Agent: agent-1\n")
	b.ReportAllocs()
	for b.Loop() {
		if gate.LaneTrailers(message) != nil {
			b.Fatal("it claims no lane")
		}
	}
}
