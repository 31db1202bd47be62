package read

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestLongTextsInMemory reads logs of one entry with a long text: what stays in
// memory is bounded in bytes, not in entries.
func TestLongTextsInMemory(t *testing.T) {
	const long = 4 << 20
	for name, entry := range map[string]string{
		"task_id": "- {task_id: \"" + strings.Repeat("a", long) + "\", evidence: x}\n",
		"suspect": "- {task_id: x, evidence: \" \\n" + strings.Repeat("a", long) + "\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			log, problems := ledger.ReadLog([]byte("entries:\n"+entry), small.Limits{})
			if log == nil {
				t.Fatal(problems)
			}
			logs := newLogReader(nil, small.Limits{}, 0, progressFormat)
			for i := range defaultMaxBytes/long + 8 {
				logs.keep(fmt.Sprint(i), &LedgerFile{Log: log})
			}
			if n := len(logs.kept); n > defaultMaxBytes/long {
				t.Errorf("%d logs with texts of %d bytes stay in memory, at most %d are expected", n, long, defaultMaxBytes/long)
			}
		})
	}
}

// blobTree is a tree that only has blobs.
type blobTree struct {
	history.Tree
	blobs map[string]string
}

func (t blobTree) Blob(_ context.Context, object string, _ int64) (history.Blob, error) {
	data := t.blobs[object]
	return history.Blob{Size: int64(len(data)), Data: []byte(data)}, nil
}

// However many logs are read, what stays in memory is bounded in bytes, and small
// ones stay.
func TestKeptLogsAreBounded(t *testing.T) {
	gittest.Long(t)
	for _, tt := range []struct{ logs, entries, bytes, most int }{{20, 50_000, 0, 4}, {20, 50_000, 128 << 20, 8}, {200, 100, 0, 200}} {
		tree := blobTree{blobs: map[string]string{}}
		l := newLogReader(tree, small.Limits{}, tt.bytes, progressFormat)
		for i := range tt.logs {
			id := strconv.Itoa(i)
			tree.blobs[id] = "entries:\n- " + id + "\n" + strings.Repeat("- a\n", tt.entries)
			if log, err := l.Read(t.Context(), history.File{Path: ".small/progress.small.yml", Mode: "100644", Object: id}, nil); err != nil || !log.Readable() {
				t.Fatal(err)
			}
		}
		if l.bytes > l.maxBytes || len(l.kept) > tt.most || len(l.kept) < 2 || len(l.order) != len(l.kept) {
			t.Errorf("%d logs of %d entries: %d are kept, %d bytes", tt.logs, tt.entries, len(l.kept), l.bytes)
		}
	}
}

// The short way needs the earlier text, whatever was read in the meantime.
func TestReadAfterAnother(t *testing.T) {
	tree := blobTree{blobs: map[string]string{"a": "entries:\n- a\n", "b": "entries:\n- a\n- b\n", "c": "entries:\n- a\n- c\n", "d": "entries:\n- d\n- b\n"}}
	l := newLogReader(tree, small.Limits{}, 0, progressFormat)
	read := func(id string, earlier *LedgerFile) *LedgerFile {
		f := history.File{Path: ".small/progress.small.yml", Mode: "100644", Object: id}
		log, err := l.Read(t.Context(), f, earlier)
		if err != nil {
			t.Fatal(err)
		}
		whole, problems := ledger.ReadLog([]byte(tree.blobs[id]), small.Limits{})
		if whole == nil || whole.Head() != log.Log.Head() {
			t.Errorf("%s is read otherwise after another: %v", id, problems)
		}
		return log
	}
	a := read("a", nil)
	for _, id := range []string{"b", "c", "d"} {
		read(id, a)
	}
}

// spoiling is a tree that overwrites what it gets back, as reading another object would.
type spoiling struct{ blobTree }

func (spoiling) Recycle(data []byte) {
	for i := range data {
		data[i] = '#'
	}
}

// No log shares memory with a text that was given up.
func TestRecycledTexts(t *testing.T) {
	tree := spoiling{blobTree{blobs: map[string]string{}}}
	l := newLogReader(tree, small.Limits{}, 0, progressFormat)
	var last *LedgerFile
	var all []*LedgerFile
	texts := []string{"", "- {task_id: a, evidence: \"x\"}\n", "- task_id: b\n  notes: |\n    some\n    lines\n", "- task_id: 'c'\n  evidence: >-\n    folded\n", "- &x d\n", "- *x\n", "- [\n"}
	for i := range texts {
		for _, more := range []string{"", "- forked\n"} {
			id := strconv.Itoa(len(all))
			tree.blobs[id] = "entries:\n- first\n" + strings.Join(texts[:i+1], "") + more
			log, err := l.Read(t.Context(), history.File{Path: ".small/progress.small.yml", Mode: "100644", Object: id}, last)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, log)
			if more == "" && log.Readable() {
				last = log
			}
		}
	}
	for i, got := range all {
		want, problems := ledger.ReadLog([]byte(tree.blobs[strconv.Itoa(i)]), small.Limits{})
		if got.Readable() != (want != nil) || fmt.Sprint(got.Problems) != fmt.Sprint(problems) {
			t.Errorf("%d: %v, want %v", i, got.Problems, problems)
		} else if want != nil && fmt.Sprint(got.Log.Entries) != fmt.Sprint(want.Entries) {
			t.Errorf("%d: %v, want %v", i, got.Log.Entries, want.Entries)
		}
	}
}

