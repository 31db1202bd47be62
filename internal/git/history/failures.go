package githistory

import (
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// unshallow is the remedy that completes a shallow clone, for each place where clones are made.
const unshallow = "in a clone: `git fetch --unshallow`\n" +
	`with actions/checkout: fetch-depth: 0
in GitLab CI: GIT_DEPTH: "0"`

// The reader on git and the one on go-git use the failures below, so that both say the same.

// NotHere is the failure for a commit that is needed and missing in the clone.
func NotHere(id string, cause error) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("commit %s is not in this clone", id),
		Remedy:  "`git fetch origin " + id + "`",
		Err:     errors.Join(history.ErrLacking, cause),
	}
}

// Hidden is the failure for a commit whose parents are needed, but hidden by a shallow clone.
func Hidden(id string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("this is a shallow clone: the history before commit %s is needed and not here", id),
		Remedy:  unshallow,
		Err:     history.ErrLacking,
	}
}

// Unreadable is the failure for an object that should be in the repository.
func Unreadable(id string, cause error) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("object %s cannot be read from the repository", id),
		Remedy:  "see what is damaged: `git fsck`",
		Err:     cause,
	}
}

// ErrDamaged is wrapped by the failure for an object whose content does not match its id. No reader can repair it.
var ErrDamaged = errors.New("its content is not what its id says")

// Damaged is the failure for an object whose content does not match its id.
func Damaged(id string) *failure.Error {
	f := Unreadable(id, ErrDamaged)
	f.Message += ": " + ErrDamaged.Error()
	return f
}

// Nowhere is the failure for a directory outside any repository.
func Nowhere(dir string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("%s is not in a git repository", wording.Printable(dir)),
		Remedy:  "go to a repository, or make one: `git init`",
		Err:     ErrNotRepository,
	}
}

// CannotOpen begins the message about a repository that exists but cannot be used.
func CannotOpen(dir string) string { return "cannot open the repository of " + wording.Printable(dir) }

// NotResolved is the failure for a name that leads to no commit.
func NotResolved(name string, shallow, isID bool, cause error) *failure.Error {
	f := &failure.Error{Message: fmt.Sprintf("%q does not name a commit of this clone", name), Err: errors.Join(history.ErrLacking, cause)}
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

// IsRevision reports whether a name can be passed to git as a revision: it could not be taken for an option, or for two lines.
func IsRevision(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && !strings.ContainsAny(name, "\x00\n")
}

// BaseOf returns the name in a revision without the suffixes of gitrevisions(7): HEAD for HEAD~2.
func BaseOf(revision string) string {
	for _, suffix := range []string{"^", "~", ":", "@{"} {
		revision, _, _ = strings.Cut(revision, suffix)
	}
	if revision == "@" {
		return "HEAD"
	}
	return revision
}

// NotARevision is the failure for a name that cannot be a revision.
func NotARevision(name string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("%q is not the name of a revision", name),
		Remedy:  "name a commit, a branch or a tag",
	}
}
