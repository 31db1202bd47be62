package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// refs reads refs as a work tree sees them. It reads the packed refs once and keeps them, so each call of a Repo's method makes a new refs. It looks for a
// ref's file first: in the other order it could find a ref in neither place while git packs it.
type refs struct {
	gitDir, commonDir string
	packed            map[string]string // ids; nil until read
}

func (r *Repo) refs() *refs { return &refs{gitDir: r.GitDir, commonDir: r.CommonDir} }

// maxSymbolicRefs is git's own limit for a chain of symbolic refs.
const maxSymbolicRefs = 5

// dir returns the git directory that stores a ref. A work tree has some refs of its own (gitrepository-layout(5)).
func (s *refs) dir(name string) string {
	rest, isRef := strings.CutPrefix(name, "refs/")
	if kind, _, _ := strings.Cut(rest, "/"); !isRef || kind == "bisect" || kind == "worktree" || kind == "rewritten" {
		return s.gitDir
	}
	return s.commonDir
}

// readRef reads one ref. target is the name of the ref that it leads to, or id is the id that it contains. Both are empty if the ref does not exist.
func (s *refs) readRef(name string) (target, id string, err error) {
	path := filepath.Join(s.dir(name), filepath.FromSlash(name))
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		target, id = parseRef(string(data))
		if err == nil && target+id == "" {
			err = fmt.Errorf("broken ref: %s", wording.Printable(name))
		}
		return target, id, err
	case err == nil && !info.IsDir():
		return "", "", unserved("the file of the ref %s is a symbolic link, or no ordinary file", wording.Printable(name))
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		err = s.readPacked()
		return "", s.packed[name], err
	}
	return "", "", err
}

// refContent matches the content of a ref's file: the name of another ref, or an id. git ignores what stands behind an id.
var refContent = expression.Of(`^(?:ref:\s*(\S.*?)\s*|([0-9a-fA-F]{40})(?:\s(?s:.*))?)$`)

// parseRef parses the file of a ref. A broken one yields nothing.
func parseRef(text string) (target, id string) {
	m := refContent().FindStringSubmatch(text)
	if m == nil || m[1] != "" && !plumbing.ReferenceName(m[1]).IsSafe() {
		return "", ""
	}
	return m[1], strings.ToLower(m[2])
}

// follow resolves a ref to an id, through symbolic refs, and names the last ref. The id is empty if that ref does not exist.
func (s *refs) follow(name string) (githistory.Branch, error) {
	at := name
	for range maxSymbolicRefs {
		target, id, err := s.readRef(at)
		if err != nil || target == "" {
			return githistory.Branch{Ref: at, ID: id}, err
		}
		at = target
	}
	return githistory.Branch{}, fmt.Errorf("broken ref: %s leads through too many symbolic refs", wording.Printable(name))
}

// readPacked reads packed-refs, once.
func (s *refs) readPacked() error {
	if s.packed != nil {
		return nil
	}
	packed := map[string]string{}
	if err := githistory.PackedRefs(s.commonDir, githistory.SHA1, func(id, name string) { packed[name] = id }); err != nil {
		return fmt.Errorf("broken ref: %w", err)
	}
	s.packed = packed
	return nil
}

