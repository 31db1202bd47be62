package githistory_test

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

func TestCommits(t *testing.T) { eachReader(t, testCommits) }

func testCommits(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	names := map[string]string{}
	commit := func(name, path, content string) string {
		id := r.CommitFile(path, content)
		names[id] = name
		return id
	}
	a := commit("a", "code", "1")
	b := commit("b", ".small/x", "1")
	r.Branch("side", a)
	commit("c", "other", "1")
	d := commit("d", "sub/.small/y", "1")
	r.Switch("main")
	m := r.Merge("side")
	names[m] = "m"
	commit("e", "code", "2")
	f := commit("f", ".small/x", "2")
	repo := rd.open(t, r)

	for _, tt := range []struct {
		name             string
		include, exclude []string
		want             []string
	}{
		{"nothing", nil, nil, []string{}},
		{"all", []string{f}, nil, []string{"a:", "b: a", "c: a", "d: c", "e: m", "f: e", "m: b d"}},
		{"range", []string{f}, []string{m}, []string{"e: m", "f: e"}},
		{"range across a merge", []string{m}, []string{b}, []string{"c: a", "d: c", "m: b d"}},
		{"several", []string{b, d}, []string{a}, []string{"b: a", "c: a", "d: c"}},
		{"empty range", []string{b}, []string{f}, []string{}},
		{"same", []string{f}, []string{f}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := repo.Commits(t.Context(), tt.include, tt.exclude)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.want, commitIDs(t, names, got))
		})
	}
}

func TestCommitsOctopusAndCrissCross(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testCommitsOctopusAndCrissCross)
}

func testCommitsOctopusAndCrissCross(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	base := r.CommitFile("f", "0")
	var tips []string
	for _, name := range []string{"one", "two", "three"} {
		r.Branch(name, base)
		tips = append(tips, r.CommitFile(name, "1"))
	}
	r.Switch("main")
	r.Git("reset", "-q", "--hard", tips[0])
	octopus := r.Merge("two", "three")
	// one and two merge each other: there are two best common ancestors.
	r.Switch("one")
	x := r.Merge(tips[1])
	r.Switch("two")
	y := r.Merge(tips[0])

	repo := rd.open(t, r)
	got, err := repo.Commits(t.Context(), []string{octopus}, []string{base})
	if err != nil || len(got) != 4 {
		t.Fatalf("Commits = %v, %v", got, err)
	}
	wantEqual(t, history.Commit{ID: octopus, Parents: tips}, history.InOrder(got)[3])

	bases, err := repo.MergeBases(t.Context(), x, y)
	if err != nil || len(bases) != 2 {
		t.Errorf("MergeBases = %v, %v; want two", bases, err)
	}
}

func TestCommitsUnrelatedRoots(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testCommitsUnrelatedRoots)
}

func testCommitsUnrelatedRoots(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	a := r.CommitFile("a", "1")
	r.Git("checkout", "-q", "--orphan", "other")
	b := r.CommitFile("b", "1")
	m := r.Git("commit-tree", "-p", a, "-p", b, "-m", "join", r.ID(a+"^{tree}"))
	repo := rd.open(t, r)
	got, err := repo.Commits(t.Context(), []string{m}, []string{a})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []string{"b:", "m: a b"}, commitIDs(t, map[string]string{a: "a", b: "b", m: "m"}, got))
	bases, err := repo.MergeBases(t.Context(), a, b)
	if err != nil || len(bases) != 0 {
		t.Errorf("MergeBases = %v, %v; want none", bases, err)
	}
}

func TestCommitsOfWhatIsNotHere(t *testing.T) { eachReader(t, testCommitsOfWhatIsNotHere) }

func testCommitsOfWhatIsNotHere(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	head := r.CommitFile("f", "1")
	absent := strings.Repeat("12", 20)
	repo := rd.open(t, r)
	for _, tt := range []struct {
		name             string
		include, exclude []string
	}{
		{"head", []string{absent}, nil},
		{"base", []string{head}, []string{absent}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := repo.Commits(t.Context(), tt.include, tt.exclude)
			wantFailure(t, err, absent+" is not in this clone", "git fetch origin "+absent)
		})
	}
	for _, bad := range []string{"", "HEAD", "--all", head[:39], head + "0", strings.ToUpper(head), strings.Repeat("0", 64), head + "\n" + head} {
		if _, err := repo.Commits(t.Context(), []string{bad}, nil); err == nil {
			t.Errorf("%q was taken for an id", bad)
		}
	}
	_, err := repo.MergeBases(t.Context(), head, absent)
	wantFailure(t, err, absent+" is not in this clone")
	_, err = repo.IsAncestor(t.Context(), head, absent)
	wantFailure(t, err, absent+" is not in this clone")
}

// A 40-digit id is an abbreviation in a sha256 repository.
func TestSHA256(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testSHA256)
}

func testSHA256(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t, gittest.SHA256())
	if rd.refuses(t, r, "extensions.objectformat", "sha256") {
		return
	}
	a := r.CommitFile(".small/x", "1")
	b := r.CommitFile(".small/x", "2")
	r.Write(".small/x", "3")
	r.Git("add", "-A")
	repo := rd.open(t, r)
	got, err := repo.Commits(t.Context(), []string{b}, []string{a})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []history.Commit{{ID: b, Parents: []string{a}}}, got)
	if _, err := repo.Commits(t.Context(), []string{b[:40]}, nil); err == nil {
		t.Error("an abbreviation was taken for an id")
	}
	wantEqual(t, [][]string{{".small/x - 100644:1"}, {".small/x 100644:1 100644:2"}, {".small/x 100644:2 100644:3"}, {".small/x - 100644:3"}},
		changes(t, repo, history.Edge{Child: a}, history.Edge{Parent: a, Child: b}, history.Edge{Parent: b, Child: history.Index}, history.Edge{Child: history.Index}))
	wantEqual(t, []string{".small/x 100644:2"}, files(t, repo, b))
	wantEqual(t, []string{b}, workgit.GitHeads([]string{"GITHEAD_" + b + "=x"}))
}
