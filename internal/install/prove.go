package install

import (
	"context"
	"crypto/rand"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// checkOurs runs file, our shim, with [DoctorVariable] set, then asks the program that the shim would call for its version. A read-only
// examination only checks that the program exists.
func (e examination) checkOurs(ctx context.Context, check *Check, file hookFile) {
	if kept, err := readHook(check.Path + keptSuffix); err == nil && kept.runnable && file.path == check.Path {
		check.Kept = kept.path
	}
	if e.readOnly {
		check.checkUnrun(programIn(file.text))
		return
	}
	program, proof, err := e.runShim(ctx, check.Hook, file.path)
	if err != nil {
		check.setFailure(err)
		return
	}
	check.Fires, check.Proof, check.Program = true, proof, filepath.FromSlash(program)
	if named := programIn(file.text); named != "" && program != named {
		check.MissingProgram = filepath.FromSlash(named)
	}
	if program == "" || !filepath.IsAbs(check.Program) {
		message := "no " + ProgramName + " is on PATH"
		if check.MissingProgram != "" {
			message = wording.Printable(check.MissingProgram) + " is missing or cannot be run, and " + message
		}
		check.setFailure(newError(message, "Type: "+HowToInstall(ProgramName+" install"), nil))
		return
	}
	e.askVersion(ctx, check)
}

// runShim runs the shim at path with [DoctorVariable] set. It returns the program that the shim would call according to its answer, "" if the shim
// finds none, and an error if the shim does not answer.
func (e examination) runShim(ctx context.Context, hook Name, path string) (program string, proof Proof, err error) {
	nonce := rand.Text()
	command := exec.CommandContext(ctx, path)
	proof = ProofRanDirectly
	if e.runsFileOnly && e.repo.Git.atLeast(2, 36) && filepath.Base(path) == string(hook) {
		command = gitcmd.Git{Program: e.repo.Git.Path}.Command(ctx, "hook", "run", "--ignore-missing", string(hook))
		proof = ProofRan
	}
	command.Dir = e.repo.Top
	command.Env = environment(DoctorVariable + "=" + nonce)
	// A shim that sees the variable always ends with status 2, so that it lets nothing through: only its answer counts.
	output, err := command.CombinedOutput()
	prefix, suffix := "small-gate doctor "+string(hook)+" ", " "+nonce
	for _, line := range strings.Split(string(output), "\n") {
		if answer, found := strings.CutPrefix(line, prefix); found && strings.HasSuffix(answer, suffix) {
			return strings.TrimSuffix(answer, suffix), proof, nil
		}
	}
	message := "it was run but did not answer"
	if text := strings.TrimSpace(string(output)); text != "" {
		message += ": " + wording.Printable(text)
	}
	return "", ProofNone, newError(message, "Check that programs can be run from "+wording.Printable(filepath.Dir(path))+", and that there is a /bin/sh.", err)
}

// askVersion records the version that check.Program prints. If the program prints none, askVersion records that the hook does not fire.
func (e examination) askVersion(ctx context.Context, check *Check) {
	if err := CheckProgram(check.Program); err != nil {
		check.setFailure(err)
		return
	}
	command := exec.CommandContext(ctx, check.Program, "version")
	command.Dir = e.repo.Top
	command.Env = environment()
	output, err := command.CombinedOutput()
	answer, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if err != nil || answer == "" {
		message := "`" + wording.Printable(check.Program) + " version` does not print a version"
		if answer != "" {
			message += ": " + wording.Printable(answer)
		}
		check.setFailure(newError(message, "Type: "+HowToInstall(ProgramName+" install"), err))
		return
	}
	check.Version = answer
}
