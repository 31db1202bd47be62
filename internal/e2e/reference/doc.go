// Package reference compares the gate's verdicts with those of the protocol's own program, fresh or recorded. It has only tests, and the
// list of the cases that the gate deliberately decides differently.
package reference
