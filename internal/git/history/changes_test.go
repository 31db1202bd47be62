package githistory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestChanges(t *testing.T) { eachReader(t, testChanges) }

func testChanges(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".small/x", "1")
	r.Write("sub/deep/.small/ext/y", "1")
	r.Write("code/small/x", "not ours")
	r.Write("code/.smaller/x", "not ours")
	r.Write("sub/.small-gate.yml", "not at the root")
	r.Write(".small-gate.yml", "version: 1")
	a := r.Commit("a")
	b := r.CommitFile("code/z", "nothing of ours")
	r.Branch("side", a)
	r.Write(".small/x", "2")
	r.Write(".small-gate.yml", "version: 1 # edited")
	r.Git("rm", "-q", "-r", "sub/deep")
	c := r.Commit("c")
	r.Switch("main")
	m := r.Merge("side")
	repo := rd.open(t, r)

	sideChange := []string{
		".small-gate.yml 100644:version: 1 100644:version: 1 # edited",
		".small/x 100644:1 100644:2",
		"sub/deep/.small/ext/y 100644:1 -",
	}
	all := []string{".small-gate.yml - 100644:version: 1", ".small/x - 100644:1", "sub/deep/.small/ext/y - 100644:1"}
	wantEqual(t,
		[][]string{all, {}, sideChange, sideChange, {}, all, {}, all},
		changes(t, repo,
			history.Edge{Child: a},
			history.Edge{Parent: a, Child: b},
			history.Edge{Parent: a, Child: c},
			history.Edge{Parent: b, Child: m},
			history.Edge{Parent: c, Child: m},
			history.Edge{Child: b}, // not its real parent
			history.Edge{Parent: m, Child: m},
			history.Edge{Child: a}, // once more
		))
	got, err := repo.Diff(t.Context(), nil, judged)
	if err != nil || len(got) != 0 {
		t.Errorf("no edges: %v, %v", got, err)
	}
}

func TestChangesOfKind(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testChangesOfKind)
}

func testChangesOfKind(t *testing.T, rd reader) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: symbolic links and modes are not what they are elsewhere")
	}
	lib := gittest.New(t)
	first := lib.CommitFile("f", "1")
	second := lib.CommitFile("f", "2")
	r := gittest.New(t)
	r.Write("a/.small/x", "1")
	r.Write("b/.small/x", "1")
	r.Write("c/.small/x", "1")
	r.Write("d/.small", "a file")
	// A repository may ask git to ignore changes in its submodules.
	r.Write(".gitmodules", "[submodule \"e\"]\n\tpath = e/.small\n\turl = ./lib\n\tignore = all\n")
	r.Git("add", ".")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+first+",e/.small")
	r.Git("commit", "-q", "-m", "before")
	before := r.ID("HEAD")

	r.Git("update-index", "--chmod=+x", "a/.small/x")
	r.Git("rm", "-q", "--cached", "b/.small/x")
	r.Remove("b/.small")
	if err := os.Symlink("../a/.small", r.Path("b/.small")); err != nil {
		t.Fatal(err)
	}
	r.Git("add", "b")
	r.Git("update-index", "--force-remove", "c/.small/x")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+second+",c/.small")
	r.Git("update-index", "--force-remove", "d/.small")
	r.Git("update-index", "--cacheinfo", "160000,"+second+",e/.small")

	want := [][]string{{
		"a/.small/x 100644:1 100755:1",
		"b/.small - 120000:../a/.small",
		"b/.small/x 100644:1 -",
		"c/.small - 160000",
		"c/.small/x 100644:1 -",
		"d/.small 100644:a file -",
		"e/.small 160000 160000",
	}}
	repo := rd.open(t, r)
	wantEqual(t, want, changes(t, repo, history.Edge{Parent: before, Child: history.Index}))
	r.Git("commit", "-q", "-m", "after")
	after := r.ID("HEAD")
	wantEqual(t, want, changes(t, repo, history.Edge{Parent: before, Child: after}))
	wantEqual(t, []string{"a/.small/x 100755:1", "b/.small 120000:../a/.small", "c/.small 160000", "e/.small 160000"}, files(t, repo, after))
	wantEqual(t, files(t, repo, after), files(t, repo, history.Index))
	wantEqual(t, files(t, repo, after), files(t, repo, after, "a", "b", "c", "d", "e"))
}

