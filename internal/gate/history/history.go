// Package history declares what the gate reads from a repository: commits, changes between
// two of them, files, and what commit messages say about agents.
package history

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// EdgesOf lists the edges of a child, one per parent; a root has one, from the empty tree.
func EdgesOf(child string, parents []string) []Edge {
	if len(parents) == 0 {
		return []Edge{{Child: child}}
	}
	out := make([]Edge, len(parents))
	for i, p := range parents {
		out[i] = Edge{Parent: p, Child: child}
	}
	return out
}

// PathsOf lists the paths that change on any edge and that wanted accepts, sorted.
func PathsOf(changes [][]Change, wanted func(path string) bool) []string {
	var paths []string
	for _, edge := range changes {
		for _, c := range edge {
			if wanted(c.Path) {
				paths = append(paths, c.Path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Tree reads the files of a revision. A directory on disk implements it too.
type Tree interface {
	// List lists the files of a revision that a filter selects, in order of path. A
	// path that a tree holds twice is an error.
	List(ctx context.Context, revision string, f Filter) ([]File, error)
	// Blob reads an object if its size is at most limit bytes; of a larger one it
	// returns the size and no data.
	Blob(ctx context.Context, object string, limit int64) (Blob, error)
}

// The modes in a tree or an index (gitdatamodel(7)). ModeDirectory is a directory on disk: no [File] of a commit is one. ModeProgram is an executable file.
const (
	ModeDirectory = "040000"
	ModeLink      = "120000"
	ModeSubmodule = "160000"
	ModePlain     = "100644"
	ModeProgram   = "100755"
)

// Update is one ref that a push moves.
type Update struct {
	// Ref is the full name.
	Ref string
	// Old is the ref's current commit, empty for a new ref; New is the commit that it will point to.
	Old, New string
	// Known are commits that the receiving side already has: their history is not judged again.
	Known []string
	// RejudgeOld judges Old's commits again, except for the Known ones.
	RejudgeOld bool
	// PolicyFromOldTip is true if the policy is that of the ref's old tip; then the new tip's policy takes effect with
	// this push.
	PolicyFromOldTip bool
	// Target is the default branch, if the ref is another branch than that. If Target is the zero Tip, the new tip is not compared with a target.
	Target Tip
	// Name stands for the new tip in messages; empty for its id.
	Name string
}

// Tip is a commit and its name in messages.
type Tip struct{ ID, Name string }

// Branches are those against which a branch is judged. The judged branch may still change what neither of them has. The zero Tip stands for a branch
// that is not known.
type Branches struct {
	// Default is the default branch: its commits have landed. Target is the branch into which the judged branch will be merged.
	Default, Target Tip
}

// Short abbreviates an object id for messages.
func Short(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	return id
}

// ShortRef returns a branch's name as it is typed: origin/main, or main.
func ShortRef(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/remotes/"), "refs/heads/")
}

// Index stands for the index from which git is committing, WorkTree for the files of the work tree.
const (
	Index    = ":index"
	WorkTree = ":worktree"
)

// Uncommitted reports whether a revision is the index or the work tree.
func Uncommitted(revision string) bool { return revision == Index || revision == WorkTree }

// CommitOrParents returns a revision or, if it is not committed yet, its parents.
func CommitOrParents(revision string, parents []string) []string {
	if Uncommitted(revision) {
		return parents
	}
	return []string{revision}
}

// ErrLacking is wrapped by errors about something that this clone lacks and a fetch may bring: a commit, a name, history beyond a shallow
// clone's boundary.
var ErrLacking = errors.New("the clone lacks it")

// History reads a repository. Revisions are full object ids, or Index. An implementation never answers from a part of
// what it was asked for: a shallow boundary or a missing object on the way is an error, usually a *failure.Error that
// says what to type.
type History interface {
	Tree
	// Commits lists the commits that are reachable from include and not from
	// exclude, in any order.
	Commits(ctx context.Context, include, exclude []string) ([]Commit, error)
	// Diff compares trees. It returns for each edge the files that a filter selects
	// and whose mode or object differs, in order of path. An empty Parent stands for
	// the empty tree. A path that a tree holds twice is an error.
	Diff(ctx context.Context, edges []Edge, f Filter) ([][]Change, error)
	// MergeBases returns the best common ancestors of two commits: none if their
	// histories are unrelated, several after criss-cross merges.
	MergeBases(ctx context.Context, a, b string) ([]string, error)
	// Signature reads a commit's author, date and message; for the index, only the author that git
	// would write.
	Signature(ctx context.Context, revision string) (Signature, error)
}

// Signature is a commit's author, date and message. No mailmap is applied: it is a file of the tree, and changing it
// could change whose commit it is.
type Signature struct {
	// Name and Email are the author's, as in the commit; bytes that are not UTF-8 are replaced.
	Name, Email string
	// Date is the author's, in RFC 3339 with the author's zone; empty if the commit has none that can be read.
	Date string
	// Message is the commit's message.
	Message string
}

// Subject returns the first paragraph of the message in one line (git-log(1), %s).
func (s Signature) Subject() string {
	var words []string
	for line := range strings.Lines(strings.TrimLeft(s.Message, "\r\n \t")) {
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		words = append(words, line)
	}
	return strings.Join(words, " ")
}

// Commit is one commit of a history.
type Commit struct {
	ID string
	// Parents are in the commit's order, read from the real objects.
	Parents []string
}

// Compared holds edges, and the judged files that each changes.
type Compared struct {
	Edges   []Edge
	Changes [][]Change
}

// Edge is one parent and one child.
type Edge struct{ Parent, Child string }

// File is one path of a tree or of the index.
type File struct {
	// Path is slash-separated, from the root of the tree.
	Path string
	// Mode is git's six-digit octal mode.
	Mode string
	// Object is the id of the blob.
	Object string
	// Unmerged is true for a path of the index with an unresolved conflict.
	Unmerged bool
}

// Regular reports whether the file is an ordinary one.
func (f File) Regular() bool { return f.Mode == ModePlain || f.Mode == ModeProgram }

// Change is one path that differs on an edge. Old or New is the zero File if the path is absent.
type Change struct {
	Path     string
	Old, New File
}

// Blob is an object's content.
type Blob struct {
	Size int64
	// Data is nil if Size exceeds the requested limit. It may be shared: do not write to it.
	Data []byte
}

// BlobID returns the id that git gives a blob. like is an id of the same repository, which tells the hash.
func BlobID(data []byte, like string) string { return ObjectID("blob", data, like) }

// ObjectID returns the id that git gives an object of a kind: the hash of a header and the content (the book Pro Git, "Git Internals - Git
// Objects"). like is an id of the same repository, which tells the hash.
func ObjectID(kind string, data []byte, like string) string {
	sum := sha1.New()
	if len(like) == 2*sha256.Size {
		sum = sha256.New()
	}
	sum.Write(fmt.Appendf(nil, "%s %d\x00", kind, len(data)))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

// ChangeAt finds the change of a path on one edge. changes are in order of path.
func ChangeAt(changes []Change, path string) (Change, bool) {
	i, found := slices.BinarySearchFunc(changes, path, func(c Change, path string) int { return strings.Compare(c.Path, path) })
	if !found {
		return Change{}, false
	}
	return changes[i], true
}

// ChangeIn finds the change of a path on the first edge that has one.
func ChangeIn(edges [][]Change, path string) (Change, bool) {
	for _, edge := range edges {
		if c, changed := ChangeAt(edge, path); changed {
			return c, true
		}
	}
	return Change{}, false
}

// ListByPath lists files as [Tree] does, by their paths.
func ListByPath(ctx context.Context, tree Tree, revision string, f Filter) (map[string]File, error) {
	files, err := tree.List(ctx, revision, f)
	out := make(map[string]File, len(files))
	for _, f := range files {
		out[f.Path] = f
	}
	return out, err
}

// FirstOf returns the first of some ids; empty if there is none.
func FirstOf(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// IsObjectID reports whether s is a full object id as git writes it, of SHA-1 or SHA-256.
func IsObjectID(s string) bool { return (len(s) == 40 || len(s) == 64) && IsHex(s) }

// IsHex reports whether a text holds only lower-case hex digits, as in git's ids.
func IsHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// IsZero reports whether an id is git's null id, of any length: it stands for no object.
func IsZero(id string) bool { return id != "" && strings.Trim(id, "0") == "" }
