package plain

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/git/history"
)

var errNoSuchName = errors.New("no such revision")

// beyond matches what git may understand from gitrevisions(7) if it is not a ref: more than a name with ^ and ~, or an abbreviated id, of
// at least git's minimum length, alone or as git describe prints it.
var beyond = expression.Of(`[@^]\{|:/|(^|-g)[0-9a-fA-F]{4,39}([~^]|$)`)

// Resolve turns a revision into a commit's full id: an id, HEAD or @, a ref or a part of its name, followed by any number of ^, ^<n> and
// ~<n>. Tags are followed. A name that begins with a dash is refused, as is other syntax of gitrevisions(7).
func (r *Repo) Resolve(ctx context.Context, name string) (string, error) {
	if !githistory.IsRevision(name) {
		return "", githistory.NotARevision(name)
	}
	id, err := r.resolve(ctx, name)
	switch {
	case err == nil:
		return id, nil
	case errors.Is(err, errNoSuchName) && beyond().MatchString(name):
		return "", unserved("the revision %q needs more than a whole name with ^ and ~", name)
	case errors.Is(err, errNoSuchName), errors.Is(err, errMissing):
		return "", githistory.NotResolved(name, false, githistory.SHA1.Valid(name), err)
	}
	return "", cannot(fmt.Sprintf("cannot look up %q", name), err)
}

// step is one step back from a commit: to one of its parents (^, ^2), or by some generations (~3).
var step = expression.Of(`^[~^][0-9]*`)

func (r *Repo) resolve(ctx context.Context, name string) (string, error) {
	at := strings.IndexAny(name+"^", "~^")
	id, err := r.byName(name[:at])
	if err != nil {
		return "", err
	}
	commit, here, err := r.Peel(ctx, id)
	switch {
	case err == nil && !here:
		err = errMissing
	case err == nil && commit == "":
		err = errNoSuchName
	}
	for rest := name[at:]; rest != "" && err == nil; {
		one := step().FindString(rest)
		if one == "" {
			return "", errNoSuchName
		}
		commit, err = r.back(commit, one)
		rest = rest[len(one):]
	}
	return commit, err
}

// back is the result of one step. ^0 is the commit itself.
func (r *Repo) back(id, step string) (string, error) {
	n := 1
	if len(step) > 1 {
		var err error
		if n, err = strconv.Atoi(step[1:]); err != nil || n > 1<<30 {
			return "", errNoSuchName
		}
	}
	generations, parent := n, 1
	if step[0] == '^' {
		generations, parent = min(n, 1), n
	}
	for range generations {
		c, err := r.commit(id)
		if err != nil {
			return "", err
		}
		if parent > len(c.Parents) {
			return "", errNoSuchName
		}
		id = c.Parents[parent-1]
	}
	return id, nil
}

// byName is the id for a name without steps: an id or a ref. HEAD and a ref's full name mean only that ref; git falls back to
// refs/tags/<name> and others, which anybody who may push can create.
func (r *Repo) byName(name string) (string, error) {
	if githistory.SHA1.Valid(name) {
		return name, nil
	}
	if name == "@" {
		name = "HEAD"
	}
	rules := plumbing.RefRevParseRules
	if name == "HEAD" || strings.HasPrefix(name, "refs/") {
		rules = rules[:1]
	}
	s := r.refs()
	for _, rule := range rules {
		full := fmt.Sprintf(rule, name)
		if !plumbing.ReferenceName(full).IsSafe() {
			continue
		}
		if at, err := s.follow(full); err != nil || at.ID != "" {
			return at.ID, err
		}
	}
	return "", errNoSuchName
}
