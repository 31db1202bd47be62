package small_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/small"
)

func TestHasConflictMarkers(t *testing.T) {
	for text, want := range map[string]bool{
		"":                          false,
		"a\n<<<<<<< HEAD\nb\n":      true,
		"a\r\n>>>>>>>\r\n":          true,
		"a\n||||||| base":           true,
		"<<<<<<<<<< ten\n":          true,
		"a title\n=======\n":        false,
		"<<<<<< six\n":              false,
		" <<<<<<< not at the start": false,
		"<<<<<<<HEAD\n":             false,
		"<<<<<<>\n":                 false,
	} {
		if got := small.HasConflictMarkers([]byte(text), small.MarkerSize); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if !small.HasConflictMarkers([]byte("<<< HEAD\n"), 3) {
		t.Error("a marker of the size that git was told is none")
	}
}
