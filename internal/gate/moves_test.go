package gate

import (
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// TestManyMoves moves many workspaces in one commit: each log is compared with the
// one that it becomes, and not with all the others.
func TestManyMoves(t *testing.T) {
	const workspaces = 50
	j := newSource(nil, nil, basis{policy: policy.Default()})
	var changes []Change
	for i := range workspaces {
		log, problems := small.ReadLog(fmt.Appendf(nil, "entries:\n- {task_id: t%d, evidence: x}\n", i), small.Limits{})
		if log == nil {
			t.Fatal(problems)
		}
		old := File{Path: fmt.Sprintf("a/%d/.small/progress.small.yml", i), Mode: "100644", Object: fmt.Sprint(i)}
		moved := old
		moved.Path = fmt.Sprintf("b/%d/.small/progress.small.yml", i)
		j.ledgers.keep(old.Mode+old.Object, &ledgerFile{file: old, log: log})
		changes = append(changes, Change{Path: old.Path, Old: old}, Change{Path: moved.Path, New: moved})
	}
	compared := 0
	found, err := j.moves(t.Context(), crossing{changes: changes, merge: true, equal: func(from, to string, before, after *ledgerFile) (equivalence, error) {
		compared++
		return j.plainly(from, to, before, after)
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
