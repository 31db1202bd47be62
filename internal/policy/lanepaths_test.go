package policy

import (
	"slices"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// TestMatchOne: looking at the name alone makes no difference.
func TestMatchOne(t *testing.T) {
	l := defaultLanes()
	patterns := slices.Concat(l.Migrations, l.PublicAPI, l.Contracts, l.Security, l.Tests, l.Ignore, []string{"**/*", "**/**", "**/a**", "**", "*", "**/{a/b,c}", "**/[!a]", `**/a\*b`})
	paths := []string{"a", "a/", "/a", "a/b", "x/a/b", "x/c", "a*b", "x/a*b", "db/migrate/1.rb", "x/api.proto", "api/x.ts", "auth/x_test.go", "x/.env", "a b/c.lock", "x/y/FooTest.java", "c/auth"}
	matched := 0
	for _, pattern := range patterns {
		for _, path := range paths {
			want, err := doublestar.Match(pattern, path)
			if got := matchOne(pattern, path); err != nil || got != want {
				t.Errorf("%q matches %q: %v, want %v (%v)", pattern, path, got, want, err)
			}
			if want {
				matched++
			}
		}
	}
	if matched < 30 {
		t.Errorf("only %d matched", matched)
	}
}

// TestIsTest: the case of tests matters, that of other patterns does not.
func TestIsTest(t *testing.T) {
	l := defaultLanes()
	for path, want := range map[string]bool{
		"FooTest.java": true, "Latest.java": false, "Contest.java": false, "DeviceAttest.java": false, "FooIT.java": true, "AUDIT.java": false,
		"TokenSpec.java": false, "SecretKeySpec.kt": false, "LoginSpec.groovy": true, "a_test.go": true, "a_Test.go": false, "test_a.go": false, "a.spec.go": false,
		"spec/a_spec.rb": true, "spec/a.yaml": false, "Tests/A.swift": true, "x.Tests/A.cs": true, "src/commonTest/kotlin/A.kt": true, "test/a.go": true,
	} {
		if l.IsTest(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if !MatchPath([]string{"**/Db/**"}, "x/dB/y") || MatchPath([]string{"**/db/**", "!**/Y"}, "x/db/y") || !ExcludesPath([]string{"!**/Y"}, "x/y") {
		t.Error("case makes a difference")
	}
}
