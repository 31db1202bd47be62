package lane

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled when it is first asked for:
// most runs of the program look at no change.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
