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
	"github.com/small-gate/small-gate/internal/install"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

const (
	// maxAgentText bounds the text for an agent, in bytes. The harness with the tightest bound drops texts of more than 10,000.
	maxAgentText = 4096
	// maxEvent bounds an event, in bytes. It may contain a tool's output.
	maxEvent = 64 << 20
)

func (a *app) agentHookCommand() *cobra.Command {
	var name string
	c := described("agent-hook", &cobra.Command{
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := harness.Of(name)
			if err != nil {
				return err
			}
			event, err := io.ReadAll(io.LimitReader(a.Stdin, maxEvent))
			if err != nil {
				return &failure.Error{Message: "cannot read the event: " + err.Error(), Err: err}
			}
			w := agent.Hook(c.Context(), a.request(), h, event)
			text := agentText(w)
			if w.Report != nil {
				text += report.RemarksForAgent(w.Report, w.Trees)
			}
			if missing := missingHooks(c.Context(), w.Begun); missing != "" {
				w.Reply, text = harness.Block, text+missing
			}
			return a.answer(w.By.Answer(w.Moment, w.Reply, secret.Mask(text)))
		},
	})
	c.Flags().StringVar(&name, "harness", "", "the harness that calls: `NAME` is claude, codex, gemini, cursor or copilot")
	if err := c.MarkFlagRequired("harness"); err != nil {
		panic(err) // no such flag: a bug in this package
	}
	return c
}

// answer writes the answer to the harness.
func (a *app) answer(answer harness.Answer) error {
	a.status = answer.Status
	_, err := a.Stdout.Write(answer.Stdout)
	_, errErr := a.Stderr.Write(answer.Stderr)
	return errors.Join(err, errErr)
}

// missingHooks is what an agent reads at the start of a session if git's hooks are missing in a work tree, for example in a fresh clone.
func missingHooks(ctx context.Context, top string) string {
	if top == "" {
		return ""
	}
	names, remedy, err := install.Missing(ctx, top)
	switch {
	case err != nil:
		return sanitize.Lines("small-gate: cannot look for git's hooks: " + failure.Of(err).Message + "\n")
	case names == "":
		return ""
	}
	return sanitize.Lines("small-gate: git's hooks are missing in this work tree, so that nothing judges a commit before it is made: " +
		names + "\n" + remedy + "\n")
}

// letGo is the beginning of what a person reads if a turn ends in spite of findings.
const (
	letGo    = "small-gate lets this turn end. What it found stays, and git's hooks and CI reject it:\n"
	observes = "small-gate only observes here (mode: observe). What it found:\n"
)

// agentText is the text for the agent, or for the person.
func agentText(w agent.Watched) string {
	if w.Report == nil {
		return ""
	}
	text := report.ForAgent(w.Report, maxAgentText)
	switch {
	case w.Reply != harness.LetGo || text == "":
		return text
	case w.Report.Observe:
		return observes + text
	}
	return letGo + text
}
