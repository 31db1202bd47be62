package embedded

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
)

// maxCommit bounds the size of a commit or a tag, in bytes.
const maxCommit = 64 << 20

// commit is what is needed of a commit.
type commit struct {
	id      plumbing.Hash
	tree    plumbing.Hash
	parents []plumbing.Hash // none where a shallow clone hides them
	hidden  bool            // whether it does
	lanes   []string        // what its message says of lanes
	date    int64           // when it was committed, in seconds, as it says; 0 if it does not
}

// commit reads a commit that must be there. Commits are kept.
func (r *Repo) commit(id plumbing.Hash) (*commit, error) {
	r.mu.Lock()
	c := r.commits[id]
	r.mu.Unlock()
	if c != nil {
		return c, nil
	}
	o, err := r.object(id, plumbing.CommitObject, maxCommit)
	if err != nil {
		return nil, err
	}
	c, err = parseCommit(o.data)
	if err != nil {
		return nil, r.unreadable(id, err)
	}
	c.id = id
	_, message, _ := bytes.Cut(o.data, []byte("\n\n"))
	c.lanes = history.ClaimedLanes(message)
	if r.boundary[id] {
		c.hidden, c.parents = len(c.parents) > 0, nil
	}
	r.mu.Lock()
	r.commits[id] = c
	r.mu.Unlock()
	return c, nil
}

// named is commit for an id that the caller gave.
func (r *Repo) named(name string) (*commit, error) {
	id, err := parseID(name)
	if err != nil {
		return nil, err
	}
	c, err := r.commit(id)
	if errors.Is(err, errMissing) {
		return nil, githistory.NotHere(name, err)
	}
	return c, err
}

var errCommit = errors.New("the commit is damaged")

// parseCommit reads the lines with which a commit begins:
//
//	tree <id> LF
//	parent <id> LF (any number of them)
func parseCommit(data []byte) (*commit, error) {
	c := &commit{}
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	if err := field(line, "tree ", &c.tree); err != nil {
		return nil, err
	}
	for bytes.HasPrefix(rest, []byte("parent ")) {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		var parent plumbing.Hash
		if err := field(line, "parent ", &parent); err != nil {
			return nil, err
		}
		c.parents = append(c.parents, parent)
	}
	c.date = dateOf(rest)
	return c, nil
}

// dateOf reads the committer's line, "committer NAME <MAIL> SECONDS ZONE".
func dateOf(header []byte) int64 {
	_, rest, _ := bytes.Cut(header, []byte("\ncommitter "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	_, numbers, _ := bytes.Cut(line[max(bytes.LastIndexByte(line, '>'), 0):], []byte(" "))
	seconds, _, _ := bytes.Cut(numbers, []byte(" "))
	date, err := strconv.ParseInt(string(seconds), 10, 64)
	if err != nil {
		return 0 // whatever stands there, it is the same commit
	}
	return date
}

func field(line []byte, name string, id *plumbing.Hash) error {
	text, ok := bytes.CutPrefix(line, []byte(name))
	if !ok || !isID(string(text)) {
		return errCommit
	}
	_, err := hex.Decode(id[:], text)
	return err
}

// maxTags bounds how many tags may be tags of tags.
const maxTags = 100

// peel follows tags to what they are tags of.
func (r *Repo) peel(id plumbing.Hash) (plumbing.Hash, plumbing.ObjectType, error) {
	for range maxTags {
		kind, err := r.kind(id)
		if err != nil || kind != plumbing.TagObject {
			return id, kind, err
		}
		o, err := r.object(id, kind, maxCommit)
		if err != nil {
			return id, kind, err
		}
		line, _, _ := bytes.Cut(o.data, []byte("\n"))
		if err := field(line, "object ", &id); err != nil {
			return id, kind, r.unreadable(id, errors.New("the tag is damaged"))
		}
	}
	return id, plumbing.InvalidObject, unserved("tag %s leads to too many tags", id)
}

// kind tells what an object is. Nothing but its header is read.
func (r *Repo) kind(id plumbing.Hash) (plumbing.ObjectType, error) {
	o, err := r.objects.read(id, -1)
	if err != nil {
		return o.kind, r.unreadable(id, err)
	}
	return o.kind, nil
}

// peelNamed follows what the caller named to a commit.
func (r *Repo) peelNamed(id plumbing.Hash) (plumbing.Hash, error) {
	to, kind, err := r.peel(id)
	switch {
	case errors.Is(err, errMissing):
		return to, githistory.NotHere(id.String(), err)
	case err == nil && kind != plumbing.CommitObject:
		return to, &failure.Error{Message: fmt.Sprintf("object %s is a %s, not a commit", id, kind)}
	}
	return to, err
}

// This reader knows sha1 only.
const (
	idSize   = len(plumbing.Hash{})
	idDigits = 2 * idSize // as text
)

// isID reports whether s is a full object id as git writes it.
func isID(s string) bool { return len(s) == idDigits && history.IsHex(s) }

// parseID takes nothing but full ids.
func parseID(s string) (id plumbing.Hash, err error) {
	if !isID(s) {
		return id, &failure.Error{Message: fmt.Sprintf("%q is not a full object id of this repository", s)}
	}
	_, err = hex.Decode(id[:], []byte(s))
	return id, err
}
