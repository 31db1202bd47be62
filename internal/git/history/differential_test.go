package githistory_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var (
	histories = flag.Int("histories", gittest.Cases(2, 30), "how many random repositories both readers are compared on")
	seed      = flag.Uint64("seed", gittest.Seed(1), "the first of their seeds")
)

// TestReadersAgree asks both readers the same questions about random repositories, with unordered dates, branches that merge each other,
// and objects in many kinds of packs. git's answer is the right one. A repository costs about 120 processes of git; a long run:
// SMALL_GATE_TESTS=all go test ./internal/git/history -run TestReadersAgree -histories 5000 -seed 1 -timeout 0.
func TestReadersAgree(t *testing.T) {
	gittest.Long(t)
	for i := range *histories {
		n := *seed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", n), func(t *testing.T) {
			t.Parallel()
			w := randomRepository(t, n)
			git, own := readers[0].open(t, w.Repo), readers[1].open(t, w.Repo)
			w.compareHistory(t, git, own)
			w.compareTrees(t, git, own)
			w.compareIndex(t, git, own)
			w.compareRefs(t, git, own)
		})
	}
}

var filters = []history.Filter{
	{},
	{All: true},
	judged,
	history.Workspaces(),
	history.Workspaces(""),
	history.Workspaces("a", "a/b"),
	history.Workspaces("none", "."),
	{Workspaces: true, Patterns: []string{"**/workflows/*/workflow.md", "jobs/*.json"}},
	{Workspaces: true, Dirs: []string{"z"}, Patterns: []string{"jobs/**", "{a,workflows}/**/*.md"}},
	history.At("a/jobs/x[1].json", "jobs/1.json", "a", "code", "none"),
	history.Matching("**"),
	history.Matching("*o*"),
	{Patterns: []string{"A/JOBS/x[[]1].json", "Jobs/*.JSON", "CODE"}, AnyCase: true},
}

// randomWorld is a random repository.
type randomWorld struct {
	*gittest.Repo
	*rand.Rand
	ids   []string // of the commits
	paths []string
	skew  bool // whether the commits' dates are unordered
}

// oneIn is true once in n times.
func (w *randomWorld) oneIn(n int) bool { return w.IntN(n) == 0 }

func pick[T any](w *randomWorld, list []T) T { return list[w.IntN(len(list))] }

func randomRepository(t *testing.T, seed uint64) *randomWorld {
	t.Helper()
	w := &randomWorld{Repo: gittest.New(t), Rand: rand.New(rand.NewPCG(seed, 7))}
	w.paths = []string{
		".small/progress.small.yml", ".small/plan.small.yml", "a/.small/progress.small.yml", "a/b/.small/x", "a/.small",
		".small-gate.yml", "code", "a/code", "a.b", "a-b/.small/y", "z/.SMALL/x",
		"a/workflows/job/workflow.md", "workflows/job/workflow.md", "workflows/workflow.md", "jobs/1.json", "jobs/old/1.json", "a/jobs/x[1].json",
	}
	n := 2 + w.IntN(40)
	w.skew = w.oneIn(2)
	var script strings.Builder
	for i := 1; i <= n; i++ {
		w.commit(&script, i)
	}
	script.WriteString("done\n")
	w.GitInput(script.String(), "fast-import", "--quiet", "--force", "--done")
	w.ids = strings.Fields(w.Git("for-each-ref", "--format=%(objectname)", "refs/heads/c*"))
	w.store(t)
	return w
}

// messages are commit messages; some claim a lane, others only seem to.
var messages = []string{
	"x", "", "\n\n", "x\n\nLane: fast\n", "x\n\nlane:deep", "x\r\n\r\nLANE : standard \r\n", "Lane: fast\n", "x\n\nLane: fast\nLane: deep\n",
	"tree of life\n\nLane: fast\n", "x\n\nLaneway: fast\n\nLane: deep\n\nmore\n", "x\n\nLane: fa\n st\n", "x\n\nLane: \xff\xfe\n", "\n\nx\n\n\nLane: deep\n\n\n",
	"commit 1234\n\nSigned-off-by: x\nLane: fast\nwords\n",
}

// commit writes the commit number i: a root, a child, or a merge.
func (w *randomWorld) commit(script *strings.Builder, i int) {
	date := 1_700_000_000 + 60*i
	if w.skew {
		date = 1_700_000_000 + w.IntN(5000)
	}
	message := pick(w, messages)
	fmt.Fprintf(script, "commit refs/heads/c%d\nmark :%d\ncommitter T <t@example.com> %d +0000\ndata %d\n%s\n", i, i, date, len(message), message)
	var parents []int
	if i > 1 && !w.oneIn(15) {
		for range 1 + w.IntN(2)*w.IntN(4) {
			// Mostly recent parents, so that lines become long.
			p := i - 1 - min(w.IntN(i-1), w.IntN(i-1), 5)
			if !slices.Contains(parents, p) {
				parents = append(parents, p)
			}
		}
	}
	for k, p := range parents {
		word := "merge"
		if k == 0 {
			word = "from"
		}
		fmt.Fprintf(script, "%s :%d\n", word, p)
	}
	for range w.IntN(4) {
		w.edit(script)
	}
	script.WriteString("\n")
}

