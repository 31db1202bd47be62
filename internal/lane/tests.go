package lane

import (
	"path"
	"regexp"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// Tests knows which code of a tree has tests, as far as names say so.
type Tests struct {
	// stems are what the names of test files are about, packages the directories
	// that have Go tests.
	stems, packages map[string]bool
	// beside are directories with one file of tests for what stands next to it,
	// and below those whose code has tests in a directory of its own.
	beside, below map[language]bool
}

// language is a directory's code of one language.
type language struct{ dir, extension string }

// testWords are what a test's name has beside that of what it tests.
var testWords = []string{"_test", "-test", ".test", "_spec", "-spec", ".spec", "test_", "test-", "tests", "testcase", "test", "spec"}

// TestsOf finds the tests among the paths of a tree.
func TestsOf(paths []string, cfg *policy.Lanes) *Tests {
	t := &Tests{stems: map[string]bool{}, packages: map[string]bool{}, beside: map[language]bool{}, below: map[language]bool{}}
	for _, name := range paths {
		extension := path.Ext(name)
		if !isCode(name) && extension != ".bats" && extension != ".t" || !cfg.IsTest(name) {
			continue
		}
		if strings.HasSuffix(name, "_test.go") {
			t.packages[path.Dir(name)] = true
			continue
		}
		t.stems[tested(name)] = true
		switch {
		case path.Base(name) == "tests.py", path.Base(name) == "tests.rs": // Django, and a module of Rust
			t.beside[language{path.Dir(name), extension}] = true
		case extension == ".rs": // Cargo: what lies in tests is of the crate
			t.addBelow(name, "tests", "src", ".rs")
		case extension == ".t": // Perl: what lies in t is of the distribution
			t.addBelow(name, "t", "", ".pm")
			t.addBelow(name, "t", "", ".pl")
		}
	}
	return t
}

// addBelow adds the tests that lie in a folder, for code in the folder of that
// name next to it, or beside both.
func (t *Tests) addBelow(name, folder, code, extension string) {
	root, _, ok := strings.Cut("/"+name, "/"+folder+"/")
	if ok {
		t.below[language{path.Join(strings.TrimPrefix(root, "/"), code), extension}] = true
	}
}

// Cover reports whether a file of code has a test: for Go, one in the same
// directory; else one somewhere that is named after the file, or after the folder
// of which it is the entrance; or one that by the customs of its language is for
// all that is there.
func (t *Tests) Cover(name string) bool {
	dir, extension := path.Dir(name), path.Ext(name)
	if extension == ".go" {
		return t.packages[dir]
	}
	own := stem(name)
	if t.stems[own] || t.beside[language{dir, extension}] {
		return true
	}
	switch own {
	case "index", "__init__", "mod":
		if t.stems[strings.ToLower(path.Base(dir))] {
			return true
		}
	}
	if controlled, ok := strings.CutSuffix(own, "_controller"); ok && t.stems[controlled] {
		return true // a request spec of Rails
	}
	for extension == ".rs" || extension == ".pm" || extension == ".pl" {
		if dir = strings.TrimPrefix(dir, "."); t.below[language{dir, extension}] {
			return true
		}
		if dir == "" {
			break
		}
		dir = path.Dir(dir)
	}
	return false
}

// rustTests are tests in the file that they test.
var rustTests = regexp.MustCompile(`#\[\s*(cfg\([^\]]*\btest\b|(\w+::)*test\b)`)

// HoldsTests reports whether a file of code holds tests of its own, as Rust's do.
func HoldsTests(name string, text []byte) bool {
	return path.Ext(name) == ".rs" && rustTests.Match(text)
}

// stem is a file's name without directories and extension, in lower case.
func stem(name string) string {
	base := strings.ToLower(path.Base(name))
	return strings.TrimSuffix(base, path.Ext(base))
}

// tested takes off a test's name what makes it one.
func tested(name string) string {
	switch extension := path.Ext(name); extension {
	case ".java", ".kt": // Maven's integration tests
		if rest, ok := strings.CutSuffix(strings.TrimSuffix(name, extension), "IT"); ok {
			return strings.ToLower(path.Base(rest))
		}
	}
	stem := stem(name)
	for _, word := range testWords {
		if rest, ok := strings.CutSuffix(stem, word); ok && rest != "" {
			return rest
		}
		if rest, ok := strings.CutPrefix(stem, word); ok && rest != "" && stem != "tests" {
			return rest
		}
	}
	return stem
}