// list returns the full names of refs: for each prefix the ref of that name, and all refs below it, as below a folder.
func (s *refs) list(prefixes []string) (names []string, err error) {
	for _, prefix := range prefixes {
		prefix = strings.TrimSuffix(prefix, "/")
		for _, dir := range slices.Compact([]string{s.commonDir, s.gitDir}) {
			err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(prefix)), func(path string, entry fs.DirEntry, err error) error {
				switch {
				case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
					return nil
				case err != nil || entry.IsDir() || isNoRef(entry.Name()):
					return err
				}
				if name := filepath.ToSlash(path[len(dir)+1:]); dir == s.dir(name) {
					names = append(names, name)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		if err := s.readPacked(); err != nil {
			return nil, err
		}
		for name := range s.packed {
			if strings.HasPrefix(name+"/", prefix+"/") {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		if plumbing.ReferenceName(name).Validate() != nil {
			return nil, unserved("the ref %s has an unusual name", wording.Printable(name))
		}
	}
	return names, nil
}

// isNoRef reports whether a file among the refs is a lock, or has another name that no ref can have. git skips those too.
func isNoRef(file string) bool {
	return strings.HasSuffix(file, ".lock") || strings.HasPrefix(file, ".")
}

// Head is as [githistory.Repo.Head].
func (r *Repo) Head(context.Context) (string, error) {
	if err := r.headErr; !failure.IsComplete(err) {
		return "", &failure.Error{Message: "HEAD cannot be resolved: " + wording.Printable(err.Error()), Remedy: "`git fsck`", Err: err}
	}
	return r.head.ID, r.headErr
}

// CurrentBranch returns the full name of the branch that HEAD names; empty for a detached HEAD.
func (r *Repo) CurrentBranch(context.Context) (string, error) {
	branch, _, err := r.refs().readRef("HEAD")
	return branch, asFailure("cannot read HEAD", err)
}

// Refs looks up refs and all refs below them, as [githistory.Refs] says.
func (r *Repo) Refs(ctx context.Context, prefixes ...string) (map[string]githistory.Branch, error) {
	s := r.refs()
	names, err := s.list(prefixes)
	found := map[string]githistory.Branch{}
	for i := 0; i < len(names) && err == nil; i++ {
		var at githistory.Branch
		if at, err = s.follow(names[i]); at.ID != "" {
			found[names[i]] = at
		}
	}
	return found, asFailure("cannot look up refs", cmp.Or(err, ctx.Err()))
}

// Tips are as [githistory.Repo.Tips].
func (r *Repo) Tips(ctx context.Context, prefixes ...string) (tips []string, err error) {
	if len(prefixes) == 0 {
		prefixes = []string{"refs"}
	}
	branches, err := r.Refs(ctx, prefixes...)
	for _, at := range branches {
		commit, found, err := r.Peel(ctx, at.ID)
		if err == nil && !found {
			err = unreadable(at.ID, errNotFound)
		}
		if err != nil {
			return nil, err
		}
		if commit != "" {
			tips = append(tips, commit)
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips), err
}

// otherSyntax matches what only git understands (gitrevisions(7)): @{…}, ^{…} and :/; and abbreviated ids, which have at least four digits and
// may stand behind -g, as git describe prints them.
var otherSyntax = expression.Of(`[@^]\{|:/|(^|-g)[0-9a-fA-F]{4,39}([~^]|$)`)

// Resolve turns a revision into a commit's full id: an id, HEAD or @, a ref or a part of its name, followed by any number of ^, ^<n> and
// ~<n>. Tags are followed. A name that begins with a dash is refused, as is other syntax of gitrevisions(7).
func (r *Repo) Resolve(ctx context.Context, name string) (string, error) {
	if !githistory.IsRevision(name) {
		return "", githistory.NotARevision(name)
	}
	c, err := r.commitOf(ctx, name)
	switch {
	case err == nil:
		return c.ID, nil
	case errors.Is(err, errNotFound) && otherSyntax().MatchString(name):
		return "", unserved("the revision %q is an abbreviated id, or has syntax that only git understands", name)
	case errors.Is(err, errNotFound):
		return "", githistory.NotResolved(name, false /* not shallow */, githistory.SHA1.Valid(name), err)
	}
	return "", asFailure(fmt.Sprintf("cannot look up %q", name), err)
}

// stepBack matches a revision and a step back from it: to one of its parents (^, ^2), or by some generations (~3).
var stepBack = expression.Of(`^(.+)([~^])([0-9]{0,9})$`)

func (r *Repo) commitOf(ctx context.Context, name string) (*commit, error) {
	m := stepBack().FindStringSubmatch(name)
	if m == nil {
		id, err := r.idOf(name)
		if err != nil {
			return nil, err
		}
		return r.peeledCommit(ctx, id)
	}
	c, err := r.commitOf(ctx, m[1])
	n, _ := strconv.Atoi(cmp.Or(m[3], "1")) //nolint:errcheck // they are digits
	generations, parent := n, 1
	if m[2] == "^" { // ^0 is the commit itself
		generations, parent = min(n, 1), n
	}
	for ; generations > 0 && err == nil; generations-- {
		if parent > len(c.Parents) {
			return nil, errNotFound
		}
		c, err = r.commit(ctx, c.Parents[parent-1])
	}
	return c, err
}

// idOf returns the id that a name stands for: a full id itself, in lower case, or the id of a ref. HEAD, and each full name of a ref, stands for exactly
// that ref. If the ref does not exist, git would try refs/tags/HEAD and the like; idOf does not, because anybody who may push can create those.
func (r *Repo) idOf(name string) (string, error) {
	if id := strings.ToLower(name); githistory.SHA1.Valid(id) {
		return id, nil
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
	return "", errNotFound
}