func (w *randomWorld) edit(script *strings.Builder) {
	path := pick(w, w.paths)
	switch w.IntN(8) {
	case 0:
		fmt.Fprintf(script, "D %s\n", path)
	case 1:
		fmt.Fprintf(script, "D %s\n", strings.SplitN(path, "/", 2)[0])
	default:
		mode := pick(w, []string{"100644", "100644", "100644", "100755", "120000"})
		text := strings.Repeat(fmt.Sprintf("line %d\n", w.IntN(4)), 1+w.IntN(200))
		fmt.Fprintf(script, "M %s inline %s\ndata %d\n%s\n", mode, path, len(text), text)
	}
}

// store moves the objects and the refs to places that fast-import does not use.
func (w *randomWorld) store(t *testing.T) {
	t.Helper()
	w.Git("config", "gc.auto", "0")
	steps := [][]string{
		{"repack", "-q", "-a", "-d", "-f", "--depth=50"},
		{"repack", "-q", "-a", "-d", "-F", "--depth=3", "--window=2"},
		{"-c", "pack.writeReverseIndex=true", "repack", "-q", "-a", "-d", "-b", "--write-midx"},
		{"commit-graph", "write", "--reachable", "--changed-paths"},
		{"commit-graph", "write", "--reachable", "--split"},
		{"-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f"},
		{"pack-refs", "--all"},
		{"gc", "-q"},
	}
	for range w.IntN(4) {
		w.Git(pick(w, steps)...)
	}
	if w.oneIn(3) {
		w.scatter(t)
	}
}

// scatter puts some of the objects into packs of their own, and into files.
func (w *randomWorld) scatter(t *testing.T) {
	t.Helper()
	all := strings.Fields(w.Git("rev-list", "--all", "--objects", "--no-object-names"))
	for range 1 + w.IntN(5) {
		var some []string
		for _, id := range all {
			if w.oneIn(3) {
				some = append(some, id)
			}
		}
		some = append(some, all[0])
		w.GitInput(strings.Join(some, "\n")+"\n", "pack-objects", "-q", ".git/objects/pack/pack")
	}
	w.GitInput(w.Git("cat-file", "commit", w.ids[0])+"\n", "hash-object", "-t", "commit", "-w", "--stdin")
}

// some picks up to n commits.
func (w *randomWorld) some(n int) []string {
	var list []string
	for range w.IntN(n + 1) {
		list = append(list, pick(w, w.ids))
	}
	return list
}

func (w *randomWorld) compareHistory(t *testing.T, git, own opened) {
	t.Helper()
	ctx := t.Context()
	for range 8 {
		include, exclude := append(w.some(2), pick(w, w.ids)), w.some(3)
		want, err1 := git.Commits(ctx, include, exclude)
		got, err2 := own.Commits(ctx, include, exclude)
		if w.skew {
			want = w.withoutExcluded(want, got, exclude)
		}
		same(t, fmt.Sprintf("Commits(%v, %v)", include, exclude), byID(want), byID(got), err1, err2)
		a, b := pick(w, w.ids), pick(w, w.ids)
		bases, err1 := git.MergeBases(ctx, a, b)
		ownBases, err2 := own.MergeBases(ctx, a, b)
		same(t, "MergeBases "+a+" "+b, bases, ownBases, err1, err2)
		is, err1 := git.IsAncestor(ctx, a, b)
		ownIs, err2 := own.IsAncestor(ctx, a, b)
		same(t, "IsAncestor "+a+" "+b, is, ownIs, err1, err2)
	}
}

// withoutExcluded drops excluded commits from git's answer. If commits are older than their parents, git stops following the excluded side
// soon after nothing seems left to exclude ("SLOP" in its revision.c), and lists commits that it would have excluded later. They are judged
// once more than needed; none is missed.
func (w *randomWorld) withoutExcluded(want, got []history.Commit, exclude []string) []history.Commit {
	listed := byID(got)
	return slices.DeleteFunc(want, func(c history.Commit) bool {
		_, too := listed[c.ID]
		return !too && slices.ContainsFunc(exclude, func(tip string) bool {
			_, err := w.Try("merge-base", "--is-ancestor", c.ID, tip)
			return err == nil
		})
	})
}

func byID(commits []history.Commit) map[string]history.Commit {
	m := map[string]history.Commit{}
	for _, c := range commits {
		m[c.ID] = c
	}
	return m
}

