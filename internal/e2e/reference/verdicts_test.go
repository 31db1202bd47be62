package reference

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// verdictsFile has workspaces with the verdicts of the protocol's own program. It is beside the repository, not part of it.
var verdictsFile = filepath.Join("..", "..", "..", "..", "shared", "conformance", "verdicts-1.0.10.jsonl.gz")

// recorded is one line of it.
type recorded struct {
	ID   string
	Kind string // the program's --workspace
	// Files are the contents by name: a text, {"b64": bytes}, {"link": target}, or "dir" for a name that ends in "/".
	Files map[string]json.RawMessage
	// Plain and Strict are the exit statuses, and Words is the output of the strict check.
	Plain, Strict int
	Words         string
}

func (r *recorded) workspace() (*workspace, error) {
	w := &workspace{}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		f := file{name: name}
		var text string
		var form struct {
			Bytes []byte `json:"b64"`
			Link  string `json:"link"`
		}
		if json.Unmarshal(r.Files[name], &text) == nil {
			f.data = []byte(text)
		} else if err := json.Unmarshal(r.Files[name], &form); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", r.ID, name, err)
		} else {
			f.data, f.link = form.Bytes, form.Link
		}
		w.files = append(w.files, f)
	}
	return w, nil
}

// TestVerdicts judges workspaces with a known verdict of the protocol's own program, and demands that docs/small.md lists every difference.
// Without the long tests it tries one in twelve.
func TestVerdicts(t *testing.T) {
	packed, err := os.Open(verdictsFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("NOT TESTED: no recorded verdict is held against the gate's: ../shared/conformance is not beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := packed.Close(); err != nil {
			t.Error(err)
		}
	}()
	text, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	n := &tally{explained: map[string]int{}}
	cases := make(chan *recorded)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for c := range cases {
				n.recorded(c)
			}
		})
	}
	dec, every := json.NewDecoder(bufio.NewReader(text)), gittest.Cases(12, 1)
	total := 0
	for ; ; total++ {
		var c recorded
		if err = dec.Decode(&c); err != nil {
			break
		}
		if total%every == 0 {
			cases <- &c
		}
	}
	close(cases)
	workers.Wait()
	if !errors.Is(err, io.EOF) || total != 3600 {
		t.Errorf("%d cases were read: %v", total, err)
	}
	n.report(t)
	others := n.verdicts - n.explained[evidenceGate]
	t.Logf("%.1f %% agree; %.1f %% besides %s", 100*float64(n.agreed)/float64(n.verdicts), 100*float64(n.agreed)/float64(others), evidenceGate)
	if 1000*n.agreed < 975*others {
		t.Errorf("%d of %d verdicts agree, less than 97.5 %%, besides %s", n.agreed, others, evidenceGate)
	}
	for _, d := range divergences {
		if n.explained[d.what] > 0 && d.decides == "" {
			t.Errorf("%s: no sentence of the protocol's facts decides it", d.what)
		}
	}
}
