package hook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/gate"
)

// replaying lists what is in a git directory while somebody's commits are made anew: they stay whose they are.
var replaying = []string{"CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply"}

// SignMessage adds the trailer that names the agent to a commit message that git has begun (githooks(5), prepare-commit-msg). A
// message that has it stays as it is, and so does one of a commit that a rebase or a cherry-pick makes anew. An empty agent is nobody.
// git itself finds the place: behind what is there, and before its own remarks.
func SignMessage(ctx context.Context, file, agent string) error {
	if agent == "" {
		return nil
	}
	if strings.ContainsFunc(agent, unicode.IsControl) {
		return &Error{Kind: ErrInput, What: fmt.Sprintf("SMALL_AGENT_ID is %q, and no trailer can hold that", show(agent)), Remedy: "Give the agent an id of one line."}
	}
	paths, err := inHook(ctx, replayingPaths()...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(paths) {
		if _, err := os.Lstat(strings.TrimSuffix(line, "\n")); err == nil {
			return nil
		}
	}
	if err := endLine(file); err != nil {
		return err
	}
	_, err = inHook(ctx, "interpret-trailers", "--in-place", "--where", "end", "--if-exists", "addIfDifferent", "--if-missing", "add",
		"--trailer", gate.AgentTrailer+": "+agent, "--", file)
	return err
}

// endLine ends a message's last line, which git merge leaves open: git interpret-trailers would put the trailer into the title's
// paragraph then, where it is none.
func endLine(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fileError("read", file, err)
	}
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return nil
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return fileError("write", file, err)
	}
	return nil
}

func replayingPaths() []string {
	args := []string{"rev-parse"}
	for _, name := range replaying {
		args = append(args, "--git-path", name)
	}
	return args
}

// inHook runs git as a hook does: in the repository that git's variables name.
func inHook(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	out, err := cmd.Output()
	if err != nil {
		complaint := err.Error()
		if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it as it is
			complaint += ": " + string(exit.Stderr)
		}
		return "", &Error{Kind: ErrGit, What: "the commit message could not be signed: git " + args[0] + ": " + show(complaint),
			Remedy: "See what git says: git " + args[0] + " --help; or commit without SMALL_AGENT_ID, and add the trailer by hand."}
	}
	return string(out), nil
}
