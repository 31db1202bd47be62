// Package rule says what a rule is: a value with pure checks, each of one kind of
// subject, that reports findings.
package rule
