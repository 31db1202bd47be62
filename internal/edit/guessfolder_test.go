package edit

import (
	"path"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
)

// Files that are no records are left out of a folder's stanza, by its pattern if possible.
func TestGuessFolder(t *testing.T) {
	for _, c := range []struct{ files, pattern, exclude, order string }{
		{"0001-a.md 0002-b.md", "d/[0-9]*.md", "", "number"},
		{"0001-a.md 0002-b.md README.md template.md", "d/[0-9]*.md", "", "number"},
		{"0000-template.md 0001-a.md 0002-b.md", "d/[0-9]*.md", "d/0000-template.md", "number"},
		{"0001-a.md 0002-b.md 0003-c.md 0004-d.md about.md", "d/[0-9]*.md", "", "number"},
		{"0001-a.md 0002-b.md about.md", "d/*.md", "", ""},
		{"2026-01-01.md 2026-01-02.md 2026-01-03.md MEMORY.md", "d/[0-9]*.md", "", "name"},
		{"a.md b.md README.md", "d/*.md", "d/README.md", ""},
		{"README.md", "", "", ""},
		{".gitkeep", "", "", ""},
		{"V1__a.sql V2__b.sql V10__c.sql V11__d.sql R__view.sql", "d/V[0-9]*.sql", "", "number"},
		{"V1__a.sql V2__b.sql V10__c.sql V11__d.sql U1__a.sql", "d/*.sql", "", "number"},
		{"20260101_a.sql 20260102_b.sql atlas.sum", "d/[0-9]*.sql", "", "name"},
		{"20260101_a/migration.sql 20260102_b/migration.sql lock.toml", "d/**/*.sql", "", ""},
		{"x/0001.md x/0002.md y/0001.md index.md", "d/**/[0-9]*.md", "", "number"},
		{"0000_a.sql 0001_b.sql meta/0000_snapshot.json meta/0001_snapshot.json meta/_journal.json", "d/[0-9]*.sql", "", "number"},
		{"0001_a.py 0002_b.py __init__.py", "d/[0-9]*.py", "", "number"},
		{"1a2b3c_a.py 2f3e4d_b.py", "d/*.py", "", ""},
		{"20260101T120000_a.md 20260102T120000_b.md", "d/[0-9]*.md", "", "name"},
		{"a.md b.txt .gitkeep", "d/*", "d/.gitkeep", ""},
		{"ADR-001-a.md ADR-002-b.md", "d/ADR-[0-9]*.md", "", "number"},
		{"adr_0001.md adr_0002.md README.md", "d/adr_[0-9]*.md", "", "number"},
		{"0001-a.md 0002-b.md latest.md", "d/[0-9]*.md", "", "number"},
		{"a.md b.md latest.md", "d/*.md", "d/latest.md", ""},
		{"20260101_add_template.rb 20260102_b.rb", "d/[0-9]*.rb", "", "name"},
		{"a.md adr-template.md template.md 0000_template.md", "d/*.md", "d/adr-template.md d/template.md d/0000_template.md", ""},
		{"release-1.md release-2.md", "d/*.md", "", ""},
		{"a[1].md b.md INDEX.md", "d/*.md", "d/INDEX.md", ""},
	} {
		var files []history.File
		for name := range strings.FieldsSeq(c.files) {
			mode := history.ModePlain
			if strings.HasPrefix(name, "latest") {
				mode = history.ModeLink
			}
			files = append(files, history.File{Path: path.Join("d", name), Mode: mode})
		}
		g, err := guessFolder("d", files, func(string) ([]byte, error) { return nil, nil }, small.Limits{})
		if c.pattern == "" && err != nil {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		log := g.readings[0].log
		if log.Path != c.pattern || strings.Join(log.Exclude, " ") != c.exclude || log.Order != c.order {
			t.Errorf("%s: path %s, exclude %q, order %q", c.files, log.Path, log.Exclude, log.Order)
		}
	}
}

// A decision's status is found in each form, and prose that begins with such a word is no status.
func TestStatusForms(t *testing.T) {
	for text, want := range map[string]string{
		"# One\n\nStatus: Accepted\n":                                 "Accepted",
		"---\nstatus: \"proposed\"\n---\n# One\n":                     "proposed",
		"* Status: accepted\n* Date: 2026-01-01\n":                    "accepted",
		"- **Status:** Accepted\n":                                    "Accepted",
		"| **Status** | Accepted |\n| --- | --- |\n":                  "Accepted",
		"# One\n## Status: Accepted\n":                                "Accepted",
		"**Status**: Completed 2/6/21\n":                              "Completed",
		"# One\n\n## Status\n\nSuperseded by [2. Two](0002-two.md)\n": "Superseded",
		"# One\n\n## Status\n\n## Context\n\nAccepted\n":              "",
		"# One\n\nAccepted wisdom\n":                                  "",
	} {
		found := ""
		for i := range statusForms {
			if status := statusForms[i].statusIn(text); status != "" {
				found = status
				break
			}
		}
		if found != want {
			t.Errorf("status %q, not %q, in %q", found, want, text)
		}
	}
}

// The lines that may change with the status are those that say it, and no prose.
func TestStatusLines(t *testing.T) {
	for text, lines := range map[string][]string{
		"# One\n\n## Status\n\nAccepted\n": {
			"Accepted.", "Accepted (2026-01-31)", "Accepted — 2026-01-31.", "Superseded by [2](2.md)", "Superseded by ADR-0002", "Superceded by 2", "Amends [1](1.md)", "",
		},
		"# One\n\nStatus: Accepted\n":                   {"Status: Superseded", "Superseded by: 2"},
		"# One\n\n- **Status**: Accepted\n":             {"- **Status**: Superseded", "**Superseded by:** 2"},
		"# One\n\n| Status | Accepted |\n| --- | --- |": {"| Status | Superseded |"},
		"# One\n\n## Status: Accepted\n":                {"## Status: Superseded"},
	} {
		read := 0
		for i := range statusForms {
			form := &statusForms[i]
			if form.statusIn(text) == "" {
				continue
			}
			read++
			matches := expression.Of(form.lines)()
			for _, line := range lines {
				if !matches.MatchString(line) {
					t.Errorf("%q may not change in %q", line, text)
				}
			}
			for _, line := range []string{"Accepted wisdom", "Superseded by a better idea", "2026-01-31", "— —", "The Status: unknown", "## Context"} {
				if matches.MatchString(line) {
					t.Errorf("%q may change in %q", line, text)
				}
			}
		}
		if read != 1 {
			t.Errorf("%d forms read %q", read, text)
		}
	}
}
