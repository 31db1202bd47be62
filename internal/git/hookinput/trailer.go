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

// AddAgentTrailer adds the trailer that names the agent to a commit message that git has prepared (prepare-commit-msg). An empty agent means a
// person: then there is no trailer to add. edited says whether git will open an editor. Git itself chooses the place of the trailer: after the
// text, and before git's comments.
//
// It does not change the message if its last such trailer already names the agent, if it is empty and no editor will fill it (git then refuses the
// commit), or if a rebase or a cherry-pick copies an existing commit.
func AddAgentTrailer(ctx context.Context, file, agent string, edited bool) error {
	if agent == "" {
		return nil
	}
	if strings.ContainsFunc(agent, unicode.IsControl) {
		return &failure.Error{Message: fmt.Sprintf("SMALL_AGENT_ID is %q, which no trailer can hold: it has a control character", agent), Remedy: "Give the agent an id of one line."}
	}
	gitDir, err := runGit(ctx, "rev-parse", "--absolute-git-dir")
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
	// git merge writes no line feed after the last line. git interpret-trailers would then put the trailer into the title's paragraph, where it
	// does not count.
	if len(text) > 0 && text[len(text)-1] != '\n' {
		if err := wholefile.Write(file, append(text, '\n')); err != nil {
			return messageError("write", err)
		}
	}
	trailers, err := runGit(ctx, "interpret-trailers", "--parse", "--no-divider", "--", file)
	if err != nil || history.LastAgent(trailers) == agent {
		return err
	}
	trailer := history.AgentTrailer + ": " + agent
	if _, err := runGit(ctx, "interpret-trailers", "--in-place", "--no-divider", "--where", "end", "--if-exists", "add", "--if-missing", "add",
		"--trailer", trailer, "--", file); err != nil {
		return err
	}
	return makeRoomForTitle(file, trailer)
}

// makeRoomForTitle puts two empty lines before a trailer at the beginning of a message, as git commit -s does: the user types the title into the
// first, and without the second the trailer would belong to the title's paragraph.
func makeRoomForTitle(file, trailer string) error {
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

func messageError(verb string, err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{Message: "cannot " + verb + " the commit message: " + err.Error(), Err: err,
		Remedy: "Make sure that you can write there, then commit again."}
}

// runGit runs git in the repository that the hook's environment variables name.
func runGit(ctx context.Context, args ...string) (string, error) {
	out, err := gitcmd.Git{Environ: gitcmd.Working(os.Environ())}.Output(ctx, nil, args...)
	if err != nil {
		return "", &failure.Error{Message: "cannot add the agent's trailer to the commit message: " + err.Error(),
			Remedy: "Commit without SMALL_AGENT_ID, and add the trailer by hand.", Err: err}
	}
	return string(out), nil
}
