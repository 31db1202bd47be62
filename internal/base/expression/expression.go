// Package expression compiles regular expressions only when needed: a hook runs for a few milliseconds, and most runs need none.
package expression

import (
	"regexp"
	"sync"
)

// Of returns the regular expression of a text, compiled on first use.
func Of(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