// sizeTree counts the contents that are read.
type sizeTree struct {
	blobTree
	read map[string]int
}

func (t sizeTree) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	blob, err := t.blobTree.Blob(ctx, object, limit)
	if blob.Size > limit {
		blob.Data = nil
	} else {
		t.read[object]++
	}
	return blob, err
}

// An earlier version that is recognized by its id is the same as if it were read, in both formats of ids.
func TestReadBefore(t *testing.T) {
	const later = "entries:\n- a\n- b\n- c\n"
	for _, like := range []string{strings.Repeat("0", 40), strings.Repeat("0", 64)} {
		for earlier, read := range map[string]int{
			"entries:\n- a\n- b\n": 0, "entries:\n- a\n": 0, "entries:\n- a\n- x\n": 1, "entries:\n- a\n- b\n- c\n- d\n": 1, "entries:\n- a\n- b": 1, "": 1,
		} {
			tree := sizeTree{blobTree{blobs: map[string]string{}}, map[string]int{}}
			file := func(text string) history.File {
				id := history.BlobID([]byte(text), like)
				tree.blobs[id] = text
				return history.File{Path: ".small/progress.small.yml", Mode: "100644", Object: id}
			}
			l := newLogReader(tree, small.Limits{}, 0, progressFormat)
			l.noteNewest(file(later))
			f := file(earlier)
			got, err := l.Read(t.Context(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, problems := ledger.ReadLog([]byte(earlier), small.Limits{})
			if got.Readable() != (want != nil) || len(got.Problems) != len(problems) || want != nil && (got.Log.Len() != want.Len() || got.Log.Head() != want.Head()) {
				t.Errorf("%q is read as %+v", earlier, got)
			}
			if earlier != "" && tree.read[f.Object] != read {
				t.Errorf("%q is read %d times, want %d", earlier, tree.read[f.Object], read)
			}
		}
	}
}

// Random versions of a log are the same whether or not one of them is known to be the newest, in whatever order they are read.
func TestReadFromNewest(t *testing.T) {
	for round := range gittest.Rounds(200, 5000) {
		random := rand.New(rand.NewPCG(gittest.Seed(43), uint64(round)))
		tree := spoiling{blobTree{blobs: map[string]string{}}}
		l := newLogReader(tree, small.Limits{}, random.IntN(2)*(1<<12), progressFormat)
		texts := []string{"entries:\n- first\n"}
		for len(texts) < 8 {
			text := texts[random.IntN(len(texts))]
			switch random.IntN(8) {
			case 0:
				text = strings.TrimSuffix(text, "\n")
			case 1:
				text += "- [\n"
			case 2:
				text += fmt.Sprintf("  goes on %d\n", random.IntN(3))
			default:
				text += fmt.Sprintf("- entry %d\n", random.IntN(5))
			}
			texts = append(texts, text)
		}
		var files []history.File
		for i, text := range texts {
			f := history.File{Path: fmt.Sprintf("%d/.small/progress.small.yml", i%2), Mode: "100644", Object: history.BlobID([]byte(text), strings.Repeat("0", 40))}
			tree.blobs[f.Object] = text
			files = append(files, f)
		}
		for i, f := range files {
			if i >= len(files)-2 || random.IntN(4) == 0 {
				l.noteNewest(f)
			}
		}
		var near *LedgerFile
		for range 30 {
			f := files[random.IntN(len(files))]
			if random.IntN(4) == 0 {
				l.noteNewest(files[random.IntN(len(files))])
			}
			got, err := l.Read(t.Context(), f, near)
			if err != nil {
				t.Fatal(err)
			}
			want, problems := ledger.ReadLog([]byte(tree.blobs[f.Object]), small.Limits{})
			if got.Readable() != (want != nil) || fmt.Sprint(got.Problems) != fmt.Sprint(problems) {
				t.Fatalf("round %d: %q has the problems %v, want %v", round, tree.blobs[f.Object], got.Problems, problems)
			}
			if want != nil && (fmt.Sprint(got.Log.Entries) != fmt.Sprint(want.Entries) || got.Log.Head() != want.Head()) {
				t.Fatalf("round %d: %q has the entries %v, want %v", round, tree.blobs[f.Object], got.Log.Entries, want.Entries)
			}
			if got.Readable() && random.IntN(2) == 0 {
				near = got
			}
		}
	}
}
