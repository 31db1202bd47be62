//go:build !race

package small

const smallest = 8
