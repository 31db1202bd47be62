package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIdentityCorruption demands the sentence of the protocol's own program for two events with one id, whether all records are read or new ones alone.
func TestIdentityCorruption(t *testing.T) {
	for name, index := range map[string]bool{"verify-causal-twice": false, "verify-causal-twice-index": true} {
		text, err := os.ReadFile(filepath.Join("rules", "profile2", "testdata", "err", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		_, files, _ := strings.Cut(string(text), "\n-- ")
		all := newExample(t, "-- "+files).judge(t, settings{index: index})
		if len(all) != 1 || !strings.HasPrefix(all[0].message, "record identity corruption: event event_00000000000000000000000000000001 has digests ") {
			t.Errorf("%s: %v", name, all)
		}
	}
}
