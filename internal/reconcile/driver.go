package reconcile

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Three are the versions that git hands to a merge driver (gitattributes(5),
// "Defining a custom merge driver").
type Three struct {
	// Base is %O, Ours %A, Theirs %B. A base that is not there is empty.
	Base, Ours, Theirs []byte
	// Marker is the length of conflict markers, %L; 0 is git's usual one.
	Marker int
	// Path is the path of the file in the tree, %P.
	Path string
}

// Merged is what a merge driver answers.
type Merged struct {
	// Text is what the file is to hold.
	Text []byte
	// Conflict is true where both sides changed the file. Text then holds all of
	// both, with conflict markers, so that it cannot pass for a resolution.
	Conflict bool
	// Message says so to a person, and what to type.
	Message string
}

// Merge merges one file of a workspace, or rather does not: only where one side
// left the file alone, or both did the same, or one side's log is the other's
// with more behind it, there is nothing to decide.
func (t Three) Merge() Merged {
	switch {
	case bytes.Equal(t.Ours, t.Theirs), bytes.Equal(t.Base, t.Theirs):
		return Merged{Text: t.Ours}
	case bytes.Equal(t.Base, t.Ours), t.follows(t.Ours, t.Theirs):
		return Merged{Text: t.Theirs}
	case t.follows(t.Theirs, t.Ours):
		return Merged{Text: t.Ours}
	}
	return Merged{Text: t.marked(), Conflict: true, Message: t.message()}
}

// follows reports whether later is a log that goes on where the text of earlier
// ends.
func (t Three) follows(earlier, later []byte) bool {
	if path.Base(t.Path) != small.Progress.FileName() || len(earlier) == 0 || !bytes.HasPrefix(later, earlier) {
		return false
	}
	before, _ := small.ReadLog(earlier, small.Limits{})
	after, _ := small.ReadLog(later, small.Limits{})
	return before != nil && after != nil && after.Extends(before.Ledger)
}

// marked is both sides' text: what they begin with in common, and the rest of
// each between conflict markers.
func (t Three) marked() []byte {
	ours, theirs := splitLines(t.Ours), splitLines(t.Theirs)
	same := 0
	for same < min(len(ours), len(theirs)) && bytes.Equal(ours[same], theirs[same]) && bytes.HasSuffix(ours[same], []byte("\n")) {
		same++
	}
	size := t.Marker
	if size < 7 {
		size = 7
	}
	end := lineEnd(t.Ours)
	out := join(ours[:same])
	part := func(marker, label string, lines [][]byte) {
		out = append(out, strings.Repeat(marker, size)+label+end...)
		out = ended(append(out, join(lines)...), end)
	}
	part("<", " ours", ours[same:])
	part("=", "", theirs[same:])
	part(">", " theirs", nil)
	return out
}

func (t Three) message() string {
	command := "small-hook reconcile"
	for _, a := range []small.Artifact{small.Plan, small.Handoff} {
		if path.Base(t.Path) == a.FileName() {
			command += " --" + string(a) + " ours (or theirs)"
		}
	}
	if a, ok := small.ArtifactOf(path.Base(t.Path)); !ok || a != small.Progress && a != small.Plan && a != small.Handoff {
		return fmt.Sprintf("both sides changed %s; nothing was merged. Choose what is right, then type: git add %s", t.Path, quoted(t.Path))
	}
	return fmt.Sprintf("both sides changed %s; nothing was merged. Type: %s", t.Path, command)
}
