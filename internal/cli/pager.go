package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// showInPager shows a text in the pager that git would use (git-var(1), GIT_PAGER), or without one if there is no git, no shell, or the pager
// is cat.
func (a *app) showInPager(ctx context.Context, text []byte) error {
	out, err := gitcmd.Git{Dir: a.flags.req.Dir, Environ: gitcmd.Working(a.Environ)}.Output(ctx, nil, "var", "GIT_PAGER")
	pager := strings.TrimSpace(string(out))
	shell, noShell := exec.LookPath("sh")
	if err != nil || noShell != nil || pager == "" || pager == "cat" {
		_, err := a.Stdout.Write(text)
		return err
	}
	// The context must not end the pager: Ctrl-C is one of its keys.
	cmd := exec.Command(shell, "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = bytes.NewReader(text), a.Stdout, a.Stderr, a.Environ
	for _, setting := range []string{"LESS=FRX", "LV=-c"} {
		if name, _, _ := strings.Cut(setting, "="); a.Getenv(name) == "" {
			cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], setting)
		}
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() && exit.ExitCode() != 126 && exit.ExitCode() != 127 { // 126, 127: the pager did not run
		return nil // the pager's own failures are the user's affair
	}
	if err != nil {
		return fmt.Errorf("the pager %q failed: %w", pager, err)
	}
	return nil
}
