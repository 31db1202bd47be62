package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
)

// ref is a ref as it is stored: an id, or the name of another ref.
type ref struct {
	id     plumbing.Hash
	target string
}

// maxLinks bounds how many refs may name one another; git's own limit.
const maxLinks = 5

var errRef = errors.New("broken ref")

// ownRef reports whether a work tree has a ref for itself (gitrepository-layout(5)).
func ownRef(name string) bool {
	return !strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "refs/bisect/") ||
		strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/")
}

// refDir is the git directory in which a ref is stored.
func (r *Repo) refDir(name string) string {
	if ownRef(name) {
		return r.GitDir
	}
	return r.CommonDir
}

// refs reads refs for one question. The packed refs, which count where a ref
// has no file, are read when the first file is missed: in the other order a ref
// that is being packed could be missed in both places.
type refs struct {
	repo   *Repo
	packed map[string]plumbing.Hash // nil until it is read
}

// stored reads one ref.
func (s *refs) stored(name string) (ref, bool, error) {
	path := filepath.Join(s.repo.refDir(name), filepath.FromSlash(name))
	if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, "refs/") {
		return ref{target: target}, true, nil
	}
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
		found, err := parseRef(data)
		if err != nil {
			return found, false, fmt.Errorf("%w: %s", err, wording.Printable(name))
		}
		return found, true, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		if err := s.readPacked(); err != nil {
			return ref{}, false, err
		}
		id, found := s.packed[name]
		return ref{id: id}, found, nil
	}
	return ref{}, false, err
}

// parseRef reads the file of a ref.
func parseRef(data []byte) (ref, error) {
	text := string(data)
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		target = strings.TrimSpace(target)
		if !validRef(target) {
			return ref{}, errRef
		}
		return ref{target: target}, nil
	}
	if len(text) < idDigits || len(text) > idDigits && !strings.ContainsRune(" \t\r\n", rune(text[idDigits])) {
		return ref{}, errRef
	}
	id, err := parseID(text[:idDigits])
	if err != nil {
		return ref{}, errRef
	}
	return ref{id: id}, nil
}

// follow resolves a ref to an id, through refs that name others. last is the
// name of the ref that holds the id. found is false if there is no such ref, or
// if one of them names one that is not there; last is then that one.
func (s *refs) follow(name string) (id plumbing.Hash, last string, found bool, err error) {
	for range maxLinks {
		at, found, err := s.stored(name)
		if err != nil || !found {
			return id, name, false, err
		}
		if at.target == "" {
			return at.id, name, true, nil
		}
		name = at.target
	}
	return id, name, false, fmt.Errorf("%w: %s leads to too many others", errRef, wording.Printable(name))
}

// readPacked reads the refs that have no file of their own, once.
func (s *refs) readPacked() error {
	if s.packed != nil {
		return nil
	}
	packed := map[string]plumbing.Hash{}
	err := githistory.PackedRefs(s.repo.CommonDir, idDigits, func(id, name string) { packed[name] = plumbing.NewHash(id) })
	if err != nil {
		return fmt.Errorf("%w: %w", errRef, err)
	}
	s.packed = packed
	return nil
}

// list names all refs that begin with one of the prefixes; all if there is
// none.
func (s *refs) list(prefixes []string) (map[string]bool, error) {
	r := s.repo
	names := map[string]bool{}
	add := func(name string) {
		if !validRef(name) {
			return // git passes over it too
		}
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, strings.TrimSuffix(prefix, "/")+"/") || name == prefix {
				names[name] = true
			}
		}
		if len(prefixes) == 0 {
			names[name] = true
		}
	}
	dirs := []string{r.CommonDir}
	if r.GitDir != r.CommonDir {
		dirs = append(dirs, r.GitDir)
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || entry.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if name := filepath.ToSlash(rel); err == nil && dir == r.refDir(name) {
				add(name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := s.readPacked(); err != nil {
		return nil, err
	}
	for name := range s.packed {
		add(name)
	}
	return names, nil
}

// validRef reports whether git would take a name for that of a ref
// (git-check-ref-format(1)).
func validRef(name string) bool {
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") || name == "@" {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return strings.IndexFunc(name, func(c rune) bool {
		return c < ' ' || c == 0x7f || strings.ContainsRune(" ~^:?*[\\", c)
	}) < 0
}
