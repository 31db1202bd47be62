//go:build race

package small

// smallest is the part of a limit that hostile files use up: the race detector
// makes everything ten times slower, and finds no more in a larger file.
const smallest = 32
