package read

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gittest"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
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
			logs := newLedgers(nil, small.Limits{})
			for i := range keptBytes/long + 8 {
				logs.keep(fmt.Sprint(i), &LedgerFile{Log: log})
			}
			if n := len(logs.kept); n > keptBytes/long {
				t.Errorf("%d logs with texts of %d bytes stay in memory, at most %d are expected", n, long, keptBytes/long)
			}
		})
	}
}

// blobTree is a tree of which only blobs are read.
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
	for _, tt := range []struct{ logs, entries, most int }{{20, 100_000, 19}, {200, 100, 200}} {
		tree := blobTree{blobs: map[string]string{}}
		l := newLedgers(tree, small.Limits{})
		for i := range tt.logs {
			id := strconv.Itoa(i)
			tree.blobs[id] = "entries:\n- " + id + "\n" + strings.Repeat("- a\n", tt.entries)
			if log, err := l.Read(t.Context(), history.File{Path: ".small/progress.small.yml", Mode: "100644", Object: id}, nil); err != nil || !log.Readable() {
				t.Fatal(err)
			}
		}
		if l.bytes > keptBytes || len(l.kept) > tt.most || len(l.kept) < 2 || len(l.order) != len(l.kept) {
			t.Errorf("%d logs of %d entries: %d are kept, %d bytes", tt.logs, tt.entries, len(l.kept), l.bytes)
		}
	}
}

// The short way needs the earlier text, whatever was read in the meantime.
func TestReadAfterAnother(t *testing.T) {
	tree := blobTree{blobs: map[string]string{"a": "entries:\n- a\n", "b": "entries:\n- a\n- b\n", "c": "entries:\n- a\n- c\n", "d": "entries:\n- d\n- b\n"}}
	l := newLedgers(tree, small.Limits{})
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
