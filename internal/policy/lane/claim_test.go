package lane

import (
	"testing"

	"github.com/small-gate/small-gate/internal/small"
)

// TestSwitchedTo reads evidence of entries for a switch, written as YAML.
func TestSwitchedTo(t *testing.T) {
	for evidence, want := range map[string]string{
		`"fast to deep: it stores data"`:          "deep",
		`"to deep: it stores data"`:               "deep",
		`"Deep To FAST : one line"`:               "FAST",
		`"to standard: to deep: both"`:            "standard",
		`"fast to deep"`:                          "",
		`"fast to deep: "`:                        "",
		`"switched from fast to deep: it stores"`: "",
		`"quick to deep: it stores data"`:         "deep",
		`"to quick: it is"`:                       "quick",
		`{note: "to deep: it stores data"}`:       "",
		`3`:                                       "",
	} {
		if got := SwitchedTo(value(t, evidence)); got != want {
			t.Errorf("%s: %q, want %q", evidence, got, want)
		}
	}
	for _, from := range []Lane{"", Fast, Standard, Deep} {
		if text := LaneSwitchText(from, Standard, "why"); SwitchedTo(&small.Value{Kind: small.String, Text: text}) != string(Standard) {
			t.Errorf("%q does not switch", text)
		}
	}
}

func TestSpecFile(t *testing.T) {
	for evidence, want := range map[string]string{
		`{spec-md: docs/a.md, more: 1}`:        "docs/a.md",
		`"what it is\nspec-md: docs/a b.md\n"`: "docs/a b.md",
		`"spec-md:docs/a.md "`:                 "docs/a.md",
		`"see spec-md: docs/a.md"`:             "",
		`"spec-md:"`:                           "",
		`{spec-md: [a]}`:                       "",
	} {
		if got := SpecFile(value(t, evidence)); got != want {
			t.Errorf("%s: %q, want %q", evidence, got, want)
		}
	}
}

func value(t *testing.T, text string) *small.Value {
	t.Helper()
	doc, problems := small.Parse([]byte("v: "+text+"\n"), small.Limits{})
	if doc == nil {
		t.Fatal(problems)
	}
	return doc.Root.Get("v")
}
