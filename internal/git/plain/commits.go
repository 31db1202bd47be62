package plain

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// commit is a commit with its tree and date.
type commit struct {
	history.Commit
	tree plumbing.Hash
	date int64 // committer date in seconds; 0 if invalid
}

// commit reads a commit that must exist. Commits are cached.
func (r *Repo) commit(ctx context.Context, id string) (*commit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.commits[id]; c != nil {
		return c, nil
	}
	o, err := r.object(ctx, id, plumbing.CommitObject, maxParsed)
	if err != nil {
		return nil, err
	}
	c, err := parseCommit(o.data)
	if err != nil {
		return nil, unreadable(id, err)
	}
	c.ID, r.commits[id] = id, c
	return c, nil
}

// peeledCommit reads the commit with this id, or the one to which the tag with this id leads.
func (r *Repo) peeledCommit(ctx context.Context, id string) (*commit, error) {
	peeled, _, err := r.Peel(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case peeled == "":
		return nil, githistory.NotHere(id, errors.Join(ErrUnserved, errNotFound))
	}
	return r.commit(ctx, peeled)
}

// commitHead matches the beginning of a commit: its tree, its parents, and the seconds of the committer's date, if it has a valid one.
var commitHead = expression.Of(`^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author .*\n(?:committer .*> ([0-9]+) )?`)

func parseCommit(data []byte) (*commit, error) {
	m := commitHead().FindStringSubmatch(string(data))
	if m == nil {
		return nil, errors.New("it is damaged: its tree, its parents or its author is not where it belongs")
	}
	c := &commit{Commit: history.Commit{Parents: []string{}}, tree: plumbing.NewHash(m[1])}
	for parent := range strings.Lines(m[2]) {
		c.Parents = append(c.Parents, strings.TrimSpace(strings.TrimPrefix(parent, "parent ")))
	}
	c.date, _ = strconv.ParseInt(m[3], 10, 64) //nolint:errcheck // without a valid date it counts as old
	return c, nil
}

// Peel follows an object to a commit as [githistory.Repo.Peel] does. found is false if the object is not in the repository.
func (r *Repo) Peel(ctx context.Context, id string) (commit string, found bool, err error) {
	if err := cmp.Or(githistory.SHA1.Check(id), ctx.Err()); err != nil {
		return "", false, err
	}
	for tags := range maxTags {
		o, err := r.objects.read(id, maxTag)
		switch {
		case errors.Is(err, errNotFound) && tags == 0:
			return "", false, nil
		case err != nil:
			return "", true, unreadable(id, err)
		case o.kind == plumbing.CommitObject:
			return id, true, nil
		case o.kind != plumbing.TagObject:
			return "", true, nil
		}
		tagged, ok := bytes.CutPrefix(o.data, []byte("object "))
		if !ok || len(tagged) < 2*idSize || !githistory.SHA1.Valid(string(tagged[:2*idSize])) {
			return "", true, unreadable(id, errors.New("it is damaged: it does not begin with the object's id"))
		}
		id = string(tagged[:2*idSize])
	}
	return "", true, unreadable(id, errors.New("it leads through too many tags"))
}

// Commits lists commits as [githistory.Repo.Commits] does.
func (r *Repo) Commits(ctx context.Context, include, exclude []string) (commits []history.Commit, err error) {
	found, err := r.findReachable(ctx, include, exclude)
	for _, c := range found {
		if c.from == fromFirst {
			commits = append(commits, c.Commit)
		}
	}
	slices.SortFunc(commits, func(a, b history.Commit) int { return strings.Compare(a.ID, b.ID) })
	return commits, err
}

// MergeBases are as [githistory.Repo.MergeBases].
func (r *Repo) MergeBases(ctx context.Context, a, b string) (bases []string, err error) {
	found, err := r.findReachable(ctx, []string{a}, []string{b})
	// Ancestors of a common commit are common too. A merge base is a common commit that is not a parent of another one.
	isParent := map[string]bool{}
	for _, c := range found {
		for i := 0; i < len(c.Parents) && c.from == fromBoth; i++ {
			isParent[c.Parents[i]] = true
		}
	}
	for id, c := range found {
		if c.from == fromBoth && !isParent[id] {
			bases = append(bases, id)
		}
	}
	slices.Sort(bases)
	return bases, err
}

// IsAncestor is as [githistory.Repo.IsAncestor].
func (r *Repo) IsAncestor(ctx context.Context, ancestor, commit string) (bool, error) {
	bases, err := r.MergeBases(ctx, ancestor, commit)
	return slices.Contains(bases, ancestor), err
}

// reached is a commit that was reached from one of two sides or from both: from is a set of bits, one for each side.
type reached struct {
	*commit
	from int
}

const fromFirst, fromBoth = 1, 3

// findReachable returns the commits that are reachable from either of two sides, in a map from their ids. It follows the newest commit first; wrong dates
// only make the walk longer.
//
// Usually the walk ends when only one commit is left to follow: every path from both sides goes through that commit, so its ancestors are reachable from
// both sides. The map may lack these ancestors. If a path has ended in a root, or a side is empty, the walk goes on to the roots.
func (r *Repo) findReachable(ctx context.Context, sides ...[]string) (map[string]*reached, error) {
	found := map[string]*reached{}
	var open []*reached // their parents have to be followed
	add := func(c *commit, from int) {
		f := found[c.ID]
		if f == nil {
			f = &reached{commit: c}
			found[c.ID] = f
		}
		if from|f.from != f.from && !slices.Contains(open, f) {
			open = append(open, f)
		}
		f.from |= from
	}
	toRoots := false // a path has ended in a root, or a side is empty
	for i, names := range sides {
		toRoots = toRoots || len(names) == 0
		for _, name := range names {
			c, err := r.peeledCommit(ctx, name)
			if err != nil {
				return nil, err
			}
			add(c, 1<<i)
		}
	}
	for len(open) > 1 || toRoots && len(open) > 0 {
		slices.SortFunc(open, func(a, b *reached) int { return cmp.Compare(a.date, b.date) })
		newest := open[len(open)-1]
		open = open[:len(open)-1]
		toRoots = toRoots || len(newest.Parents) == 0
		for _, id := range newest.Parents {
			c, err := r.commit(ctx, id)
			if err != nil {
				return nil, err
			}
			add(c, newest.from)
		}
	}
	return found, nil
}
