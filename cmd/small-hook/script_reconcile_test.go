package main

import (
	"fmt"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// init adds what scripts about reconciled logs need to the commands of all
// scripts.
func init() { commands["record"] = plainly(record) }

// record FILE TASK EVIDENCE appends an entry with the time of recording: later
// than any that reconcile has written.
func record(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: record FILE TASK EVIDENCE")
	}
	text := fmt.Sprintf("  - task_id: %q\n    timestamp: %q\n    status: \"completed\"\n    evidence: %q\n",
		args[1], time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z"), args[2])
	write(ts, args[0], ts.ReadFile(args[0])+text)
}
