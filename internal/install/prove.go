package install

import (
	"context"
	"crypto/rand"
	"os/exec"
	"path/filepath"
	"strings"

	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// prove runs our shim with the doctor's variable, then asks the program that it would call for its version.
func (e examination) prove(ctx context.Context, check *Check, file hookFile) {
	if kept, err := readHook(check.Path + keptSuffix); err == nil && kept.runnable && file.path == check.Path {
		check.Kept = kept.path
	}
	if e.unrun {
		check.expect(programIn(file.text))
		return
	}
	program, proof, err := e.ask(ctx, check.Hook, file.path)
	if err != nil {
		check.refuse(err)
		return
	}
	check.Fires, check.Proof, check.Program = true, proof, filepath.FromSlash(program)
	if named := programIn(file.text); named != "" && program != named {
		check.Moved = filepath.FromSlash(named)
	}
	if program == "" || !filepath.IsAbs(check.Program) {
		what := "no " + ProgramName + " is on PATH"
		if check.Moved != "" {
			what = "the program is gone from " + show(check.Moved) + ", and " + what
		}
		check.refuse(failed(what, "Type: "+HowToInstall(ProgramName+" install"), nil))
		return
	}
	e.askVersion(ctx, check)
}

// ask runs the shim at path with the doctor's variable set and returns the program that it says it would call.
func (e examination) ask(ctx context.Context, hook Name, path string) (program string, proof Proof, err error) {
	nonce := rand.Text()
	command := exec.CommandContext(ctx, path)
	proof = ProofRanDirectly
	if e.alone && e.repo.Git.atLeast(2, 36) && filepath.Base(path) == string(hook) {
		command = gitcmd.Git{Program: e.repo.Git.Path}.Command(ctx, "hook", "run", "--ignore-missing", string(hook))
		proof = ProofRan
	}
	command.Dir = e.repo.Top
	command.Env = environment(DoctorVariable + "=" + nonce)
	// The shim always answers with status 2, so that the variable can never let anything through: only the answer counts.
	output, err := command.CombinedOutput()
	prefix, suffix := "small-gate doctor "+string(hook)+" ", " "+nonce
	for _, line := range strings.Split(string(output), "\n") {
		if answer, found := strings.CutPrefix(line, prefix); found && strings.HasSuffix(answer, suffix) {
			return strings.TrimSuffix(answer, suffix), proof, nil
		}
	}
	what := "it was run and did not answer"
	if text := strings.TrimSpace(string(output)); text != "" {
		what += ": " + show(text)
	}
	return "", ProofNone, failed(what, "Check that programs can be run from that directory, and that there is a /bin/sh.", err)
}

// askVersion asks the program that a hook would call for its version.
func (e examination) askVersion(ctx context.Context, check *Check) {
	if err := CheckProgram(check.Program); err != nil {
		check.refuse(err)
		return
	}
	command := exec.CommandContext(ctx, check.Program, "version")
	command.Dir = e.repo.Top
	command.Env = environment()
	output, err := command.CombinedOutput()
	answer, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if err != nil || answer == "" {
		check.refuse(failed(show(check.Program)+" does not answer to version: "+show(answer), "Type: "+HowToInstall(ProgramName+" install"), err))
		return
	}
	check.Version = answer
}
