// Package reference holds the gate's verdicts against those of the protocol's own program, given on the spot or recorded. It has tests
// alone, and the list of the cases that the gate decides otherwise on purpose.
package reference
