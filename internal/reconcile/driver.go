package reconcile

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// MergeInput is the versions that git hands to a merge driver (gitattributes(5),
// "Defining a custom merge driver").
type MergeInput struct {
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
func (in MergeInput) Merge() Merged {
	switch {
	case bytes.Equal(in.Ours, in.Theirs), bytes.Equal(in.Base, in.Theirs):
		return Merged{Text: in.Ours}
	case bytes.Equal(in.Base, in.Ours), in.follows(in.Ours, in.Theirs):
		return Merged{Text: in.Theirs}
	case in.follows(in.Theirs, in.Ours):
		return Merged{Text: in.Ours}
	}
	return Merged{Text: in.marked(), Conflict: true, Message: in.message()}
}

// follows reports whether later is a log that goes on where the text of earlier
// ends.
func (in MergeInput) follows(earlier, later []byte) bool {
	if path.Base(in.Path) != small.Progress.FileName() || len(earlier) == 0 || !bytes.HasPrefix(later, earlier) {
		return false
	}
	before, _ := ledger.ReadLog(earlier, small.Limits{})
	after, _ := ledger.ReadLog(later, small.Limits{})
	return before != nil && after != nil && after.Extends(before.Ledger)
}

// marked is both sides' text: what they begin with in common, and the rest of
// each between conflict markers.
func (in MergeInput) marked() []byte {
	ours, theirs := splitLines(in.Ours), splitLines(in.Theirs)
	same := 0
	for same < min(len(ours), len(theirs)) && bytes.Equal(ours[same], theirs[same]) && bytes.HasSuffix(ours[same], []byte("\n")) {
		same++
	}
	size := in.Marker
	if size < 7 {
		size = 7
	}
	end := lineEnd(in.Ours)
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

func (in MergeInput) message() string {
	command := "small-hook reconcile"
	for _, a := range []small.Artifact{small.Plan, small.Handoff} {
		if path.Base(in.Path) == a.FileName() {
			command += " --" + string(a) + " ours (or theirs)"
		}
	}
	if a, ok := small.ArtifactOf(path.Base(in.Path)); !ok || a != small.Progress && a != small.Plan && a != small.Handoff {
		return fmt.Sprintf("both sides changed %s; nothing was merged. Edit the file, then type: git add %s", in.Path, wording.ShellWord(in.Path))
	}
	return fmt.Sprintf("both sides changed %s; nothing was merged. Type: %s", in.Path, command)
}
