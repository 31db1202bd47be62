package policy

import (
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// TestMatchLastByName: looking only at the name makes no difference.
func TestMatchLastByName(t *testing.T) {
	patterns := []string{
		"**/{migrations,migration}/**", "**/*.{up,down}.sql", "**/*{oauth,login}*.*", "**/.env{,.*}", "**/{api,auth}/**", "**/*.lock",
		"**/*", "**/**", "**/a**", "**", "*", "**/{a/b,c}", "**/[!a]", `**/a\*b`,
	}
	paths := []string{"a", "a/", "/a", "a/b", "x/a/b", "x/c", "a*b", "x/a*b", "db/migrate/1.rb", "migrations/1.up.sql", "api/x.ts", "auth/x_test.go", "x/.env", "a b/c.lock", "c/auth"}
	matched := 0
	for _, pattern := range patterns {
		for _, path := range paths {
			want, err := doublestar.Match(pattern, path)
			if got := MatchLast([]string{pattern}, path); err != nil || got != want {
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

// TestMatchLast: the last pattern that matches counts, and case does not matter.
func TestMatchLast(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		path     string
		want     bool
	}{
		{[]string{"**/Db/**"}, "x/dB/y", true}, {[]string{"**/db/**", "!**/Y"}, "x/db/y", false},
		{[]string{"**/db/**", "!**/y", "x/**"}, "x/db/y", true}, {[]string{"!**/y"}, "x/y", false}, {nil, "x", false},
	} {
		if got := MatchLast(tt.patterns, tt.path); got != tt.want {
			t.Errorf("%q and %s: %v", tt.patterns, tt.path, got)
		}
	}
}
