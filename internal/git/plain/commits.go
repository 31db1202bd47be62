package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// commit has the parts of a commit that are needed.
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
	if r.MostCommits > 0 && len(r.commits) >= r.MostCommits {
		return nil, unserved("more than %d commits are asked for, which git reads sooner", r.MostCommits)
	}
	o, err := r.object(ctx, id, plumbing.CommitObject, maxObject)
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

// named is commit for an id from the caller. Tags are followed.
func (r *Repo) named(ctx context.Context, name string) (*commit, error) {
	id, _, err := r.Peel(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case id == "":
		return nil, githistory.NotHere(name, errMissing)
	}
	return r.commit(ctx, id)
}

// parseCommit reads the first lines of a commit, "tree <id>" and any number of "parent <id>".
func parseCommit(data []byte) (*commit, error) {
	header, _, _ := strings.Cut(string(data), "\n\n")
	line, rest, _ := strings.Cut(header, "\n")
	tree, err := field(line, "tree")
	c := &commit{Commit: history.Commit{Parents: []string{}}, tree: plumbing.NewHash(tree)}
	for err == nil && strings.HasPrefix(rest, "parent ") {
		var parent string
		line, rest, _ = strings.Cut(rest, "\n")
		parent, err = field(line, "parent")
		c.Parents = append(c.Parents, parent)
	}
	// The committer's line is "committer NAME <MAIL> SECONDS ZONE".
	_, rest, _ = strings.Cut(rest, "\ncommitter ")
	line, _, _ = strings.Cut(rest, "\n")
	if words := strings.Fields(line[strings.LastIndexByte(line, '>')+1:]); len(words) > 0 {
		c.date, _ = strconv.ParseInt(words[0], 10, 64) //nolint:errcheck // an invalid date is no error
	}
	return c, err
}

// field is the id in a line of a name and an id.
func field(line, name string) (id string, err error) {
	id, ok := strings.CutPrefix(line, name+" ")
	if !ok || !githistory.SHA1.Valid(id) {
		err = fmt.Errorf("it is damaged: there is no line \"%s <id>\"", name)
	}
	return id, err
}

// Peel follows an object to a commit as [githistory.Repo.Peel] does.
func (r *Repo) Peel(ctx context.Context, id string) (commit string, here bool, err error) {
	if err := cmp.Or(githistory.SHA1.Check(id), alive(ctx, "looking for an object")); err != nil {
		return "", false, err
	}
	for tags := range maxTags {
		o, err := r.objects.read(id, maxTag)
		switch {
		case errors.Is(err, errMissing) && tags == 0:
			return "", false, nil
		case err != nil:
			return "", true, unreadable(id, err)
		case o.kind == plumbing.CommitObject:
			return id, true, nil
		case o.kind != plumbing.TagObject:
			return "", true, nil
		}
		line, _, _ := strings.Cut(string(o.data), "\n")
		if id, err = field(line, "object"); err != nil {
			return "", true, unreadable(id, err)
		}
	}
	return "", true, unreadable(id, errors.New("a tag of too many tags"))
}

// Commits lists commits as [githistory.Repo.Commits] does, whatever their dates.
func (r *Repo) Commits(ctx context.Context, include, exclude []string) (commits []history.Commit, err error) {
	with, without, err := r.reach(ctx, include, exclude)
	for id, c := range with {
		if without[id] == nil {
			commits = append(commits, c.Commit)
		}
	}
	slices.SortFunc(commits, func(a, b history.Commit) int { return strings.Compare(a.ID, b.ID) })
	return commits, err
}

// MergeBases are as [githistory.Repo.MergeBases].
func (r *Repo) MergeBases(ctx context.Context, a, b string) (bases []string, err error) {
	first, second, err := r.reach(ctx, []string{a}, []string{b})
	// Ancestors of a common commit are common too, so the best are those that are not a parent of another.
	common, isParent := map[string]bool{}, map[string]bool{}
	for id, c := range first {
		if second[id] != nil {
			common[id] = true
			for _, parent := range c.Parents {
				isParent[parent] = true
			}
		}
	}
	for id := range common {
		if !isParent[id] {
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

// reach finds the commits that are reachable from some, and those that are reachable from others, by their ids. If there are others, it
// leaves out what is below their floor.
func (r *Repo) reach(ctx context.Context, some, others []string) (first, second map[string]*commit, err error) {
	ids := make([]string, len(some)+len(others))
	for i, name := range slices.Concat(some, others) {
		c, err := r.named(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		ids[i] = c.ID
	}
	floor := ""
	if len(some) > 0 && len(others) > 0 {
		if floor, err = r.floor(ctx, ids); err != nil {
			return nil, nil, err
		}
	}
	if first, err = r.ancestry(ctx, ids[:len(some)], floor); err == nil {
		second, err = r.ancestry(ctx, ids[len(some):], floor)
	}
	return first, second, err
}

// ancestry finds some commits and everything reachable from them, except what is below the floor.
func (r *Repo) ancestry(ctx context.Context, ids []string, floor string) (map[string]*commit, error) {
	found := map[string]*commit{}
	for open := slices.Clone(ids); len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if found[id] != nil {
			continue
		}
		c, err := r.commit(ctx, id)
		if err != nil {
			return nil, err
		}
		if found[id] = c; id != floor {
			open = append(open, c.Parents...)
		}
	}
	return found, nil
}

// floor is a commit that every path down from some commits reaches: everything below it is reachable from each of them. Questions about
// commits reachable from only some of them, and about their best common ancestors, can be answered as if history began there. It is empty
// if a path reaches a root before.
//
// The newest commit is followed first. Commit dates can be wrong, but affect only how soon a floor is found.
func (r *Repo) floor(ctx context.Context, ids []string) (string, error) {
	seen := map[string]bool{}
	var open []*commit
	for {
		for _, id := range ids {
			if seen[id] {
				continue
			}
			c, err := r.commit(ctx, id)
			if err != nil {
				return "", err
			}
			seen[id], open = true, append(open, c)
		}
		if len(open) == 1 {
			return open[0].ID, nil
		}
		slices.SortFunc(open, func(a, b *commit) int { return cmp.Compare(a.date, b.date) })
		newest := open[len(open)-1]
		if ids, open = newest.Parents, open[:len(open)-1]; len(ids) == 0 {
			return "", nil
		}
	}
}
