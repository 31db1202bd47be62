package plain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// versions makes a repository with objects of all kinds and versions of one file.
func versions(t testing.TB) *gittest.Repo {
	t.Helper()
	madeVersions.Lock()
	defer madeVersions.Unlock()
	if madeVersions.repo == nil {
		madeVersions.repo = makeVersions(t)
	}
	return madeVersions.repo.Copy(t)
}

// madeVersions is the repository that versions copies, made once.
var madeVersions struct {
	sync.Mutex
	repo *gittest.Repo
}

func makeVersions(t testing.TB) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "line %d %x\n", i, i*i*7919)
		r.Write("empty", "")
		r.CommitFile("file", text.String())
	}
	r.Git("tag", "-a", "-m", "x", "tag")
	return r
}

// checkAll compares every object with git's.
func checkAll(t *testing.T, r *gittest.Repo) {
	t.Helper()
	repo := open(t, r)
	for line := range strings.SplitSeq(r.Git("cat-file", "--batch-all-objects", "--batch-check"), "\n") {
		f := strings.Fields(line)
		id := f[0]
		o, err := repo.objects.read(id, 1<<20)
		if err != nil || o.kind.String() != f[1] || fmt.Sprint(o.size) != f[2] || int64(len(o.data)) != o.size {
			t.Errorf("%s: %s of %d bytes, %v", line, o.kind, o.size, err)
		}
		if o, err := repo.objects.read(id, -1); err != nil || o.data != nil || o.kind.String() != f[1] || fmt.Sprint(o.size) != f[2] {
			t.Errorf("%s, not read: %s of %d bytes, %v", line, o.kind, o.size, err)
		}
	}
}

func TestObjectsInEveryStorage(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	for name, steps := range map[string][][]string{
		"loose":           nil,
		"packed":          {{"repack", "-q", "-a", "-d"}},
		"long chains":     {{"repack", "-q", "-a", "-d", "-f", "--depth=4000", "--window=100"}},
		"bases by id":     {{"-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f"}},
		"no deltas":       {{"repack", "-q", "-a", "-d", "-f", "--depth=0"}},
		"not compressed":  {{"-c", "core.compression=0", "repack", "-q", "-a", "-d", "-F"}},
		"several indexes": {{"repack", "-q", "-a", "-d", "--write-midx", "-b"}},
		"cruft":           {{"reset", "-q", "--hard", "HEAD~5"}, {"reflog", "expire", "--expire=now", "--all"}, {"gc", "-q", "--cruft", "--prune=never"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := versions(t)
			for _, step := range steps {
				r.Git(step...)
			}
			checkAll(t, r)
		})
	}
}

