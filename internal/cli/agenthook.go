package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/agent"
	"github.com/small-gate/small-gate/internal/agent/harness"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/install"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

const (
	// maxAgentText is in bytes. The harness with the lowest limit drops texts of more than 10,000.
	maxAgentText = 4096
	// maxEvent is in bytes. An event may contain a tool's output.
	maxEvent = 64 << 20
)

func (a *app) agentHookCommand() *cobra.Command {
	var name string
	c := withHelp("agent-hook", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if name == "" {
				return usageError(c, "agent-hook takes --harness with the name of the harness that calls")
			}
			h, err := harness.Of(name)
			if err != nil {
				return err
			}
			event, err := io.ReadAll(io.LimitReader(a.Stdin, maxEvent))
			if err != nil {
				return &failure.Error{Message: "cannot read the event: " + err.Error(), Err: err}
			}
			watched := agent.Hook(c.Context(), a.newRequest(), h, event)
			text := agentText(watched)
			if watched.Report != nil {
				text += report.RemarksForAgent(watched.Report, watched.Trees)
			}
			if missing := missingHooksText(c.Context(), watched.Begun, a.Getenv); missing != "" {
				watched.Reply, text = harness.Block, text+missing
			}
			return a.writeAnswer(watched.By.Answer(watched.Moment, watched.Reply, secret.Mask(text)))
		},
	})
	c.Flags().StringVar(&name, "harness", "", "the harness that calls: `NAME` is claude, codex, gemini, cursor or copilot")
	return c
}

func (a *app) writeAnswer(answer harness.Answer) error {
	a.status = answer.Status
	_, err := a.Stdout.Write(answer.Stdout)
	_, errErr := a.Stderr.Write(answer.Stderr)
	return errors.Join(err, errErr)
}

// skipVariables are settings of the environment with which hook managers run no hook.
var skipVariables = []struct{ name, manager string }{{"HUSKY", "husky"}, {"LEFTHOOK", "lefthook"}}

// missingHooksText is for an agent whose session begins in a work tree without git's hooks, such as a fresh clone, or with an environment in which a
// hook manager runs none.
func missingHooksText(ctx context.Context, root string, getenv func(string) string) (text string) {
	if root == "" {
		return ""
	}
	for _, v := range skipVariables {
		if getenv(v.name) == "0" {
			text += "small-gate: " + v.name + "=0 is in the environment: hooks that " + v.manager + " runs do nothing, so they judge no commit\nType: " + wording.Commands("unset "+v.name) + "\n"
		}
	}
	return text + absentHooksText(ctx, root)
}

func absentHooksText(ctx context.Context, root string) string {
	names, remedy, err := install.MissingHooks(ctx, root)
	switch {
	case err != nil:
		return sanitize.Lines("small-gate: cannot look for git's hooks: " + failure.Of(err).Message + "\n")
	case names == "":
		return ""
	}
	return sanitize.Lines("small-gate: git's hooks are missing in this work tree, so commits are not judged before they are made: " +
		names + "\n" + remedy + "\n")
}

// How the text for a person begins if a turn ends in spite of findings.
const (
	letGoIntro   = "small-gate lets this turn end. The findings stay, and git's hooks and CI reject them:\n"
	observeIntro = "small-gate only observes here (mode: observe). The findings:\n"
)

// agentText returns the report for the agent or, if the turn ends, for a person.
func agentText(watched agent.Watched) string {
	if watched.Report == nil {
		return ""
	}
	text := report.ForAgent(watched.Report, maxAgentText)
	switch {
	case watched.Reply != harness.LetGo || text == "":
		return text
	case watched.Report.Observe:
		return observeIntro + text
	}
	return letGoIntro + text
}
