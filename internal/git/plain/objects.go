package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
)

const (
	// maxObject bounds the size of a commit, a tag or a tree, in bytes.
	maxObject = 64 << 20
	// maxTags bounds a chain of tags of tags, and maxTag the size of a tag, in bytes.
	maxTags, maxTag = 100, 1 << 20
	// idSize is the size of an id in bytes. This reader supports only sha1.
	idSize = len(plumbing.Hash{})
)

// object reads an object that must exist.
func (r *Repo) object(id plumbing.Hash, kind plumbing.ObjectType, limit int64) (object, error) {
	o, err := r.objects.read(id, limit)
	switch {
	case err != nil:
		return o, unreadable(id, err)
	case o.kind != kind:
		return o, &failure.Error{Message: fmt.Sprintf("object %s is a %s, not a %s", id, o.kind, kind)}
	case o.data == nil && kind != plumbing.BlobObject:
		return o, unreadable(id, fmt.Errorf("a %s of %d bytes", kind, o.size))
	}
	return o, nil
}

// unreadable makes the failure for an object that cannot be read. git may be able to.
func unreadable(id plumbing.Hash, err error) error {
	if errors.Is(err, githistory.ErrDamaged) {
		return githistory.Damaged(id.String()) // git would not notice this
	}
	f := githistory.Unreadable(id.String(), errors.Join(ErrUnserved, err))
	if !errors.Is(err, errMissing) {
		f.Message += ": " + wording.Printable(err.Error())
		f.Remedy += "; or " + useGit
	}
	return f
}

// commit has the parts of a commit that are needed.
type commit struct {
	history.Commit
	tree plumbing.Hash
	date int64 // committer date in seconds; 0 if invalid
}

// commit reads a commit that must exist. Commits are cached.
func (r *Repo) commit(id string) (*commit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.commits[id]; c != nil {
		return c, nil
	}
	if r.MostCommits > 0 && len(r.commits) >= r.MostCommits {
		return nil, unserved("more than %d commits are asked for, which git reads sooner", r.MostCommits)
	}
	o, err := r.object(plumbing.NewHash(id), plumbing.CommitObject, maxObject)
	if err != nil {
		return nil, err
	}
	c, err := parseCommit(o.data)
	if err != nil {
		return nil, unreadable(plumbing.NewHash(id), err)
	}
	c.ID, r.commits[id] = id, c
	return c, nil
}

// named is commit for an id from the caller. Tags are followed.
func (r *Repo) named(ctx context.Context, name string) (*commit, error) {
	id, _, err := r.Peel(ctx, name)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, githistory.NotHere(name, errMissing)
	}
	return r.commit(id)
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
	c.date = dateOf(rest)
	return c, err
}

// dateOf reads the committer's line, "committer NAME <MAIL> SECONDS ZONE". An invalid date is no error.
func dateOf(header string) (date int64) {
	_, rest, _ := strings.Cut(header, "\ncommitter ")
	line, _, _ := strings.Cut(rest, "\n")
	if words := strings.Fields(line[strings.LastIndexByte(line, '>')+1:]); len(words) > 0 {
		date, _ = strconv.ParseInt(words[0], 10, 64) //nolint:errcheck // see above
	}
	return date
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
		o, err := r.objects.read(plumbing.NewHash(id), maxTag)
		switch {
		case errors.Is(err, errMissing) && tags == 0:
			return "", false, nil
		case err != nil:
			return "", true, unreadable(plumbing.NewHash(id), err)
		case o.kind == plumbing.CommitObject:
			return id, true, nil
		case o.kind != plumbing.TagObject:
			return "", true, nil
		}
		line, _, _ := strings.Cut(string(o.data), "\n")
		if id, err = field(line, "object"); err != nil {
			return "", true, unreadable(plumbing.NewHash(id), err)
		}
	}
	return "", true, unreadable(plumbing.NewHash(id), errors.New("a tag of too many tags"))
}

// canonical is the mode to which git normalises a tree entry's: old trees have permissions other than today's two, and anything but a file,
// a directory or a link is a submodule.
func canonical(m filemode.FileMode) filemode.FileMode {
	const kinds = 0o170000
	switch kind := m & kinds; {
	case kind == filemode.Regular&kinds && m&0o100 != 0:
		return filemode.Executable
	case kind == filemode.Regular&kinds:
		return filemode.Regular
	case kind == filemode.Symlink, kind == filemode.Dir:
		return kind
	}
	return filemode.Submodule
}

// treeEntry is an entry of a tree. The zero value means none.
type treeEntry struct {
	name     string
	mode     filemode.FileMode
	id       plumbing.Hash
	unmerged bool // a conflict of the index
}

// sortKey is git's sorting key.
func (e treeEntry) sortKey() string {
	if e.mode == filemode.Dir {
		return e.name + "/"
	}
	return e.name
}

// file is the entry as the gate's File; the zero File for none and for a directory.
func (e treeEntry) file(path string) history.File {
	switch {
	case e.unmerged:
		return history.File{Path: path, Unmerged: true}
	case e.mode == 0 || e.mode == filemode.Dir:
		return history.File{}
	}
	return history.File{Path: path, Mode: fmt.Sprintf("%06o", uint32(e.mode)), Object: e.id.String()}
}

// parseTree reads the entries of a tree object, each "<octal mode> <name> NUL <id>".
func parseTree(data []byte) ([]treeEntry, error) {
	entries := make([]treeEntry, 0, len(data)/(idSize+12))
	for text := string(data); text != ""; {
		digits, rest, ok1 := strings.Cut(text, " ")
		name, rest, ok2 := strings.Cut(rest, "\x00")
		m, err := strconv.ParseUint(digits, 8, 21)
		if !ok1 || !ok2 || err != nil || name == "" || len(rest) < idSize {
			return nil, errors.New("the tree is damaged")
		}
		e := treeEntry{name: name, mode: canonical(filemode.FileMode(m))}
		text = rest[copy(e.id[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}

// emptyTree is the id of the tree without entries. It need not be stored.
var emptyTree = plumbing.NewHash(githistory.SHA1.EmptyTree)

// tree reads a tree. The zero id means an empty one.
func (r *Repo) tree(id plumbing.Hash) ([]treeEntry, error) {
	if id == plumbing.ZeroHash || id == emptyTree {
		return nil, nil
	}
	o, err := r.object(id, plumbing.TreeObject, maxObject)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(o.data)
	if err != nil {
		return nil, unreadable(id, err)
	}
	return entries, nil
}
