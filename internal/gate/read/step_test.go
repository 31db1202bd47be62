package read

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// A log of lines is read as such after its rotation, and so is its archive, even if the version that the search for rotations read is no longer in
// memory.
func TestReadAfterRotation(t *testing.T) {
	texts := map[string]string{"log": "a\nb\n", "archive": "z\n", "new log": "c\n", "new archive": "z\na\nb\n"}
	as := formatOf(&policy.Log{Entries: policy.LineEntries})
	for path, object := range map[string]string{"log": "new log", "archive": "new archive"} {
		l := newLogReader(blobTree{blobs: texts}, small.Limits{}, 1, as)
		read := func(path, object string, near *LedgerFile) *LedgerFile {
			log, err := l.Read(t.Context(), history.File{Path: path, Mode: history.ModePlain, Object: object}, near)
			if err != nil || !log.Readable() {
				t.Fatalf("%s: %v, %+v", object, err, log)
			}
			return log
		}
		gained := read("archive", "new archive", nil)
		s := &Step{rotations: []map[string]*rotation{{"log": {from: "log", to: "archive", file: gained.File, Rotation: &ledger.Rotation{Gone: gained.Log.Entries[1:]}}}}}
		near := s.logAfterRotation(0, path, read(path, path, nil))
		want, _ := new(ledger.Form).Read([]byte(texts[object]))
		if got := read(path, object, near); got.Log.Head() != want.Head() {
			t.Errorf("%s is read as %+v", object, got.Log)
		}
	}
}