func TestChangesOfTheIndex(t *testing.T) { eachReader(t, testChangesOfTheIndex) }

func testChangesOfTheIndex(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".small/x", "1")
	repo := rd.open(t, r)
	wantEqual(t, [][]string{{}}, changes(t, repo, history.Edge{Child: history.Index})) // unborn, nothing staged
	r.Git("add", "-A")
	wantEqual(t, [][]string{{".small/x - 100644:1"}}, changes(t, repo, history.Edge{Child: history.Index}))
	head := r.Commit("first")
	edge := history.Edge{Parent: head, Child: history.Index}

	// The work tree does not count, either way.
	r.Write(".small/x", "work tree only")
	wantEqual(t, [][]string{{}}, changes(t, repo, edge))
	r.Write(".small/x", "2")
	r.Git("add", "-A")
	r.Write(".small/x", "1")
	wantEqual(t, [][]string{{".small/x 100644:1 100644:2"}}, changes(t, repo, edge))

	// A staged empty file is present; one added with intent to add is not.
	r.Write(".small/empty", "")
	r.Git("add", "-A")
	r.Write(".small/intended", "later")
	r.Git("add", "-N", ".small/intended")
	r.Git("rm", "-q", "--cached", ".small/x")
	r.Git("add", "-N", ".small/x")
	wantEqual(t, [][]string{{".small/empty - 100644:", ".small/x 100644:1 -"}}, changes(t, repo, edge))
	wantEqual(t, [][]string{{".small/empty - 100644:"}}, changes(t, repo, history.Edge{Child: history.Index}))
	wantEqual(t, []string{".small/empty 100644:"}, files(t, repo, history.Index))
	wantEqual(t, []string{".small/empty 100644:"}, files(t, repo, history.Index, ""))
	r.Git("commit", "-q", "-m", "without what is only intended")
	wantEqual(t, []string{".small/empty 100644:"}, files(t, repo, r.ID("HEAD")))

	// In a subdirectory the result is the same.
	r.Write("sub/.small/y", "1")
	r.Write("sub/code", "1")
	r.Git("add", "-A")
	sub := rd.open(t, r.In("sub"))
	wantEqual(t, files(t, repo, history.Index), files(t, sub, history.Index))
	wantEqual(t, files(t, repo, history.Index, "sub"), files(t, sub, history.Index, "sub"))
	wantEqual(t, changes(t, repo, edge), changes(t, sub, edge))
	id := r.Commit("second")
	wantEqual(t, files(t, repo, id, "sub"), files(t, sub, id, "sub"))
	wantEqual(t, files(t, repo, id), files(t, sub, id))
}

// The index that git is committing from is not always .git/index.
func TestChangesOfTheIndexThatGitNames(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testChangesOfTheIndexThatGitNames)
}

func testChangesOfTheIndexThatGitNames(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	head := r.CommitFile(".small/x", "1")
	edge := history.Edge{Parent: head, Child: history.Index}
	for _, name := range []string{".git/index.lock", r.Path(".git/next-index-1.lock")} {
		other := r.With("GIT_INDEX_FILE=" + name)
		other.Git("read-tree", "HEAD")
		r.Write(".small/x", "2")
		other.Git("add", "-A")
		r.Write(".small/x", "1")
		repo := rd.open(t, other)
		wantEqual(t, [][]string{{".small/x 100644:1 100644:2"}}, changes(t, repo, edge))
		wantEqual(t, []string{".small/x 100644:2"}, files(t, repo, history.Index))
		wantEqual(t, [][]string{{}}, changes(t, rd.open(t, r), edge))
	}
}

func TestUnmergedIndex(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testUnmergedIndex)
}

