package githistory

import (
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
)

// ErrLacking is in the chain of the errors for what this clone does not have and
// another may: a commit, a name, history before a shallow clone's end. Fetch may
// provide it.
var ErrLacking = errors.New("the clone lacks it")

// unshallow is what makes a shallow clone whole, by where it was made.
const unshallow = "in a clone: `git fetch --unshallow`\n" +
	`with actions/checkout: fetch-depth: 0
in GitLab CI: GIT_DEPTH: "0"`

// The failures below are those that every reader of repositories meets, in the
// same words whichever it is.

// NotHere is the failure for a commit that was asked about and that the clone
// does not have.
func NotHere(id string, cause error) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("commit %s is not in this clone", id),
		Remedy:  "`git fetch origin " + id + "`",
		Err:     errors.Join(ErrLacking, cause),
	}
}

// Hidden is the failure for history that a shallow clone hides: what comes
// before the commit is needed.
func Hidden(id string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("this is a shallow clone: the history before commit %s is needed and not here", id),
		Remedy:  unshallow,
		Err:     ErrLacking,
	}
}

// Unreadable is the failure for an object that ought to be in the repository.
func Unreadable(id string, cause error) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("object %s cannot be read from the repository", id),
		Remedy:  "see what is damaged: `git fsck`",
		Err:     cause,
	}
}

// ErrDamaged is in the chain of the failure for an object with the content of
// another. No reader can make it good.
var ErrDamaged = errors.New("its content is not what its id says")

// Damaged is the failure for an object whose content does not have its id.
func Damaged(id string) *failure.Error {
	f := Unreadable(id, ErrDamaged)
	f.Message += ": " + ErrDamaged.Error()
	return f
}

// NoIndex is the failure for a question about the index of a repository that
// has no work tree. git would take it for an empty one.
func NoIndex(gitDir string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("%s has no work tree, so there is no index to judge", wording.Printable(gitDir)),
		Remedy:  "name a commit instead, or run this in a work tree",
	}
}

// Nowhere is the failure for a directory that is in no repository at all.
func Nowhere(dir string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("%s is not in a git repository", wording.Printable(dir)),
		Remedy:  "go to a repository, or make one: `git init`",
		Err:     ErrNotRepository,
	}
}

// CannotOpen begins the message about a repository that is there and cannot be
// used.
func CannotOpen(dir string) string { return "cannot open the repository of " + wording.Printable(dir) }

// SeeWhatGitSays is the remedy for a repository that cannot be opened.
const SeeWhatGitSays = "see what else git says: `git status`"

// NotResolved is the failure for a name that leads to no commit.
func NotResolved(name string, shallow, isID bool, cause error) *failure.Error {
	f := &failure.Error{Message: fmt.Sprintf("%q does not name a commit of this clone", name), Err: errors.Join(ErrLacking, cause)}
	switch {
	case name == "HEAD":
		f.Remedy = "this branch has no commit yet: commit first"
	case shallow:
		f.Remedy = unshallow
	case isID:
		f.Remedy = "`git fetch origin " + name + "`"
	default:
		f.Remedy = "see what there is: `git branch --all`, `git tag`; or fetch it: `git fetch origin`"
	}
	return f
}

// IsRevision reports whether a name can be handed on as that of a revision.
func IsRevision(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && !strings.ContainsAny(name, "\x00\n")
}

// BaseOf is the name of a revision without what follows it (gitrevisions(7)):
// HEAD of HEAD~2.
func BaseOf(revision string) string {
	for _, suffix := range []string{"^", "~", ":", "@{"} {
		revision, _, _ = strings.Cut(revision, suffix)
	}
	if revision == "@" {
		return "HEAD"
	}
	return revision
}

// NotARevision is the failure for a name that no revision can have.
func NotARevision(name string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("%q is not the name of a revision", name),
		Remedy:  "name a commit, a branch or a tag",
	}
}
