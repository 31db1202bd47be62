package embedded

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/githistory"
)

var errNoSuchName = errors.New("no such revision")

// Resolve turns a revision into a commit's full id: an id, HEAD or @, a ref or a
// part of its name, followed by any number of ^, ^<n> and ~<n>. Tags are followed.
// A name that begins with a dash is refused, and so is what gitrevisions(7) knows
// besides.
func (r *Repo) Resolve(ctx context.Context, name string) (string, error) {
	if err := alive(ctx, "looking up a revision"); err != nil {
		return "", err
	}
	if !githistory.IsRevision(name) {
		return "", githistory.NotARevision(name)
	}
	if strings.Contains(name, "@{") || strings.Contains(name, ":/") || strings.Contains(name, "^{") {
		return "", unserved("the revision %q needs more than a name with ^ and ~", name)
	}
	id, err := r.resolve(name)
	switch {
	case err == nil:
		return id.String(), nil
	case errors.Is(err, errNoSuchName), errors.Is(err, errMissing):
		return "", githistory.NotResolved(name, r.Shallow, isID(name), err)
	}
	return "", cannot(fmt.Sprintf("cannot look up %q", name), err)
}

// suffix matches the last step of a revision: ~3, ^ or ^2.
var suffix = expression.Of(`[~^][0-9]*$`)

func (r *Repo) resolve(name string) (plumbing.Hash, error) {
	step := suffix().FindString(name)
	if step == "" {
		id, err := r.byName(name)
		if err != nil {
			return id, err
		}
		return r.toCommit(id)
	}
	id, err := r.resolve(strings.TrimSuffix(name, step))
	if err != nil {
		return id, err
	}
	n := 1
	if len(step) > 1 {
		if n, err = strconv.Atoi(step[1:]); err != nil || n > 1<<30 {
			return id, errNoSuchName
		}
	}
	generations, parent := n, 1
	if step[0] == '^' {
		generations, parent = min(n, 1), n // ^0 is the commit itself
	}
	for range generations {
		c, err := r.commit(id)
		if err != nil {
			return id, err
		}
		if parent > len(c.parents) {
			return id, errNoSuchName
		}
		id = c.parents[parent-1]
	}
	return id, nil
}

// toCommit follows tags to a commit, or fails because there is none.
func (r *Repo) toCommit(id plumbing.Hash) (plumbing.Hash, error) {
	to, kind, err := r.peel(id)
	if err == nil && kind != plumbing.CommitObject {
		err = fmt.Errorf("%w: it leads to a %s", errNoSuchName, kind)
	}
	return to, err
}

// abbreviated matches the beginning of an id, of at least as many digits as git
// takes for one, also as git describe prints it.
var abbreviated = expression.Of(`^[0-9a-fA-F]{4,40}$|-g[0-9a-fA-F]{4,40}$`)

// byName resolves a name without suffixes: a full id or a ref.
func (r *Repo) byName(name string) (plumbing.Hash, error) {
	if isID(name) {
		return parseID(name)
	}
	if name == "@" {
		name = "HEAD"
	}
	s := &refs{repo: r}
	for _, full := range refNames(name) {
		id, _, found, err := s.follow(full)
		if found || err != nil {
			return id, err
		}
	}
	if abbreviated().MatchString(name) {
		return plumbing.ZeroHash, unserved("%q may be an abbreviated id", name)
	}
	return plumbing.ZeroHash, errNoSuchName
}

// refNames are the refs that a name can mean, in the order in which git tries
// them. HEAD and a ref's full name mean that ref alone; git goes on to
// refs/tags/<name> and others, which anybody who may push can make.
func refNames(name string) []string {
	if name == "HEAD" || strings.HasPrefix(name, "refs/") && validRef(name) {
		return []string{name}
	}
	var names []string
	if strings.IndexFunc(name, func(c rune) bool { return (c < 'A' || c > 'Z') && c != '_' }) < 0 {
		names = append(names, name)
	}
	for _, form := range []string{"refs/", "refs/tags/", "refs/heads/", "refs/remotes/"} {
		names = append(names, form+name)
	}
	names = append(names, "refs/remotes/"+name+"/HEAD")
	valid := names[:0]
	for _, name := range names {
		if validRef(name) {
			valid = append(valid, name)
		}
	}
	return valid
}