func testUnmergedIndex(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".small/both", "1")
	r.Write(".small/deleted", "1")
	r.Write(".small/other", "1")
	base := r.Commit("base")
	r.Branch("side", "")
	r.Write(".small/both", "theirs")
	r.Write(".small/new", "theirs")
	r.Git("rm", "-q", ".small/deleted")
	side := r.Commit("side")
	r.Switch("main")
	r.Write(".small/both", "ours")
	r.Write(".small/new", "ours")
	r.Write(".small/deleted", "ours")
	head := r.Commit("main")
	if _, err := r.Try("merge", "side"); err == nil {
		t.Fatal("no conflict")
	}
	repo := rd.open(t, r)
	if rd.name == "go-git" {
		_, err := repo.List(t.Context(), history.Index, judged)
		wantUnserved(t, err, ".small/both has an unresolved conflict")
		return
	}
	wantEqual(t, [][]string{
		{".small/both 100644:ours unmerged", ".small/deleted 100644:ours unmerged", ".small/new 100644:ours unmerged"},
		{".small/both 100644:theirs unmerged", ".small/deleted - unmerged", ".small/new 100644:theirs unmerged"},
		{".small/both 100644:1 unmerged", ".small/deleted 100644:1 unmerged", ".small/new - unmerged"},
		{".small/both - unmerged", ".small/deleted - unmerged", ".small/new - unmerged", ".small/other - 100644:1"},
	}, changes(t, repo,
		history.Edge{Parent: head, Child: history.Index},
		history.Edge{Parent: side, Child: history.Index},
		history.Edge{Parent: base, Child: history.Index},
		history.Edge{Child: history.Index},
	))
	wantEqual(t, []string{".small/both unmerged", ".small/deleted unmerged", ".small/new unmerged", ".small/other 100644:1"},
		files(t, repo, history.Index))
}

func TestIndexOfABareRepository(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testIndexOfABareRepository)
}

func testIndexOfABareRepository(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	head := r.CommitFile(".small/x", "1")
	bare := r.Clone("--bare")
	if rd.refuses(t, bare, "a bare repository") {
		return
	}
	repo := rd.open(t, bare)
	_, err := repo.Diff(t.Context(), []history.Edge{{Parent: head, Child: history.Index}}, judged)
	wantFailure(t, err, "no work tree")
	_, err = repo.List(t.Context(), history.Index, history.Workspaces())
	wantFailure(t, err, "no work tree")
	_, _, err = githistory.ReadFile(t.Context(), repo, history.Index, ".small/x", 10)
	wantFailure(t, err, "no work tree")
	wantEqual(t, []string{".small/x 100644:1"}, files(t, repo, head))
}

func TestUnusualIndex(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testUnusualIndex)
}

func testUnusualIndex(t *testing.T, rd reader) {
	t.Parallel()
	for name, setUp := range map[string][]string{
		"sparse, inside":  {"sparse-checkout", "set", "--cone", "--sparse-index", "a"},
		"sparse, outside": {"sparse-checkout", "set", "--cone", "--sparse-index", "b"},
		"split":           {"update-index", "--split-index"},
		"version 4":       {"update-index", "--index-version=4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.Write("a/.small/x", "1")
			r.Write("b/c", "1")
			head := r.Commit("first")
			r.Git(setUp...)
			if strings.HasPrefix(name, "sparse") && rd.refuses(t, r, "extensions.worktreeconfig") {
				return
			}
			repo := rd.open(t, r)
			if name == "split" && rd.name == "go-git" {
				_, err := repo.List(t.Context(), history.Index, history.Workspaces())
				wantUnserved(t, err, "the index", "unknown extension")
				_, err = repo.Diff(t.Context(), []history.Edge{{Parent: head, Child: history.Index}}, judged)
				wantUnserved(t, err, "the index", "unknown extension")
				return
			}
			wantEqual(t, []string{"a/.small/x 100644:1"}, files(t, repo, history.Index))
			for pattern, want := range map[string]string{"a/**": "a/.small/x", "b/c": "b/c", "none": ""} {
				matched, err := repo.List(t.Context(), history.Index, history.Matching(pattern))
				if err != nil {
					t.Fatal(err)
				}
				wantEqual(t, want, strings.Join(pathsOf(matched), " "))
			}
			object := r.GitInput("2", "hash-object", "-w", "--stdin")
			r.Git("update-index", "--cacheinfo", "100644,"+object+",a/.small/x")
			wantEqual(t, [][]string{{"a/.small/x 100644:1 100644:2"}}, changes(t, repo, history.Edge{Parent: head, Child: history.Index}))
		})
	}
}

