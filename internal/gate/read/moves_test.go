package read

import (
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// TestManyMoves moves many workspaces in one commit: each log is compared with the
// one that it becomes, and not with all the others.
func TestManyMoves(t *testing.T) {
	const workspaces = 50
	j := NewSource(nil, nil, Basis{Policy: policy.Default()})
	var changes []history.Change
	for i := range workspaces {
		log, problems := ledger.ReadLog(fmt.Appendf(nil, "entries:\n- {task_id: t%d, evidence: x}\n", i), small.Limits{})
		if log == nil {
			t.Fatal(problems)
		}
		old := history.File{Path: fmt.Sprintf("a/%d/.small/progress.small.yml", i), Mode: "100644", Object: fmt.Sprint(i)}
		moved := old
		moved.Path = fmt.Sprintf("b/%d/.small/progress.small.yml", i)
		j.ProgressReader.keep(old.Mode+old.Object, &LedgerFile{File: old, Log: log})
		changes = append(changes, history.Change{Path: old.Path, Old: old}, history.Change{Path: moved.Path, New: moved})
	}
	compared := 0
	found, err := j.findMoves(t.Context(), moveSearch{changes: changes, combines: true, equal: func(from, to string, before, after *LedgerFile) (ledger.Equivalence, error) {
		compared++
		return j.equalByWaivers(from, to, before, after)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if to := "b" + c.Path[1:]; c.Old.Mode != "" && found[c.Path].Path != to {
			t.Errorf("%s went to %q, not to %s", c.Path, found[c.Path].Path, to)
		}
	}
	if compared > workspaces {
		t.Errorf("%d comparisons of %d logs", compared, workspaces)
	}
}
