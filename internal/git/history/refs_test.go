package githistory_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

func TestResolve(t *testing.T) { eachReader(t, testResolve) }

func testResolve(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	first := r.CommitFile("f", "1")
	second := r.CommitFile("f", "2")
	r.Git("tag", "light", first)
	r.Git("tag", "-a", "-m", "x", "annotated", first)
	r.Git("tag", "-a", "-m", "x", "nested", "annotated")
	r.Branch("Zweig/ü", first)
	r.Git("update-ref", "refs/heads/--odd", first)
	repo := rd.open(t, r)
	for name, want := range map[string]string{
		"main": second, "HEAD": first, "main~1": first, "main^": first, "light": first, "annotated": first, "nested": first,
		"refs/heads/main": second, "Zweig/ü": first, first: first, "refs/heads/--odd": first,
		"@": first, "annotated^0": first, r.ID("nested"): first,
	} {
		got, err := repo.Resolve(t.Context(), name)
		if err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v, want %s", name, got, err, want)
		}
	}
	if got, err := repo.Resolve(t.Context(), first[:12]); rd.name == "go-git" {
		wantUnserved(t, err, first[:12])
	} else if err != nil || got != first {
		t.Errorf("Resolve(%q) = %q, %v, want %s", first[:12], got, err, first)
	}
	for _, name := range []string{"", "none", "--all", "-x", "--odd", "main..HEAD", "^main", "HEAD:f", "main^{tree}", "main\nHEAD", "a\x00b", "main f", "\x1b[31m"} {
		got, err := repo.Resolve(t.Context(), name)
		if err == nil {
			t.Errorf("Resolve(%q) = %q, want an error", name, got)
			continue
		}
		wantFailure(t, err)
	}
	absent := strings.Repeat("12", 20)
	_, err := repo.Resolve(t.Context(), absent)
	wantFailure(t, err, absent, "git fetch origin "+absent)
}

func TestMergeHeads(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testMergeHeads)
}

func testMergeHeads(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	base := r.CommitFile("f", "0")
	var tips []string
	for _, name := range []string{"one", "two"} {
		r.Branch(name, base)
		tips = append(tips, r.CommitFile(name, "1"))
	}
	r.Git("tag", "-a", "-m", "x", "tag", tips[0])
	r.Switch("main")
	r.CommitFile("g", "1")
	w := r.Worktree("linked")

	heads := func(r *gittest.Repo) []string {
		t.Helper()
		got, err := workgit.MergeHeads(t.Context(), rd.open(t, r))
		if err != nil {
			t.Error(err)
		}
		return got
	}
	wantEqual(t, []string(nil), heads(r))
	r.Git("merge", "-q", "--no-commit", "one", "two")
	wantEqual(t, tips, heads(r))
	wantEqual(t, []string(nil), heads(w))
	w.Git("merge", "-q", "--no-commit", "--no-ff", "tag")
	wantEqual(t, tips[:1], heads(w))
	wantEqual(t, tips[:1], heads(w.With("GIT_DIR="+r.Path(".git/worktrees/tree"))))

	for _, damage := range []string{"", "nonsense\n", tips[0][:39] + "\n"} {
		r.Write(".git/MERGE_HEAD", damage)
		_, err := workgit.MergeHeads(t.Context(), rd.open(t, r))
		wantFailure(t, err)
	}
}

func TestGitHeads(t *testing.T) {
	a, b := strings.Repeat("a1", 20), strings.Repeat("b2", 32)
	got := workgit.GitHeads([]string{
		"PATH=/bin", "GITHEAD_" + b + "=side", "GITHEAD_" + a + "=main=x", "GITHEAD_" + a + "=twice",
		"GITHEAD_=x", "GITHEAD_" + a[:39] + "=x", "GITHEAD_" + strings.ToUpper(a) + "=x", "XGITHEAD_" + a + "=x",
		"GITHEAD_" + strings.Repeat("g", 40) + "=x",
	})
	if diff := cmp.Diff([]string{a, b}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestIsAncestor(t *testing.T) { eachReader(t, testIsAncestor) }

func testIsAncestor(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	a := r.CommitFile("f", "1")
	b := r.CommitFile("f", "2")
	r.Branch("side", a)
	c := r.CommitFile("g", "1")
	repo := rd.open(t, r)
	for _, tt := range []struct {
		ancestor, commit string
		want             bool
	}{{a, a, true}, {a, b, true}, {b, a, false}, {b, c, false}, {a, c, true}} {
		got, err := repo.IsAncestor(t.Context(), tt.ancestor, tt.commit)
		if err != nil || got != tt.want {
			t.Errorf("IsAncestor(%s, %s) = %v, %v", tt.ancestor, tt.commit, got, err)
		}
	}
	bases, err := repo.MergeBases(t.Context(), b, c)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []string{a}, bases)
}

func TestDefaultBranch(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testDefaultBranch)
}

