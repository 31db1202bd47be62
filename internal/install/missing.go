package install

import (
	"context"
	"os/exec"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
)

// MissingHooks names the gate's hooks that the repository around dir ("" is the current directory) lacks, and says how to install them; names and
// remedy are "" if it lacks none. It checks the hooks that [Doctor] checks but runs none: a shim counts as present if the program that it calls
// exists, another hook if it or its manager's files name the gate.
func MissingHooks(ctx context.Context, dir string) (names, remedy string, err error) {
	repo, err := Locate(ctx, dir)
	if err != nil {
		return "", "", err
	}
	var missing, remedies []string
	for _, hook := range hooksToCheck(repo) {
		check, err := examination{repo: repo, readOnly: true}.checkHook(ctx, hook)
		if err != nil {
			return "", "", err
		}
		if check.Fires {
			continue
		}
		missing = append(missing, string(hook))
		if !slices.Contains(remedies, check.Remedy) {
			remedies = append(remedies, check.Remedy)
		}
	}
	return strings.Join(missing, ", "), strings.Join(remedies, "\n"), nil
}

// checkUnrun checks a shim without running it. If the program that the shim names can be called, or small-hook is on PATH, the shim counts as one that
// fires; otherwise checkUnrun records why it does not.
func (c *Check) checkUnrun(program string) {
	c.Fires, c.Program = true, program
	if program != "" && CheckProgram(program) == nil {
		return
	}
	found, err := exec.LookPath(ProgramName)
	if err != nil {
		c.setFailure(&failure.Error{Message: "no " + ProgramName + " is on PATH", Remedy: "Type: " + HowToInstall(ProgramName+" install"), Err: err})
		return
	}
	c.Program = found
}
