package gittest

import (
	"os"
	"testing"
)

// suites is the variable that chooses how much is tested: nothing for the quick
// tests, "all" for the long ones too.
const suites = "SMALL_GATE_TESTS"

// All reports whether the long tests run as well. Any value but "all" is a
// mistake, and not taken for a no.
func All() bool {
	switch value := os.Getenv(suites); value {
	case "":
		return false
	case "all":
		return true
	default:
		panic(suites + " is " + value + `: it can only be "all"`)
	}
}

// Long skips a long test, unless all are to run.
func Long(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("long: set " + suites + "=all to run it too")
	}
}

// Cases is how many random cases a test judges: a few, or many if all tests run.
func Cases(few, many int) int {
	if All() {
		return many
	}
	return few
}
