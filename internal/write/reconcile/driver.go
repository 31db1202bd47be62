package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// MergeInput has the values that git passes to a merge driver (gitattributes(5), "Defining a custom merge driver").
type MergeInput struct {
	// Base, Ours and Theirs are the contents of the files %O, %A and %B. A missing base is empty.
	Base, Ours, Theirs []byte
	// Files are the names of these files.
	Files [3]string
	// Marker is the length of conflict markers, %L; 0 means 7. Between both sides of a log or a workspace's file they have at least 7 characters.
	Marker int
	// Path is the path of the file in the tree, %P.
	Path string
	// Label is git's name for the other side, %Y. An older git does not know %Y: then this is another text, and is ignored.
	Label string
}

// Merged is the result of a merge driver.
type Merged struct {
	Text []byte
	// Conflict is true if both sides changed the file and the changes cannot be merged. Then Text has both versions, with conflict markers.
	Conflict bool
	// Message describes the conflict, and says what to type.
	Message string
	// Notes are for a person, about a merge without a conflict.
	Notes []string
}

// Merge merges a file if the three versions suffice: one side did not change the file, both made the same change, or one side's log continues
// the other's. Otherwise it makes a conflict.
func (in MergeInput) Merge() Merged {
	switch {
	case bytes.Equal(in.Ours, in.Theirs), bytes.Equal(in.Base, in.Theirs):
		return Merged{Text: in.Ours}
	case bytes.Equal(in.Base, in.Ours), in.logContinues(in.Ours, in.Theirs):
		return Merged{Text: in.Theirs}
	case in.logContinues(in.Theirs, in.Ours):
		return Merged{Text: in.Ours}
	}
	return Merged{Text: in.withMarkers(), Conflict: true, Message: in.conflictMessage()}
}

// logContinues reports whether later is a log that continues the text of earlier.
func (in MergeInput) logContinues(earlier, later []byte) bool {
	if path.Base(in.Path) != small.Progress.FileName() || len(earlier) == 0 || !bytes.HasPrefix(later, earlier) {
		return false
	}
	before, _ := ledger.ReadLog(earlier, small.Limits{})
	after, _ := ledger.ReadLog(later, small.Limits{})
	return before != nil && after != nil && after.Extends(before.Ledger)
}

// withMarkers returns the lines with which both sides begin, then the rest of each side between conflict markers.
func (in MergeInput) withMarkers() []byte {
	ours, theirs := combine.Lines(in.Ours), combine.Lines(in.Theirs)
	same := 0
	for same < min(len(ours), len(theirs)) && bytes.Equal(ours[same], theirs[same]) && bytes.HasSuffix(ours[same], []byte("\n")) {
		same++
	}
	size := in.Marker
	if size < 7 {
		size = 7
	}
	end := combine.LineEnd(in.Ours)
	out := combine.Join(ours[:same])
	part := func(marker, label string, lines [][]byte) {
		out = append(out, strings.Repeat(marker, size)+label+end...)
		out = combine.WithLineEnd(append(out, combine.Join(lines)...), end)
	}
	part("<", " ours", ours[same:])
	part("=", "", theirs[same:])
	part(">", " theirs", nil)
	return out
}

func (in MergeInput) conflictMessage() string {
	next := "Type `small-hook reconcile`"
	if a, _ := small.ArtifactOf(path.Base(in.Path)); a == small.Intent || a == small.Constraints {
		next = fmt.Sprintf("A person decides; to keep the file that is checked out, type `git restore --source=HEAD --staged --worktree -- %s`", wording.TopPath(in.Path))
	}
	return fmt.Sprintf("both sides changed %s; nothing was merged. %s", in.Path, next)
}