// A pack's index can have offsets of 2 GiB and more; git can be made to write them for small packs too.
func TestPackIndexes(t *testing.T) {
	t.Parallel()
	r := versions(t)
	r.Git("repack", "-q", "-a", "-d")
	packs, err := filepath.Glob(r.Path(".git/objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	index := strings.TrimSuffix(packs[0], ".pack") + ".idx"
	write := func(version string) {
		t.Helper()
		if err := os.Remove(index); err != nil {
			t.Fatal(err)
		}
		r.Git("index-pack", "--index-version="+version, "-o", index, packs[0])
	}
	write("2,0x40")
	checkAll(t, r)
	head, err := open(t, r).Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write("1")
	_, err = open(t, r).Commits(t.Context(), []string{head}, nil)
	wantUnserved(t, err, "malformed IDX")

	write("2")
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 7, 8, 500, 1031, 1032, 1100, len(whole) - 41} {
		if err := os.Remove(index); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(index, whole[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, r).Commits(t.Context(), []string{head}, nil); err == nil {
			t.Errorf("%d of the %d bytes of an index were taken", size, len(whole))
		}
	}
}

// An object matches its id, or is an error.
func TestDamagedObjects(t *testing.T) {
	t.Parallel()
	r := versions(t)
	tree := r.ID("HEAD^{tree}")
	a, b := r.ID("HEAD:file"), r.ID("HEAD~1:file")
	copyObject := func(from, to string) {
		t.Helper()
		data, err := os.ReadFile(r.Path(".git/objects/" + from[:2] + "/" + from[2:]))
		if err != nil {
			t.Fatal(err)
		}
		name := r.Path(".git/objects/" + to[:2] + "/" + to[2:])
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	copyObject(b, a)
	_, err := open(t, r).Blob(t.Context(), a, 1<<20)
	wantFailureThat(t, err, a, "not what its id says")
	copyObject(a, tree)
	_, err = open(t, r).List(t.Context(), r.ID("HEAD"), history.Workspaces())
	wantFailureThat(t, err, tree)
}

func wantFailureThat(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
}

// A modified pack is an error, and never a panic.
func TestDamagedPack(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	r := versions(t)
	r.Git("repack", "-q", "-a", "-d", "-f", "--depth=50")
	packs, err := filepath.Glob(r.Path(".git/objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	whole, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(r.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	errs := 0
	for at := 12; at < len(whole)-20; at += 61 {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= byte(1 + at%255)
		if err := os.Remove(packs[0]); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(packs[0], damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		repo := open(t, r)
		for _, id := range all {
			o, err := repo.objects.read(id, 1<<20)
			if err != nil {
				errs++
			} else if githistory.SHA1.ID(o.kind.String(), o.data) != id {
				t.Errorf("byte %d: the object %s has the content of another", at, id)
			}
		}
	}
	if errs == 0 {
		t.Error("nothing was damaged")
	}
}

// A blob above the limit is not held, however it is stored.
func TestLargeDeltasAreNotHeld(t *testing.T) {
	gittest.Long(t)
	r := gittest.New(t)
	const size = 32 << 20
	line := "0123456789abcde\n"
	r.CommitFile("huge", strings.Repeat(line, size/16))
	first := r.ID("HEAD:huge")
	r.CommitFile("huge", strings.Repeat(line, size/16)+"more\n")
	second := r.ID("HEAD:huge")
	r.Git("repack", "-q", "-a", "-d", "-f")
	repo := open(t, r)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for id, want := range map[string]int64{first: size, second: size + 5} {
		got, err := repo.Blob(t.Context(), id, 1<<20)
		if err != nil || got.Data != nil || got.Size != want {
			t.Errorf("Blob = %d bytes of %d, %v", len(got.Data), got.Size, err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > size/8 {
		t.Errorf("%d bytes were allocated", used)
	}
	if got, err := repo.Blob(t.Context(), second, size+5); err != nil || int64(len(got.Data)) != size+5 {
		t.Errorf("Blob = %d bytes, %v", len(got.Data), err)
	}
}

// Blob's result may be the base of other objects: writing to it causes an error later, not wrong content.
func TestBlobIsWrittenTo(t *testing.T) {
	t.Parallel()
	r := versions(t)
	r.Git("repack", "-q", "-a", "-d")
	repo := open(t, r)
	id := r.ID("HEAD:file")
	blob, err := repo.Blob(t.Context(), id, 1<<20)
	if err != nil || !strings.HasPrefix(string(blob.Data), "line 0") {
		t.Fatalf("%.20q, %v", blob.Data, err)
	}
	clear(blob.Data)
	if blob, err := repo.Blob(t.Context(), id, 1<<20); err == nil && !strings.HasPrefix(string(blob.Data), "line 0") {
		t.Errorf("%.20q", blob.Data)
	}
}

// git reads packs with any name, go-git only those that git makes: a missing commit is left to git.
func TestPackWithAnotherName(t *testing.T) {
	t.Parallel()
	r := versions(t)
	head := r.ID("HEAD")
	r.Git("repack", "-q", "-a", "-d")
	index := packIndex(t, r)
	for _, end := range []string{".idx", ".pack"} {
		if err := os.Rename(strings.TrimSuffix(index, ".idx")+end, r.Path(".git/objects/pack/pack-odd"+end)); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Git("cat-file", "-t", head); got != "commit" {
		t.Fatal(got)
	}
	_, err := open(t, r).Commits(t.Context(), []string{head}, nil)
	if !errors.Is(err, ErrUnserved) {
		t.Errorf("the error is %v", err)
	}
}

// Objects added to the repository after it was opened are found, and those that a repack moves remain readable.
func TestRepackWhileOpen(t *testing.T) {
	t.Parallel()
	r := versions(t)
	r.Git("repack", "-q", "-a", "-d")
	old := r.ID("HEAD")
	repo := open(t, r)
	if _, err := repo.List(t.Context(), old, history.Workspaces()); err != nil {
		t.Fatal(err)
	}
	r.Git("repack", "-q", "-a", "-d")
	fresh := r.CommitFile("file", "new")
	r.Git("repack", "-q", "-a", "-d")
	for _, id := range []string{old, fresh} {
		if _, err := repo.List(t.Context(), id, history.Workspaces()); err != nil {
			t.Error(err)
		}
	}
}

func TestConcurrentReading(t *testing.T) {
	t.Parallel()
	r := versions(t)
	r.Git("repack", "-q", "-a", "-d")
	repo := open(t, r)
	head := r.ID("HEAD")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			commits, err := repo.Commits(t.Context(), []string{head}, nil)
			if err != nil || len(commits) != 30 {
				t.Errorf("%d commits, %v", len(commits), err)
			}
			if _, err := repo.List(t.Context(), head, history.Workspaces()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
