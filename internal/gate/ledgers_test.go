package gate

import (
	"fmt"
	"strings"
	"testing"

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
			log, problems := small.ReadLog([]byte("entries:\n"+entry), small.Limits{})
			if log == nil {
				t.Fatal(problems)
			}
			logs := newLedgers(nil, small.Limits{})
			for i := range keptBytes/long + 8 {
				logs.keep(fmt.Sprint(i), &ledgerFile{log: log})
			}
			if n := len(logs.kept); n > keptBytes/long {
				t.Errorf("%d logs with texts of %d bytes stay in memory, at most %d are expected", n, long, keptBytes/long)
			}
		})
	}
}