// Drive merges one file for git's merge driver: a file of a workspace or a log as Run would, any other file line by line as git would. It returns nil if
// the commits that git is merging cannot be found, or if Run does not merge files of this name.
func Drive(ctx context.Context, repo Repository, opts Options, in MergeInput) (*Merged, error) {
	g, err := workgit.Open(repo.Where(), opts.Environ)
	if err != nil {
		return nil, err
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	r := newReconciliation(repo, g, opts)
	if r.op, err = findDriverOperation(ctx, repo, g, opts.Environ, head, in.Label); err != nil {
		return nil, err
	}
	if err := r.readPolicies(ctx); err != nil || len(r.op.theirs) == 0 {
		return nil, err
	}
	if dir, _, inWorkspace := small.SplitPath(in.Path); r.opts.Policy.LogFor(in.Path) == nil && (!inWorkspace || !opts.Policy.Judges(dir)) {
		return in.mergeLines(ctx, g)
	}
	if known, err := r.sidesAreInput(ctx, in); err != nil || !known {
		return nil, err
	}
	if err := r.completeSides(ctx); err != nil {
		return nil, err
	}
	text, notes, err := r.mergeFile(ctx, in.Path)
	if err != nil || text == nil {
		return nil, err
	}
	return &Merged{Text: text, Notes: notes}, nil
}

// mergeLines merges a file as git does without a driver (git-merge-file(1)).
func (in MergeInput) mergeLines(ctx context.Context, g *workgit.Tree) (*Merged, error) {
	done, err := g.Git.Run(ctx, nil, "merge-file", "-p", fmt.Sprintf("--marker-size=%d", cmp.Or(in.Marker, 7)),
		"-L", "ours", "-L", "base", "-L", "theirs", "--", in.Files[1], in.Files[0], in.Files[2])
	const maxConflicts = 127 // the status is the number of conflicts, at most this
	switch {
	case err != nil:
		return nil, err
	case done.Status > maxConflicts:
		return nil, &failure.Error{Message: fmt.Sprintf("git cannot merge the lines of %s: %s", in.Path, gitcmd.OneLine(done.Stderr)), Remedy: "Choose a version: `git checkout --ours -- " + wording.TopPath(in.Path) + "`, or `--theirs`"}
	}
	merged := &Merged{Text: done.Out, Conflict: done.Status > 0}
	if merged.Conflict {
		merged.Message = fmt.Sprintf("both sides changed the same lines of %s. Edit the file, then type `git add -- %s`", in.Path, wording.TopPath(in.Path))
	}
	return merged, nil
}

// sidesAreInput reports whether in has the file's versions of the sides that were found. git passes other versions, for example, while it merges
// several merge bases into one.
func (r *reconciliation) sidesAreInput(ctx context.Context, in MergeInput) (bool, error) {
	if len(r.op.theirs) != 1 {
		return false, nil
	}
	ours, err := r.readSide(ctx, r.op.ours, in.Path)
	if err != nil {
		return false, err
	}
	theirs, err := r.readSide(ctx, r.op.theirs[0], in.Path)
	return err == nil && bytes.Equal(ours, in.Ours) && bytes.Equal(theirs, in.Theirs), err
}

// mergeFile merges one file, and returns notes for a person. The text is nil if Run merges no such file.
func (r *reconciliation) mergeFile(ctx context.Context, path string) (text []byte, notes []string, err error) {
	dir, name, _ := small.SplitPath(path)
	a, _ := small.ArtifactOf(name)
	switch {
	case r.opts.Policy.LogFor(path) != nil, a == small.Progress:
		c, _, _, err := r.readCase(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		notes, err := r.updateIDs(ctx, &c)
		if err != nil {
			return nil, nil, err
		}
		resolved, err := r.combineLog(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		return resolved.Text, notes, nil
	case !slices.Contains(mergedArtifacts, a):
		return nil, nil, nil
	}
	done := map[small.Artifact][]byte{}
	for _, one := range mergedArtifacts {
		data, notes, err := r.mergeArtifact(ctx, dir, one, false, done)
		if one == a {
			return data, notes, err
		}
		if err == nil {
			done[one] = data // if one cannot be merged, git's call for that file makes the conflict
		}
	}
	return nil, nil, nil
}

// findDriverOperation finds the sides of the operation in which git calls the merge driver. No pseudo ref names them yet: they are taken from
// the environment of a merge, or from git's label for the applied commit, or from a rebase's list of finished steps.
func findDriverOperation(ctx context.Context, repo Repository, g *workgit.Tree, environ []string, head, label string) (*operation, error) {
	op := &operation{ours: side{id: head}}
	for _, id := range workgit.GitHeads(environ) {
		if id != head {
			op.kind = state.Merge
			op.theirs = append(op.theirs, side{id: id})
		}
	}
	if op.kind != "" || head == "" {
		return op, nil
	}
	applied := ""
	if m := appliedLabel().FindStringSubmatch(label); m != nil {
		applied = m[1]
	} else {
		done, err := state.ReadFile(repo.Where().GitDir, "rebase-merge/done")
		if err != nil {
			return nil, err
		}
		lines := strings.Split(strings.TrimSpace(string(done)), "\n")
		if m := appliedLine().FindStringSubmatch(lines[len(lines)-1]); m != nil {
			applied = m[1]
		}
	}
	if applied == "" {
		return op, nil
	}
	u, err := state.Read(repo.Where().GitDir)
	if err != nil {
		return nil, err
	}
	kind := state.Pick // git has not written CHERRY_PICK_HEAD yet
	if u.Command == state.Rebase {
		kind = state.Rebase
	}
	return op, op.useAppliedCommit(ctx, repo, g, applied, kind)
}

var (
	// appliedLabel is git's label for a commit that it applies: "1c8dd23 (subject)".
	appliedLabel = expression.Of(`^([0-9a-f]{4,64}) \(`)
	// appliedLine is a line in a rebase's list of finished steps.
	appliedLine = expression.Of(`^(?:pick|p|reword|r|edit|e|squash|s|fixup|f)(?: -[cC])? ([0-9a-f]{4,64})\b`)
)
