package witnessing

import "testing"

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.org/o/r.git":              "https://example.org/o/r.git",
		"https://ann:tok%40en@example.org/o/r.git": "https://example.org/o/r.git",
		"https://token@example.org:8443/o/r":       "https://example.org:8443/o/r",
		"https://example.org/o/r?access_token=abc": "https://example.org/o/r",
		"https://ann:to%ken@example.org/o/r":       "https://example.org/o/r",
		"https://ann:t o@example.org/o/r":          "https://example.org/o/r",
		"https://example.org/o/r%?access_token=a":  "https://example.org/o/r%",
		"https://ann:t?o@example.org/o/r#abc":      "https://example.org/o/r",
		"ssh://git@example.org:22/o/r":             "ssh://example.org:22/o/r",
		"git@example.org:o/r.git":                  "example.org:o/r.git",
		"user:pw@example.org:o/r.git":              "example.org:o/r.git",
		"user:p@w@example.org:r.git":               "example.org:r.git",
		"example.org:a/b@c.git":                    "example.org:a/b@c.git",
		"someone/repo":                             "someone/repo",
		"file:///srv/git/r.git":                    "file:///srv/git/r.git",
		"/srv/a@b/r.git":                           "/srv/a@b/r.git",
		"../r.git":                                 "../r.git",
		`C:\git\r`:                                 `C:\git\r`,
	} {
		if got := withoutCredentials(address); got != want {
			t.Errorf("%q becomes %q, not %q", address, got, want)
		}
	}
}
