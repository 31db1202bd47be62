package appendonly

import (
	"testing"

	"github.com/small-gate/small-gate/internal/policy"
)

// TestAfter: runs of digits are numbers, all else is text, and names with the same version have no order.
func TestAfter(t *testing.T) {
	for _, pair := range [][2]string{
		{"9_a.sql", "10_a.sql"}, {"0009_b.sql", "0010_a.sql"}, {"V2__x.sql", "V10__x.sql"}, {"schema.sql", "schema2.sql"}, {"a.sql", "a_b.sql"}, {"1.9.0.sql", "1.10.0.sql"},
		{"20240101120000_a.sql", "20240101120001_a.sql"}, {"1_a.sql", "1a.sql"},
		{"2026_01_02_101010_b.php", "2026_01_03_101010_a.php"}, {"2026_01_31.md", "2026_02_01.md"}, {"V1_9__b.sql", "V1_10__a.sql"},
	} {
		if !sortsAfter(policy.ByName, pair[1], pair[0]) || sortsAfter(policy.ByName, pair[0], pair[1]) {
			t.Errorf("%s should sort after %s", pair[1], pair[0])
		}
	}
	for _, pair := range [][2]string{{"7_a.sql", "7_b.sql"}, {"007_a.sql", "7_b.sql"}, {"V7__a.sql", "V7__b.sql"}, {"7_a.sql", "7_a.sql"}, {"7__a.sql", "7_b.sql"},
		{"V1_9__a.sql", "V01_9__b.sql"}, {"0007_2_a.sql", "0007_b.sql"}} {
		if sortsAfter(policy.ByName, pair[0], pair[1]) || sortsAfter(policy.ByName, pair[1], pair[0]) {
			t.Errorf("%s and %s have one version", pair[0], pair[1])
		}
	}
}

// TestAfterByNumber: the first run of digits decides, and nothing else.
func TestAfterByNumber(t *testing.T) {
	for _, pair := range [][2]string{{"0007_z.sql", "0008_a.sql"}, {"9_a.sql", "V10__x.sql"}, {"readme.md", "0001_a.sql"}} {
		if !sortsAfter(policy.ByNumber, pair[1], pair[0]) || sortsAfter(policy.ByNumber, pair[0], pair[1]) {
			t.Errorf("%s should come after %s", pair[1], pair[0])
		}
	}
	if sortsAfter(policy.ByNumber, "0007_b.sql", "007_a.sql") || sortsAfter(policy.ByNumber, "007_a.sql", "0007_b.sql") {
		t.Error("one number is not after itself")
	}
}
