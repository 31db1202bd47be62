// Package rules is the catalogue: every rule in documented order, with its text and its
// examples.
package rules