func testDefaultBranch(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	repo := rd.open(t, r)
	want := func(remote, ref, id string) {
		t.Helper()
		got, err := githistory.DefaultBranch(t.Context(), repo, remote)
		if err != nil || got != (githistory.Branch{ref, id}) {
			t.Errorf("DefaultBranch(%q) = %v, %v; want %s %s", remote, got, err, ref, id)
		}
	}
	want("", "", "")
	a := r.CommitFile("f", "1")
	b := r.CommitFile("f", "2")
	want("", "refs/heads/main", b)
	r.Git("branch", "-m", "trunk")
	want("", "", "")
	r.Git("config", "init.defaultBranch", "trunk")
	want("", "refs/heads/trunk", b)
	r.Git("update-ref", "refs/remotes/origin/master", a)
	want("", "refs/remotes/origin/master", a)
	r.Git("update-ref", "refs/remotes/origin/trunk", b)
	want("", "refs/remotes/origin/trunk", b)
	want("up/stream", "refs/remotes/origin/trunk", b)
	want("https://example.com/x?*", "refs/remotes/origin/trunk", b)
	r.Git("update-ref", "refs/remotes/up/stream/main", a)
	want("up/stream", "refs/remotes/up/stream/main", a)
	want("origin", "refs/remotes/origin/trunk", b)
	r.Git("update-ref", "refs/remotes/origin/dev", a)
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/dev")
	want("", "refs/remotes/origin/dev", a)
	// The remote that is pushed to is tried first: in a fork's clone, origin is the fork.
	want("up/stream", "refs/remotes/up/stream/main", a)
	want("elsewhere", "refs/remotes/origin/dev", a)
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
	want("", "refs/remotes/origin/trunk", b)

	// A branch called HEAD that was pushed to the remote is not the remote's HEAD.
	r.Git("update-ref", "--no-deref", "refs/remotes/origin/HEAD", a)
	want("", "refs/remotes/origin/trunk", b)

	// An unreadable ref is not skipped.
	r.Write(".git/refs/remotes/origin/trunk", "")
	_, err := githistory.DefaultBranch(t.Context(), repo, "")
	wantFailure(t, err, "cannot look up refs")
	r.Git("config", "--file", r.Path(".git/config"), "--unset", "init.defaultBranch")
	r.Write(".git/config", "[broken")
	_, err = githistory.DefaultBranch(t.Context(), repo, "")
	wantFailure(t, err)
}

// On a server the default branch is what HEAD names.
func TestDefaultBranchOfABareRepository(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testDefaultBranchOfABareRepository)
}

func testDefaultBranchOfABareRepository(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	id := r.CommitFile("f", "1")
	bare := r.Clone("--bare")
	bare.Git("branch", "live", id)
	if rd.refuses(t, bare, "a bare repository") {
		return
	}
	repo := rd.open(t, bare)
	want := func(ref, id string) {
		t.Helper()
		got, err := githistory.DefaultBranch(t.Context(), repo, "")
		if err != nil || got != (githistory.Branch{ref, id}) {
			t.Errorf("DefaultBranch = %v, %v; want %s %s", got, err, ref, id)
		}
	}
	want("refs/heads/main", id)
	bare.Git("symbolic-ref", "HEAD", "refs/heads/live")
	want("refs/heads/live", id)
	bare.Git("update-ref", "--no-deref", "HEAD", id)
	want("HEAD", id)

	// Anybody who may push can create refs.
	for _, ref := range []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/heads/HEAD", "refs/tags/HEAD", "refs/tags/refs/heads/gone"} {
		bare.Git("update-ref", ref, id)
	}
	bare.Git("symbolic-ref", "HEAD", "refs/heads/gone")
	want("refs/heads/gone", "")
	repo = rd.open(t, bare)
	if head, err := repo.Head(t.Context()); head != "" || err != nil {
		t.Errorf("Head = %q, %v", head, err)
	}
	for _, name := range []string{"HEAD", "@", "HEAD^0", "refs/heads/gone", "refs/heads/gone~0"} {
		if got, err := repo.Resolve(t.Context(), name); !errors.Is(err, history.ErrLacking) {
			t.Errorf("Resolve(%q) = %q, %v", name, got, err)
		}
	}
	for _, branch := range []string{"main", "live", "HEAD"} {
		bare.Git("update-ref", "-d", "refs/heads/"+branch)
	}
	want("", "")
	bare.Git("update-ref", "refs/heads/gone", id)
	want("refs/heads/gone", id)
	if head, err := rd.open(t, bare).Head(t.Context()); head != id || err != nil {
		t.Errorf("Head = %q, %v", head, err)
	}
}

