package small

import "testing"

// The last element that is .small counts.
func TestSplitPath(t *testing.T) {
	type parts struct {
		dir, name string
		ok        bool
	}
	for path, want := range map[string]parts{
		"": {}, "a": {}, "a.small/b": {}, ".smaller/b": {}, "a/b.small": {},
		".small":               {"", "", true},
		".small/a":             {"", "a", true},
		"a/.small":             {"a", "", true},
		"a/.small/b/c":         {"a", "b/c", true},
		"a/.small/b/.small/c":  {"a/.small/b", "c", true},
		".small/.small":        {".small", "", true},
		".small/x/.small/y.ml": {".small/x", "y.ml", true},
	} {
		dir, name, ok := SplitPath(path)
		if got := (parts{dir, name, ok}); got != want {
			t.Errorf("%q: %+v, want %+v", path, got, want)
		}
	}
}
