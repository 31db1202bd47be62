package small

import (
	"slices"
	"testing"
	"unicode"
)

func TestLookalike(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".small": false, ".SMALL": true, ".Small": true, ".ſmall": true, ".small.": true, ".small ": true, ".SMALL. .": true,
		"small": false, ".smal": false, ".smaller": false, ".small-gate.yml": false, ".small/": false, " .small": false, "..small": false, "": false,
	} {
		if got := Lookalike(name, Dir); got != want {
			t.Errorf("Lookalike(%q) = %v", name, got)
		}
	}
	for name, want := range map[string]Artifact{
		"progress.small.yml": "", "Progress.small.yml": Progress, "PROGRESS.SMALL.YML": Progress, "progress.small.yml.": Progress,
		"handoff.small.yml\x20": Handoff, "wor\u212apace.small.yml": "", "wor\u212aspace.small.yml": Workspace,
		"progress.small.yaml": "", "old/Progress.small.yml": "", "": "",
	} {
		if got, ok := ArtifactLike(name); got != want || ok != (want != "") {
			t.Errorf("ArtifactLike(%q) = %q, %v", name, got, ok)
		}
	}
}

func TestWorkspaceOf(t *testing.T) {
	t.Parallel()
	type split struct {
		dir, element string
		lookalike    bool
		workspace    string
		ok           bool
	}
	for path, want := range map[string]split{
		".small":                   {workspace: "", ok: true},
		".small/x":                 {workspace: "", ok: true},
		"a/.small/x":               {workspace: "a", ok: true},
		".SMALL":                   {element: ".SMALL", lookalike: true, ok: true},
		".SMALL/x/y":               {element: ".SMALL", lookalike: true, ok: true},
		"a/b/.Small/x":             {dir: "a/b", element: ".Small", lookalike: true, workspace: "a/b", ok: true},
		".SMALL/a/.Small/x":        {dir: ".SMALL/a", element: ".Small", lookalike: true, workspace: ".SMALL/a", ok: true},
		".SMALL/.small/x":          {workspace: ".SMALL", ok: true},
		"a/.small/x/.SMALL/y":      {workspace: "a", ok: true},
		"a/small/x":                {},
		".small-gate.yml":          {},
		"a/.smallstep/ca.json":     {},
		"":                         {},
		"progress.small.yml/small": {},
	} {
		dir, element, lookalike := SplitLookalike(path)
		workspace, ok := WorkspaceOf(path)
		if got := (split{dir, element, lookalike, workspace, ok}); got != want {
			t.Errorf("%q: %+v, want %+v", path, got, want)
		}
	}
}

// TestTwinsOf: the paths that a path is a twin of are found as if each was looked at.
func TestTwinsOf(t *testing.T) {
	paths := []string{"a", "A", "a/b", "A/b", "a/B", "a/b/c", "a/B/c", "ß", "ſ", "s", "S", "k", "K", "K", "İ", "i", "I", "a/k", "a/K/x", "aa", "Ab", "caf\xe9", "caf\xe8", "Caf\xe9", ""}
	known, found := NewTwins(paths), 0
	for _, p := range paths {
		var want []string
		for _, of := range paths {
			if _, twin := Twin(p, of); twin {
				want = append(want, of)
			}
		}
		got := known.Of(p)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q is a twin of %q, and not of %q", p, want, got)
		}
		found += len(got)
	}
	if found < 10 {
		t.Errorf("only %d twins", found)
	}
	for name, want := range map[string]bool{"caf\xe9": true, "caf\xe8": false, "caf\ufffd": false, "Caf\xe9": false, "cafÉ": false} { // bytes of Latin-1
		if _, twin := Twin(name+"/x", "Caf\xe9"); twin != want {
			t.Errorf("%q is a twin of %q: %v", name, "Caf\xe9", twin)
		}
	}
}

// TestFold: names that differ only in case fold to the same name.
func TestFold(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			if Fold(string(r)) != Fold(string(other)) {
				t.Errorf("%U and %U", r, other)
			}
		}
	}
	if Fold("caf\xe9") == Fold("caf\xe8") || Fold("Caf\xe9") != Fold("caF\xe9") {
		t.Error("bytes that are not UTF-8 have no case, and differ")
	}
}