func TestSubstitutesAreNotFollowed(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testSubstitutesAreNotFollowed)
}

func testSubstitutesAreNotFollowed(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	a := r.CommitFile(".small/x", "1")
	b := r.CommitFile(".small/x", "2")
	c := r.CommitFile(".small/x", "3")
	tell := func(replace, grafts bool) opened {
		t.Helper()
		repo := rd.open(t, r)
		if gotReplace, gotGrafts, err := repo.Substitutes(t.Context()); err != nil || gotReplace != replace || gotGrafts != grafts {
			t.Errorf("Substitutes = %v, %v, %v, want %v, %v", gotReplace, gotGrafts, err, replace, grafts)
		}
		return repo
	}
	tell(false, false)
	r.Write(".git/info/grafts", "# nothing\n\n")
	if rd.refuses(t, r, "it has grafts") {
		return
	}
	tell(false, false)
	r.Write(".git/info/grafts", c+" "+a+"\n") // hides b
	tell(false, true)
	r.Git("replace", r.ID(b+":.small/x"), r.ID(a+":.small/x"))
	r.Git("replace", b, a)
	r.Git("replace", c, a)
	repo := tell(true, true)
	if got := r.Git("rev-list", "--count", c); got == "3" {
		t.Fatal("git shows the real history, so nothing is shown here")
	}
	got, err := repo.Commits(t.Context(), []string{c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []string{"a:", "b: a", "c: b"}, commitIDs(t, map[string]string{a: "a", b: "b", c: "c"}, got))
	wantEqual(t, []string{".small/x 100644:2"}, files(t, repo, b))
	if id, err := repo.Resolve(t.Context(), c); err != nil || id != c {
		t.Errorf("Resolve = %s, %v", id, err)
	}
}

// A crash can leave a ref's file empty. That is an error; the older id in packed-refs never counts.
func TestBrokenRefOverAPackedOne(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testBrokenRefOverAPackedOne)
}

func testBrokenRefOverAPackedOne(t *testing.T, rd reader) {
	t.Parallel()
	for _, damage := range []string{"", "\n", "not an id\n", strings.Repeat("x", 40) + "\n"} {
		r := gittest.New(t)
		r.CommitFile("f", "1")
		r.Git("branch", "side")
		r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
		r.Git("pack-refs", "--all")
		r.CommitFile("f", "2")
		w := r.Worktree("other")
		for _, ref := range []string{"refs/heads/main", "refs/heads/side", "refs/remotes/origin/main"} {
			name := ".git/" + ref
			r.Write(name, damage)
			for what, ask := range map[string]func(repo opened) (any, error){
				"Refs":    func(repo opened) (any, error) { return repo.Refs(t.Context(), ref) },
				"Resolve": func(repo opened) (any, error) { return repo.Resolve(t.Context(), ref) },
				"by its short name": func(repo opened) (any, error) {
					return repo.Resolve(t.Context(), strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/remotes/"))
				},
				"Tips":     func(repo opened) (any, error) { return repo.Tips(t.Context()) },
				"Branches": func(repo opened) (any, error) { return githistory.Branches(t.Context(), repo, path.Dir(ref)+"/") },
			} {
				if got, err := ask(rd.open(t, r)); err == nil {
					t.Errorf("%q in %s: %s = %v", damage, ref, what, got)
				}
			}
			if ref == "refs/heads/main" {
				if got, err := rd.open(t, r).Head(t.Context()); err == nil {
					t.Errorf("%q in %s: Head = %q", damage, ref, got)
				}
				if got, err := rd.open(t, w).Neighbours(t.Context()); err == nil {
					t.Errorf("%q in %s: Neighbours = %v", damage, ref, got)
				}
			}
			r.Remove(name)
		}
	}
}