func TestPathsWithAnyByte(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testPathsWithAnyByte)
}

func testPathsWithAnyByte(t *testing.T, rd reader) {
	t.Parallel()
	dirs := []string{"", "two words", "Grün", "a\nb", "tab\there", "bytes\xff\xfe", `back\slash"quote`, ":(top)", "*", "[x]", "-rf", " ", "a:b"}
	r := gittest.New(t)
	var index strings.Builder
	object := r.GitInput("1", "hash-object", "-w", "--stdin")
	for _, dir := range dirs {
		prefix := ""
		if dir != "" {
			prefix = dir + "/"
		}
		fmt.Fprintf(&index, "100644 %s\t%s.small/x\x00", object, prefix)
	}
	r.GitInput(index.String(), "-c", "core.protectNTFS=false", "update-index", "-z", "--index-info")
	r.Git("commit", "-q", "-m", "names")
	id := r.ID("HEAD")
	repo := rd.open(t, r)
	all, err := repo.List(t.Context(), id, history.Workspaces())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(dirs) {
		t.Errorf("%d files, want %d: %+v", len(all), len(dirs), all)
	}
	staged, err := repo.List(t.Context(), history.Index, history.Workspaces())
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, all, staged)
	for _, dir := range dirs {
		for _, revision := range []string{id, history.Index} {
			got, err := repo.List(t.Context(), revision, history.Workspaces(dir))
			if err != nil || len(got) != 1 {
				t.Errorf("Files(%s, %q) = %+v, %v; want one file", revision, dir, got, err)
			}
			path := strings.TrimPrefix(dir+"/.small/x", "/")
			data, found, err := githistory.ReadFile(t.Context(), repo, revision, path, 10)
			if err != nil || !found || string(data) != "1" {
				t.Errorf("ReadFile(%s, %q) = %q, %v, %v", revision, path, data, found, err)
			}
		}
	}
	got, err := repo.Diff(t.Context(), []history.Edge{{Child: id}}, judged)
	if err != nil || len(got) != 1 || len(got[0]) != len(dirs) {
		t.Errorf("Changes = %+v, %v", got, err)
	}
	// More names than fit on one command line.
	many := append([]string(nil), dirs...)
	for i := range 300 {
		many = append(many, fmt.Sprintf("none%d", i))
	}
	some, err := repo.List(t.Context(), id, history.Workspaces(many...))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, all, some)
}

func TestChangesOfWhatIsNotHere(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testChangesOfWhatIsNotHere)
}

func testChangesOfWhatIsNotHere(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	a := r.CommitFile(".small/x", "1")
	b := r.CommitFile(".small/x", "2")
	repo := rd.open(t, r)
	absent := strings.Repeat("ab", 20)
	tree := r.ID(a + "^{tree}")
	for _, tt := range []struct {
		name  string
		edges []history.Edge
		words string
	}{
		{"child", []history.Edge{{Parent: a, Child: absent}}, absent + " is not in this clone"},
		{"child among others", []history.Edge{{Parent: a, Child: b}, {Parent: a, Child: absent}, {Parent: b, Child: a}}, absent + " is not in this clone"},
		{"last child", []history.Edge{{Parent: a, Child: b}, {Parent: a, Child: absent}}, absent + " is not in this clone"},
		{"parent", []history.Edge{{Parent: absent, Child: b}}, absent + " is not in this clone"},
		{"root", []history.Edge{{Child: absent}}, absent + " is not in this clone"},
		{"parent of the index", []history.Edge{{Parent: absent, Child: history.Index}}, absent + " is not in this clone"},
		{"a tree", []history.Edge{{Parent: tree, Child: b}}, tree},
		{"not an id", []history.Edge{{Parent: "main", Child: b}}, "main"},
		{"no child", []history.Edge{{Parent: b}}, "id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := repo.Diff(t.Context(), tt.edges, judged)
			wantFailure(t, err, tt.words)
		})
	}
	_, err := repo.List(t.Context(), absent, history.Workspaces())
	wantFailure(t, err, absent+" is not in this clone", "git fetch origin "+absent)
	_, err = repo.List(t.Context(), absent, history.Workspaces("a"))
	wantFailure(t, err, absent+" is not in this clone")
}

