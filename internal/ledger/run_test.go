package ledger_test

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// A log is a list of task:run; the questions are about run a.
func TestRunOver(t *testing.T) {
	for log, want := range map[string]struct{ over, has bool }{
		"":                            {false, false},
		"task-1:":                     {false, false},
		"reset:":                      {false, false},
		"task-1:a":                    {false, true},
		"task-1:A":                    {false, true},
		"task-1:b":                    {false, false},
		"task-1:b task-1:a":           {false, true},
		"task-1:a task-1: meta/x:":    {false, true},
		"task-1:a task-1:b":           {true, true},
		"task-1:a task-1:b task-1:a":  {true, true},
		"task-1:a reset:a":            {true, true},
		"reset:a":                     {true, true},
		"task-1:a plan-reset:a":       {true, true},
		"task-1:a reset:a task-2:a":   {true, true},
		"task-1:b reset:b task-2:a":   {false, true},
		"task-1:a meta/reset:a task:": {false, true},
	} {
		l := logOf(t, log)
		if over, has := l.RunOver("a"), l.HasRun("a"); over != want.over || has != want.has {
			t.Errorf("%q: over %v, has %v; want %v", log, over, has, want)
		}
	}
}

// A reset is the last event, even if the program that wrote it has reassigned it since.
func TestResetLast(t *testing.T) {
	for log, want := range map[string]bool{
		"":                                  false,
		"task-1:a":                          false,
		"meta/x:a":                          false,
		"task-1:a reset:a":                  true,
		"task-1:a plan-reset:a meta/x:":     true,
		"meta/historical/t:a meta/reset:a":  true,
		"task-1:a reset:a task-2:b":         false,
		"task-1:a reset:a task-2:b reset:b": true,
	} {
		if got := logOf(t, log).EndsWithReset(); got != want {
			t.Errorf("%q: %v", log, got)
		}
	}
}

func logOf(t *testing.T, log string) *ledger.Ledger {
	t.Helper()
	text := "entries:\n"
	if log == "" {
		text = "entries: []\n"
	}
	for _, entry := range strings.Fields(log) {
		task, run, _ := strings.Cut(entry, ":")
		text += "  - {task_id: \"" + task + "\", replayId: \"" + run + "\"}\n"
	}
	l, problems := ledger.ReadLog([]byte(text), small.Limits{})
	if l == nil {
		t.Fatal(problems)
	}
	return l.Ledger
}
