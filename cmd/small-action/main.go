// Small-action is the gate for CI: it finds out where it runs and what to compare, judges that, and writes reports. On GitHub, Forgejo and
// Gitea it takes inputs, sets outputs and annotates; elsewhere it takes flags.
//
// Exit status: 0 nothing is wrong, 1 there are findings, 2 it could not judge.
package main

import (
	"os"

	"github.com/small-gate/small-gate/internal/action"
	"github.com/small-gate/small-gate/internal/base/program"
)

func main() { os.Exit(program.Run(action.Run)) }
