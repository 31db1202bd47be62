package lanes

import (
	"slices"
	"strings"
	"testing"
)

func TestClaimedLanes(t *testing.T) {
	for message, want := range map[string][]string{
		"":                           nil,
		"x":                          nil,
		"Lane: fast":                 {"fast"}, // a title
		"x\n\nLane: fast":            {"fast"},
		"x\n\nlane : deep \n":        {"deep"},
		"x\n\nLANE:\n":               {""},
		"x\n\nLane: fast\nlane: b\n": {"fast", "b"},
		"x\n\nLane:\n\tfast\n":       {"fast"},
		"x\n\nLanes: fast\n":         nil,
		"x\n\nThe Lane: fast\n":      nil,
		"x\n\nLane: fast\n\nwords":   {"fast"},
		"x\n\nwords\nLane: fast\n":   {"fast"},
		"x\n\nwords\r\n LANE : Fast": {"Fast"},
		"x\n\nLane: what\n\nwords":   {"what"},
		"x\n\nLane: the left one\n\nLane:\n\nwords":    nil, // sentences
		"x\n\n* a\n\nLane: deep\n\n* b\n\nLane: fast":  {"fast", "deep"},
		"x\n\nLane: deep\n\nLane: deep":                {"deep"},
		"Squashed commit\n\n    a\n\n    Lane: deep\n": {"deep"},
		"x\n\nLane: \xff\xfe\u00fc":                    {"\ufffd"},
	} {
		if got := claimedLanes(message); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// BenchmarkClaimedLanes is what lanes cost for each commit of a range where
// nobody uses them.
func BenchmarkClaimedLanes(b *testing.B) {
	message := "Read the export\n\n" + strings.Repeat("It has more lines than one, and Lots of them.\n", 6) + "\nSmall-Agent: agent-1\n"
	b.ReportAllocs()
	for b.Loop() {
		if claimedLanes(message) != nil {
			b.Fatal("it claims no lane")
		}
	}
}
