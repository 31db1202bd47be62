package edit

import (
	"strings"
	"testing"
)

// The headings that begin entries are found among titles, notes that are revised, and parts of entries.
func TestOutline(t *testing.T) {
	for _, c := range []struct {
		name, text, level string
		entries           int
		dated             bool
	}{
		{"sections", "# Log\n## a\n### x\n## b\n", "##", 2, false},
		{"one section", "# Log\n## a\n### x\n### y\n", "##", 1, false},
		{"code is no heading", "## a\n```\n## b\n```\n", "##", 1, false},
		{"dates", "# Log\n## 2026-01-01 a\n### Files\n## 2026-01-02 b\n", "##", 2, false},
		{"notes before dates", "# Log\n## Patterns\n## Key files\n---\n## 2026-01-01 - setup\n", "##", 1, true},
		{"notes before dates, newest first", "## How to\n## [2026-01-02] b\n## [2026-01-01] a\n", "##", 2, true},
		{"notes after dates", "## Patterns\n## 2026-01-01 a\n## Branches\n## 2026-01-02 b\n", "##", 4, false},
		{"dates below a section", "# Log\n## Learnings\n### a (2026-01-19)\n### b (2026-01-20)\n", "###", 2, false},
		{"one date below a section", "# Log\n## Learnings\n### a (2026-01-19)\n", "##", 1, false},
		{"dates below several sections", "## A\n### a 2026-01-19\n## B\n### b 2026-01-20\n", "##", 2, false},
		{"a changelog", "# Changes\n## [Unreleased]\n## [1.1] - 2026-02-01\n## [1.0] - 2026-01-01\n", "##", 3, false},
		{"a changelog with notes", "## About\n## Unreleased\n## 1.0 (2026-01-01)\n", "##", 3, false},
		{"the first day of a journal", "# 2026-01-01\n## Morning\n## Evening\n", "#", 1, false},
		{"a title with a date", "# Audit of 2026-01-01\n## Morning\n## Evening\n", "##", 2, false},
		{"no headings", "- a\n- b\n", "", 0, false},
	} {
		o := outlineOf([]byte(c.text))
		if o.level != c.level || len(o.headings) != c.entries || o.dated != c.dated {
			t.Errorf("%s: level %q, %d entries, dated %v in\n%s", c.name, o.level, len(o.headings), o.dated, strings.TrimSpace(c.text))
		}
	}
}

// In text that is not Markdown, entries begin with dates or versions, unless each line is an entry.
func TestPlainStart(t *testing.T) {
	for text, want := range map[string]string{
		"Log\n\n2026-01-01 10:00 began\n  by hand\n2026-01-02 ended\n":                                        "a date",
		"[2026-01-01 10:00] began\r\n\r\n  by hand\r\n[2026-01-02] ended\r\n":                                 "a date",
		"2026-01-01  Ann <ann@example.org>\n\n\t* a.c: new\n\n2025-12-31  Ann <ann@example.org>\n":            "a date",
		"tool (1.2-1) unstable; urgency=medium\n\n  * new\n\n -- Ann\n\ntool (1.1-1) unstable; urgency=low\n": "a package and its version",
		"Version 1.2.0\n-------------\n\n- new\n\nVersion 1.1.0\n-------------\n":                             "a version",
		"Version: 2.0.1 - 2024-01-01\n=====\n\nVersion: 2.0.0\n=====\n":                                       "a version",
		"1.1:\n - new\n1.0:\n":                                      "a version",
		"=== 2026-01-01 ===\nbegan\n=== 2026-01-02 ===\n":           "a date",
		"**2026-01-01** began\n\nby hand\n\n**2026-01-02** ended\n": "a date",
		"- 2026-01-01 began\n  - by hand\n- 2026-01-02 ended\n":     "a date",
		"Session 1 (began)\n- x\n\nSession 2\n- y\n":                "a word such as session or iteration and its number",
		"=== ITERATION #1 ===\nok\n=== ITERATION #2 ===\nok\n":      "a word such as session or iteration and its number",
		"Runs 3 times\n\nDay by day\n":                              "",
		"2026-01-01 one\n2026-01-02 two\n":                          "",
		"Log\n2026-01-01 one\n\n2026-01-02 two\n":                   "",
		"2026-01-01 one\n  and more\n":                              "",
		"1.5 is better than\n2 or so\n":                             "",
	} {
		_, with, _, single := plainStart([]byte(text))
		if single {
			with = ""
		}
		if with != want {
			t.Errorf("%q, not %q, begins the entries of %q", with, want, text)
		}
	}
}

// The headings tell the order of a changelog, or the section of unreleased changes does; headings without a date or a version tell nothing.
func TestDescent(t *testing.T) {
	for _, c := range []struct {
		name, text, why string
		open            bool
	}{
		{"versions", "## 1.10\n## 1.9\n", "the headings descend, from", false},
		{"one release", "## [Unreleased]\n## 1.0\n", "the section of unreleased changes is the first", true},
		{"one release, in parentheses", "## 1.1 (unreleased)\n## 1.0\n", "the section of unreleased changes is the first", true},
		{"no release", "# Changelog\n## [Unreleased]\n", "the section of unreleased changes is the first", true},
		{"unreleased changes at the end", "## 1.0\n## Unreleased\n", "", true},
		{"unreleased changes at the end of two", "## 0.9\n## 1.0\n## Unreleased\n", "", true},
		{"a version that was never released", "## 1.2\n## 1.1 (unreleased)\n## 1.0\n", "the headings descend, from", false},
		{"notes at the end", "## Unreleased\n## 1.1\n## 1.0\n## Upgrading\n", "the headings descend, from", true},
		{"a section in progress", "## Next\n## 1.1\n## 1.0\n", "the headings descend, from", false},
		{"oldest first", "## 2026-01-01\n## 2026-01-02\n", "", false},
		{"topics", "## Git\n## Tests\n", "", false},
	} {
		headings := outlineOf([]byte(c.text)).headings
		if why := descent(headings); (why == "") != (c.why == "") || !strings.HasPrefix(why, c.why) || isOpen(headings) != c.open {
			t.Errorf("%s: %q, open %v", c.name, why, isOpen(headings))
		}
	}
}
