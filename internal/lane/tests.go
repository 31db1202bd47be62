package lane

import (
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// Tests knows which code of a tree has tests, as far as names say so.
type Tests struct {
	// stems are what the names of test files are about, packages the directories
	// that have Go tests.
	stems, packages map[string]bool
}

// testWords are what a test's name has beside that of what it tests.
var testWords = []string{"_test", "-test", ".test", "_spec", "-spec", ".spec", "test_", "tests", "testcase", "test", "spec"}

// TestsOf finds the tests among the paths of a tree.
func TestsOf(paths []string, cfg *policy.Lanes) *Tests {
	t := &Tests{stems: map[string]bool{}, packages: map[string]bool{}}
	for _, name := range paths {
		if !isCode(name) || !cfg.IsTest(name) {
			continue
		}
		if strings.HasSuffix(name, "_test.go") {
			t.packages[path.Dir(name)] = true
			continue
		}
		t.stems[tested(stem(name))] = true
	}
	return t
}

// Cover reports whether a file of code has a test: for Go, one in the same
// directory; else one somewhere that is named after the file.
func (t *Tests) Cover(name string) bool {
	if path.Ext(name) == ".go" {
		return t.packages[path.Dir(name)]
	}
	return t.stems[stem(name)]
}

// stem is a file's name without directories and extension, in lower case.
func stem(name string) string {
	base := strings.ToLower(path.Base(name))
	return strings.TrimSuffix(base, path.Ext(base))
}

// tested takes off a test's name what makes it one.
func tested(stem string) string {
	for _, word := range testWords {
		if rest, ok := strings.CutSuffix(stem, word); ok && rest != "" {
			return rest
		}
		if rest, ok := strings.CutPrefix(stem, word); ok && rest != "" {
			return rest
		}
	}
	return stem
}
