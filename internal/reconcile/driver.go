package reconcile

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// MergeInput is what git hands to a merge driver (gitattributes(5), "Defining a custom merge driver").
type MergeInput struct {
	// Base is %O, Ours %A, Theirs %B. A missing base is empty.
	Base, Ours, Theirs []byte
	// Marker is the length of conflict markers, %L; 0 means 7.
	Marker int
	// Path is the path of the file in the tree, %P.
	Path string
	// Label is what git calls the other side, %Y; what an older git leaves in its place does no harm.
	Label string
}

// Merged is the answer of a merge driver.
type Merged struct {
	// Text is the new content of the file.
	Text []byte
	// Conflict is true if both sides changed the file, and nothing decides between them. Text then holds all of both, with conflict markers.
	Conflict bool
	// Message says so to a person, and what to type.
	Message string
	// Notes are what a person should know about a merge without a conflict.
	Notes []string
}

// Merge merges one file of a workspace only if there is nothing to decide: one side left the file alone, both made the same change,
// or one side's log continues the other's.
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

// follows reports whether later is a log that continues the text of earlier.
func (in MergeInput) follows(earlier, later []byte) bool {
	if path.Base(in.Path) != small.Progress.FileName() || len(earlier) == 0 || !bytes.HasPrefix(later, earlier) {
		return false
	}
	before, _ := ledger.ReadLog(earlier, small.Limits{})
	after, _ := ledger.ReadLog(later, small.Limits{})
	return before != nil && after != nil && after.Extends(before.Ledger)
}

// marked is the common beginning of both sides' text, and the rest of each between conflict markers.
func (in MergeInput) marked() []byte {
	ours, theirs := splice.Lines(in.Ours), splice.Lines(in.Theirs)
	same := 0
	for same < min(len(ours), len(theirs)) && bytes.Equal(ours[same], theirs[same]) && bytes.HasSuffix(ours[same], []byte("\n")) {
		same++
	}
	size := in.Marker
	if size < 7 {
		size = 7
	}
	end := splice.LineEnd(in.Ours)
	out := splice.Join(ours[:same])
	part := func(marker, label string, lines [][]byte) {
		out = append(out, strings.Repeat(marker, size)+label+end...)
		out = splice.Ended(append(out, splice.Join(lines)...), end)
	}
	part("<", " ours", ours[same:])
	part("=", "", theirs[same:])
	part(">", " theirs", nil)
	return out
}

func (in MergeInput) message() string {
	next := "Type `small-hook reconcile`"
	if a, _ := small.ArtifactOf(path.Base(in.Path)); a == small.Intent || a == small.Constraints {
		next = fmt.Sprintf("A person decides; to keep the file that is checked out, type `git restore --source=HEAD --staged --worktree -- %s`", wording.TopPath(in.Path))
	}
	return fmt.Sprintf("both sides changed %s; nothing was merged. %s", in.Path, next)
}
