package gittest

import (
	"os"
	"strconv"
	"sync"
	"testing"
)

// suites is the variable that chooses the tests: empty for the quick ones, "all" for the long ones too.
const suites = "SMALL_GATE_TESTS"

// All reports whether the long tests run as well. Any value but "all" is an error, not a no.
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

// Long skips a long test, unless all tests run.
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

// factor is the variable that makes the random and killing tests longer: 10 means ten times as many cases.
const factor = "SMALL_GATE_TIMES"

var times = sync.OnceValue(func() int {
	value := os.Getenv(factor)
	if value == "" || !All() {
		return 1
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		panic(factor + " is " + value + ": it can only be a number from 1 up")
	}
	return n
})

// Rounds is [Cases], multiplied by SMALL_GATE_TIMES.
func Rounds(few, many int) int { return Cases(few, many) * times() }

// OneIn is the sampling of long cases: one in n is tried, or more as SMALL_GATE_TIMES says.
func OneIn(n int) int { return max(1, n/times()) }

// seedVariable is the variable that gives the long tests other random cases. .ci/long draws it and prints it.
const seedVariable = "SMALL_GATE_SEED"

var seedOffset = sync.OnceValue(func() uint64 {
	value := os.Getenv(seedVariable)
	if value == "" || !All() {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		panic(seedVariable + " is " + value + ": it can only be a number below 2^32")
	}
	return n
})

// Seed is the seed of a random case: the given one, so that the default tests are the same every time, plus SMALL_GATE_SEED if the long
// tests run.
func Seed(fixed uint64) uint64 { return fixed + seedOffset() }
