// Small-hook is the gate for people and for git hooks: it judges workspaces of the SMALL protocol and the history of their logs,
// and installs itself as a hook.
//
// Exit status: 0 nothing is wrong, 1 there are findings, 2 it could not judge, 130 interrupted.
package main

import (
	"os"

	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/cli"
)

func main() { os.Exit(program.Run(cli.Run)) }