func (w *randomWorld) compareTrees(t *testing.T, git, own opened) {
	t.Helper()
	ctx := t.Context()
	var edges []history.Edge
	commits, err := git.Commits(ctx, w.ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commits {
		edges = append(edges, history.EdgesOf(c.ID, c.Parents)...)
	}
	for range 20 {
		edges = append(edges, history.Edge{Parent: pick(w, w.ids), Child: pick(w, w.ids)})
	}
	some := []history.Filter{{All: true}, pick(w, filters), pick(w, filters)}
	for _, f := range some {
		want, err1 := git.Diff(ctx, edges, f)
		got, err2 := own.Diff(ctx, edges, f)
		same(t, fmt.Sprintf("Diff(%+v)", f), want, got, err1, err2)
	}
	blobs := map[string]bool{}
	for range 6 {
		id := pick(w, w.ids)
		for _, f := range some {
			want, err1 := git.List(ctx, id, f)
			got, err2 := own.List(ctx, id, f)
			same(t, fmt.Sprintf("List(%s, %+v)", id, f), want, got, err1, err2)
			for _, f := range got {
				blobs[f.Object] = true
			}
		}
		path := pick(w, w.paths)
		data, found, err1 := githistory.ReadFile(ctx, git, id, path, 1000)
		ownData, ownFound, err2 := githistory.ReadFile(ctx, own, id, path, 1000)
		same(t, "ReadFile "+id+" "+path, fmt.Sprint(found, string(data)), fmt.Sprint(ownFound, string(ownData)), err1, err2)
	}
	for id := range blobs {
		want, err1 := git.Blob(ctx, id, 700)
		got, err2 := own.Blob(ctx, id, 700)
		same(t, "Blob "+id, want, got, err1, err2)
	}
}

func (w *randomWorld) compareIndex(t *testing.T, git, own opened) {
	t.Helper()
	ctx := t.Context()
	for range 2 {
		w.Git("read-tree", "--reset", pick(w, w.ids))
		version := fmt.Sprint(2 + w.IntN(2))
		for range w.IntN(4) {
			path := pick(w, w.paths)
			switch w.IntN(3) {
			case 0:
				w.Git("update-index", "--force-remove", path)
			default:
				object := w.GitInput(fmt.Sprint(w.IntN(5)), "hash-object", "-w", "--stdin")
				w.Git("update-index", "--add", "--replace", "--cacheinfo", pick(w, []string{"100644", "100755"})+","+object+","+path)
			}
		}
		if here := strings.Fields(w.Git("ls-files")); len(here) > 0 {
			w.Git("update-index", "--skip-worktree", pick(w, here))
			version = "3"
		}
		w.Git("update-index", "--index-version="+version)
		sparse, err1 := git.Sparse(ctx, w.paths)
		ownSparse, err2 := own.Sparse(ctx, w.paths)
		same(t, "Sparse", sparse, ownSparse, err1, err2)
		if w.oneIn(3) {
			w.Git("write-tree") // which the index then remembers
		}
		edges := []history.Edge{{Child: history.Index}}
		for range 3 {
			edges = append(edges, history.Edge{Parent: pick(w, w.ids), Child: history.Index})
		}
		for _, f := range []history.Filter{judged, pick(w, filters), pick(w, filters)} {
			want, err1 := git.Diff(ctx, edges, f)
			got, err2 := own.Diff(ctx, edges, f)
			same(t, fmt.Sprintf("Diff of the index, %+v", f), want, got, err1, err2)
			files, err1 := git.List(ctx, history.Index, f)
			others, err2 := own.List(ctx, history.Index, f)
			same(t, fmt.Sprintf("List of the index, %+v", f), files, others, err1, err2)
		}
	}
}

func (w *randomWorld) compareRefs(t *testing.T, git, own opened) {
	t.Helper()
	ctx := t.Context()
	for range 3 {
		id := pick(w, w.ids)
		for _, name := range []string{
			id, fmt.Sprintf("c%d", 1+w.IntN(len(w.ids)+1)), fmt.Sprintf("%s~%d", id, w.IntN(4)),
			fmt.Sprintf("heads/c1^%d", w.IntN(3)), id + "^^", id + "^0~1^2", "HEAD",
		} {
			want, err1 := git.Resolve(ctx, name)
			got, err2 := own.Resolve(ctx, name)
			same(t, "Resolve "+name, want, got, err1, err2)
		}
	}
	want, err1 := git.Tips(ctx)
	got, err2 := own.Tips(ctx)
	same(t, "Tips", want, got, err1, err2)
	branches, err1 := githistory.Branches(ctx, git, "refs/")
	ownBranches, err2 := githistory.Branches(ctx, own, "refs/")
	same(t, "Branches", branches, ownBranches, err1, err2)
	head, err1 := git.Head(ctx)
	ownHead, err2 := own.Head(ctx)
	same(t, "Head", head, ownHead, err1, err2)
	branch, err1 := githistory.DefaultBranch(ctx, git, "")
	ownBranch, err2 := githistory.DefaultBranch(ctx, own, "")
	same(t, "DefaultBranch", branch, ownBranch, err1, err2)
	if (githistory.Place{}) == git.Where() {
		t.Error("no place")
	}
	same(t, "Where", git.Where(), own.Where(), nil, nil)
}

// same compares the readers' answers.
func same[T any](t *testing.T, what string, want, got T, wantErr, gotErr error) {
	t.Helper()
	if (wantErr == nil) != (gotErr == nil) {
		t.Errorf("%s: git says %v, the go-git reader %v", what, wantErr, gotErr)
		return
	}
	if wantErr != nil {
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-git +go-git)\n%s", what, diff)
	}
}