func TestReadFile(t *testing.T) { eachReader(t, testReadFile) }

func testReadFile(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	first := r.CommitFile("other", "x")
	r.Write(".small-gate.yml", "version: 1\n")
	r.Write("dir/file", "1")
	r.Write("empty", "")
	object := r.GitInput("file", "hash-object", "-w", "--stdin")
	r.Git("update-index", "--add", "--cacheinfo", "120000,"+object+",link")
	r.Git("add", ".small-gate.yml", "dir", "empty")
	r.Git("commit", "-q", "-m", "second")
	second := r.ID("HEAD")
	repo := rd.open(t, r)
	for _, revision := range []string{second, history.Index} {
		data, found, err := githistory.ReadFile(t.Context(), repo, revision, ".small-gate.yml", 11)
		if err != nil || !found || string(data) != "version: 1\n" {
			t.Errorf("ReadFile = %q, %v, %v", data, found, err)
		}
		data, found, err = githistory.ReadFile(t.Context(), repo, revision, "empty", 0)
		if err != nil || !found || data == nil || len(data) != 0 {
			t.Errorf("empty file: %q, %v, %v", data, found, err)
		}
		_, _, err = githistory.ReadFile(t.Context(), repo, revision, ".small-gate.yml", 10)
		wantFailure(t, err, "11 bytes", "limit of 10")
		_, _, err = githistory.ReadFile(t.Context(), repo, revision, "dir", 10)
		wantFailure(t, err, "dir is not a regular file")
		_, _, err = githistory.ReadFile(t.Context(), repo, revision, "link", 10)
		wantFailure(t, err, "link is not a regular file")
	}
	if data, found, err := githistory.ReadFile(t.Context(), repo, first, ".small-gate.yml", 10); found || err != nil || data != nil {
		t.Errorf("absent file: %q, %v, %v", data, found, err)
	}
	_, _, err := githistory.ReadFile(t.Context(), repo, strings.Repeat("cd", 20), ".small-gate.yml", 10)
	wantFailure(t, err, "is not in this clone")

	r.Git("checkout", "-q", "--detach", first)
	if data, found, err := githistory.ReadFile(t.Context(), rd.open(t, r), first, ".small-gate.yml", 10); found || err != nil || data != nil {
		t.Errorf("absent from HEAD: %q, %v, %v", data, found, err)
	}
	r.Write(".small-gate.yml/file", "1")
	r.Git("add", ".small-gate.yml")
	r.Git("commit", "-q", "-m", "a directory")
	_, _, err = githistory.ReadFile(t.Context(), rd.open(t, r), r.ID("HEAD"), ".small-gate.yml", 10)
	wantFailure(t, err, ".small-gate.yml is not a regular file")
}

// A commit hook starts two git processes if nothing that is judged is touched.
func TestIdleProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the program that counts is a shell script")
	}
	r := gittest.New(t)
	head := r.CommitFile("other", "x")
	started := filepath.Join(t.TempDir(), "started")
	program := filepath.Join(t.TempDir(), "git")
	if err := gittest.WriteProgram(program, "#!/bin/sh\necho x >>'"+started+"'\nexec git \"$@\"\n"); err != nil {
		t.Fatal(err)
	}
	repo, err := githistory.Open(t.Context(), r.Dir, githistory.Options{Environ: r.Environ(), Git: program})
	if err != nil {
		t.Fatal(err)
	}
	if at, err := repo.Head(t.Context()); at != head || err != nil {
		t.Errorf("Head = %s, %v", at, err)
	}
	if _, found, err := githistory.ReadFile(t.Context(), repo, head, ".small-gate.yml", 10); found || err != nil {
		t.Errorf("ReadFile = %v, %v", found, err)
	}
	if _, err := repo.Diff(t.Context(), history.EdgesOf(history.Index, []string{head}), history.Workspaces()); err != nil {
		t.Error(err)
	}
	if err := repo.Close(); err != nil {
		t.Error(err)
	}
	if lines, err := os.ReadFile(started); string(lines) != "x\nx\n" || err != nil {
		t.Errorf("%q, %v", lines, err)
	}
}
