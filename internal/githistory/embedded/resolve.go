package embedded

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
)

// errNoSuchName says that a name leads nowhere.
var errNoSuchName = errors.New("no such revision")

// described matches what git describe prints.
var described = regexp.MustCompile(`-g[0-9a-f]{4,}$`)

// Resolve turns a revision into a commit's full id: an id, a ref or a part of its
// name, HEAD and @, followed by any number of ^,
// ^<n>, ~<n>, ^{commit}, ^{} and ^0 (gitrevisions(7)). Tags are followed. A
// name that begins with a dash is refused, and so is what gitrevisions knows
// besides.
func (r *Repo) Resolve(ctx context.Context, name string) (string, error) {
	if err := alive(ctx, "looking up a revision"); err != nil {
		return "", err
	}
	if !githistory.IsRevision(name) {
		return "", githistory.NotARevision(name)
	}
	if strings.Contains(name, "@{") || strings.Contains(name, ":/") || strings.Contains(name, "^{/") || described.MatchString(name) {
		return "", &gate.Failure{
			Message: fmt.Sprintf("the embedded reader does not understand the revision %q", name),
			Remedy:  "name a commit, a branch or a tag; or " + useGit,
			Err:     ErrUnserved,
		}
	}
	id, err := r.resolve(name)
	var done *gate.Failure
	switch {
	case err == nil:
		return id.String(), nil
	case errors.As(err, &done) && !errors.Is(err, errMissing), errors.Is(err, errMissing) && r.site.layout.promisor:
		return "", err
	case errors.Is(err, errNoSuchName), errors.Is(err, errMissing):
		return "", githistory.NotResolved(name, r.Shallow, isID(name), err)
	}
	return "", cannot(fmt.Sprintf("cannot look up %q", name), err)
}

func (r *Repo) resolve(name string) (plumbing.Hash, error) {
	end := strings.IndexAny(name, "^~")
	if end < 0 {
		end = len(name)
	}
	id, err := r.base(name[:end])
	if err != nil {
		return id, err
	}
	for steps := name[end:]; steps != ""; {
		if id, steps, err = r.step(id, steps); err != nil {
			return id, err
		}
	}
	return r.toCommit(id)
}

// toCommit follows tags to a commit, or fails because there is none.
func (r *Repo) toCommit(id plumbing.Hash) (plumbing.Hash, error) {
	to, kind, err := r.peel(id)
	if err == nil && kind != plumbing.CommitObject {
		err = fmt.Errorf("%w: it leads to a %s", errNoSuchName, kind)
	}
	return to, err
}

// step takes one suffix off and goes where it leads.
func (r *Repo) step(id plumbing.Hash, steps string) (plumbing.Hash, string, error) {
	for _, peel := range []string{"^{commit}", "^{}"} {
		if rest, ok := strings.CutPrefix(steps, peel); ok {
			to, err := r.toCommit(id)
			return to, rest, err
		}
	}
	kind, rest := steps[0], steps[1:]
	end := strings.IndexAny(rest, "^~")
	if end < 0 {
		end = len(rest)
	}
	n := 1
	if end > 0 {
		number, err := strconv.ParseUint(rest[:end], 10, 31)
		if err != nil {
			return id, "", errNoSuchName
		}
		n = int(number)
	}
	generations, parent := 1, n
	if kind == '~' {
		generations, parent = n, 1
	}
	to, err := r.toCommit(id)
	if err == nil && parent > 0 { // ^0 is the commit itself
		to, err = r.up(to, generations, parent)
	}
	return to, rest[end:], err
}

// up goes to a parent, by its number from 1 on, several times over.
func (r *Repo) up(id plumbing.Hash, generations, parent int) (plumbing.Hash, error) {
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

// minAbbreviation is the least number of digits that git takes for an id.
const minAbbreviation = 4

// base resolves a name without suffixes: a full id or a ref.
func (r *Repo) base(name string) (plumbing.Hash, error) {
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
	if len(name) >= minAbbreviation && len(name) <= idDigits && isHex(strings.ToLower(name)) {
		return plumbing.ZeroHash, unserved("%q may be the beginning of an id", name)
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
