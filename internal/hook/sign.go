package hook

import (
	"bytes"
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
// message whose last such trailer names the agent stays as it is, and so do an empty one that no editor will fill, which git refuses, and
// one of a commit that a rebase or a cherry-pick makes anew. An empty agent is nobody. git itself finds the place: behind what is there,
// and before its own remarks. edited says that an editor comes yet.
func SignMessage(ctx context.Context, file, agent string, edited bool) error {
	if agent == "" {
		return nil
	}
	if strings.ContainsFunc(agent, unicode.IsControl) {
		return failure(fmt.Sprintf("SMALL_AGENT_ID is %q, which no trailer can hold", agent), "Give the agent an id of one line.", nil)
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
	text, err := os.ReadFile(file)
	if err != nil {
		return fileError("read", file, err)
	}
	if !edited && len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if err := endLine(file, text); err != nil {
		return err
	}
	trailers, err := inHook(ctx, "interpret-trailers", "--parse", "--no-divider", "--", file)
	if err != nil || gate.LastAgent(trailers) == agent {
		return err
	}
	if _, err := inHook(ctx, "interpret-trailers", "--in-place", "--no-divider", "--where", "end", "--if-exists", "add", "--if-missing", "add",
		"--trailer", gate.AgentTrailer+": "+agent, "--", file); err != nil {
		return err
	}
	return leaveTitle(file, gate.AgentTrailer+": "+agent)
}

// leaveTitle puts a second empty line before a trailer that begins the message but for empty lines, as git commit -s does: the title is
// typed into the first one, and without the second the trailer would go on with it.
func leaveTitle(file, trailer string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fileError("read", file, err)
	}
	message := bytes.TrimLeft(text, "\n")
	if !bytes.HasPrefix(message, []byte(trailer)) {
		return nil
	}
	if err := os.WriteFile(file, append([]byte("\n\n"), message...), 0o644); err != nil {
		return fileError("write", file, err)
	}
	return nil
}

// endLine ends a message's last line, which git merge leaves open: git interpret-trailers would put the trailer into the title's
// paragraph then, where it is none.
func endLine(file string, text []byte) error {
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
		return "", failure("cannot sign the commit message: git "+args[0]+": "+show(complaint), "Commit without SMALL_AGENT_ID, and add the trailer by hand.", nil)
	}
	return string(out), nil
}
