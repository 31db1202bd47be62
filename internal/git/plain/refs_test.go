package plain

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Refs are where git looks for them: in files, packed, or in a work tree's own directory. Some other files there are not refs.
func TestRefsAsGitListsThem(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	a := r.CommitFile("f", "1")
	b := r.CommitFile("f", "2")
	c := r.CommitFile("f", "3")
	r.Git("update-ref", "refs/remotes/origin/main", a)
	r.Git("pack-refs", "--all")
	r.Git("update-ref", "refs/heads/main", b) // over the packed one
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	r.Git("symbolic-ref", "refs/heads/gone", "refs/heads/none")
	r.Write(".git/refs/heads/upper", strings.ToUpper(a)+"\n")
	r.Write(".git/refs/heads/x.lock", "nonsense")
	r.Write(".git/refs/heads/.hidden", "nonsense")
	if err := os.MkdirAll(r.Path(".git/refs/heads/empty/dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := r.Worktree("side")
	w.Git("update-ref", "refs/worktree/own", c)
	w.Git("update-ref", "refs/bisect/bad", c)
	w.Git("update-ref", "--no-deref", "HEAD", a)
	r.Git("update-ref", "refs/worktree/own", a)
	for _, at := range []*gittest.Repo{r, w} {
		git, err := githistory.Open(t.Context(), at.Dir, githistory.Options{Environ: at.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		own := open(t, at)
		for _, prefixes := range [][]string{nil, {"refs/remotes/"}, {"refs/remotes/origin/"}, {"refs/worktree"}, {"refs/bisect/", "refs/heads/main"}, {"refs/rem"}} {
			want, err1 := git.Tips(t.Context(), prefixes...)
			got, err2 := own.Tips(t.Context(), prefixes...)
			if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
				t.Errorf("%s %q: %v, %v (-git +go-git)\n%s", at.Dir, prefixes, err1, err2, diff)
			}
		}
		for _, name := range []string{"HEAD", "refs/worktree/own", "origin", "origin/HEAD", "main", "bisect/bad", "gone", "empty", "upper", strings.ToUpper(b)} {
			want, err1 := git.Resolve(t.Context(), name)
			got, err2 := own.Resolve(t.Context(), name)
			if want != got || (err1 == nil) != (err2 == nil) {
				t.Errorf("%s %s: %s, %v; git says %s, %v", at.Dir, name, got, err2, want, err1)
			}
		}
		if err := git.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSymbolicLinksAsRefs(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile("f", "1")
	if err := os.Remove(r.Path(".git/HEAD")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("refs/heads/main", r.Path(".git/HEAD")); err != nil {
		t.Skipf("SKIPPED: no symbolic links here: %v", err)
	}
	_, err := Open(t.Context(), r.Dir, r.Environ())
	wantUnserved(t, err, "HEAD is a symbolic link")
	if err := errors.Join(os.Remove(r.Path(".git/HEAD")), os.Symlink("main", r.Path(".git/refs/heads/other"))); err != nil {
		t.Fatal(err)
	}
	r.Write(".git/HEAD", "ref: refs/heads/main\n")
	repo := open(t, r)
	_, err = repo.Refs(t.Context(), "refs/heads/other")
	wantUnserved(t, err, "refs/heads/other is a symbolic link")
	_, err = repo.Tips(t.Context())
	wantUnserved(t, err, "is a symbolic link")
}

func TestDamagedRefs(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	id := r.CommitFile("f", "1")
	good := id + " refs/heads/packed\n"
	for what, damage := range map[string]map[string]string{
		"packed":       {".git/packed-refs": "nonsense\n"},
		"packed id":    {".git/packed-refs": strings.ToUpper(id) + " refs/heads/x\n"},
		"cut off":      {".git/packed-refs": good + id[:20]},
		"loose":        {".git/refs/heads/x": id + "x\n"},
		"circle":       {".git/refs/heads/x": "ref: refs/heads/y\n", ".git/refs/heads/y": "ref: refs/heads/x\n"},
		"bad target":   {".git/refs/heads/x": "ref: ../../etc/passwd\n"},
		"no object":    {".git/refs/heads/x": strings.Repeat("1", 40) + "\n"},
		"too long now": {".git/packed-refs": good + strings.Repeat("x", 1<<17) + "\n"},
	} {
		t.Run(what, func(t *testing.T) {
			for name, text := range damage {
				r.Write(name, text)
				defer r.Remove(name)
			}
			repo, err := Open(t.Context(), r.Dir, r.Environ())
			if damage[".git/packed-refs"] != "" {
				wantUnserved(t, err, "packed-refs has the line")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tips, err := repo.Tips(t.Context()); err == nil {
				t.Errorf("tips %v", tips)
			}
			if err := repo.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	r.Write(".git/HEAD", "ref: refs/heads/loop\n")
	r.Write(".git/refs/heads/loop", "ref: refs/heads/loop\n")
	if head, err := open(t, r).Head(t.Context()); err == nil || head != "" {
		t.Errorf("Head = %q, %v", head, err)
	}
}

// Syntax of gitrevisions(7) beyond the usual is refused, not guessed at.
func TestRevisionsThatAreNotUnderstood(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile("f", "1")
	repo := open(t, r)
	for _, name := range []string{"HEAD@{1}", "@{-1}", "main@{upstream}", ":/x", "HEAD^{/x}", "@{u}~1", "v1-3-gabcdef0", "abcd", "ABCDEF01", "HEAD^{tree}", "HEAD^{commit}"} {
		_, err := repo.Resolve(t.Context(), name)
		wantUnserved(t, err, name)
	}
	for _, name := range []string{"HEAD~x", "HEAD^2147483648", "HEAD~99999999999", "^", "~", "HEAD~-1", "HEAD^1x"} {
		if id, err := repo.Resolve(t.Context(), name); err == nil || errors.Is(err, ErrUnserved) {
			t.Errorf("%s: %s, %v", name, id, err)
		}
	}
}
