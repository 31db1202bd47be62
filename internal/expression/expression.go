// Package expression holds regular expressions until they are needed: a hook lives a few milliseconds, and most runs need none.
package expression

import (
	"regexp"
	"sync"
)

// Of is the regular expression of a text, which is compiled when it is first asked for.
func Of(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
