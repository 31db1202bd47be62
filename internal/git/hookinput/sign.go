package hookinput

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/gate/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/git/state"
)

// AddAgentTrailer adds the trailer that names the agent to a commit message that git has prepared (prepare-commit-msg). It does not change a
// message whose last such trailer already names the agent, an empty one that no editor will fill, which git refuses, or that of a commit
// remade by a rebase or a cherry-pick. An empty agent means a person. Git itself chooses the place: after the text, and before its own
// comments. edited says that an editor follows.
func AddAgentTrailer(ctx context.Context, file, agent string, edited bool) error {
	if agent == "" {
		return nil
	}
	if strings.ContainsFunc(agent, unicode.IsControl) {
		return &failure.Error{Message: fmt.Sprintf("SMALL_AGENT_ID is %q, which no trailer can hold", agent), Remedy: "Give the agent an id of one line."}
	}
	gitDir, err := git(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	if remade, err := state.Replays(strings.TrimSuffix(gitDir, "\n")); err != nil || remade {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return messageError("read", err)
	}
	if !edited && len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	// git merge leaves the last line without an end: git interpret-trailers would put the trailer into the title's paragraph, where it does
	// not count.
	if len(text) > 0 && text[len(text)-1] != '\n' {
		if err := wholefile.Write(file, append(text, '\n')); err != nil {
			return messageError("write", err)
		}
	}
	trailers, err := git(ctx, "interpret-trailers", "--parse", "--no-divider", "--", file)
	if err != nil || history.LastAgent(trailers) == agent {
		return err
	}
	trailer := history.AgentTrailer + ": " + agent
	if _, err := git(ctx, "interpret-trailers", "--in-place", "--no-divider", "--where", "end", "--if-exists", "add", "--if-missing", "add",
		"--trailer", trailer, "--", file); err != nil {
		return err
	}
	return leaveTitle(file, trailer)
}

// leaveTitle puts a second empty line before a trailer if only empty lines precede it, as git commit -s does: the title is typed into the
// first one, and without the second the trailer would continue it.
func leaveTitle(file, trailer string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return messageError("read", err)
	}
	message := bytes.TrimLeft(text, "\n")
	if !bytes.HasPrefix(message, []byte(trailer)) {
		return nil
	}
	return messageError("write", wholefile.Write(file, append([]byte("\n\n"), message...)))
}

func messageError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{Message: "cannot " + doing + " the commit message: " + err.Error(), Err: err,
		Remedy: "Make sure that you can write there, then commit again."}
}

// git runs git as a hook does: in the repository named by git's variables.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := gitcmd.Git{Environ: gitcmd.Working(os.Environ())}.Output(ctx, nil, args...)
	if err != nil {
		return "", &failure.Error{Message: "cannot sign the commit message: " + err.Error(),
			Remedy: "Commit without SMALL_AGENT_ID, and add the trailer by hand.", Err: err}
	}
	return string(out), nil
}
