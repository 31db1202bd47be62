package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint/agent"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/harness"
	"github.com/small-gate/small-gate/internal/hook"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/secret"
	"github.com/small-gate/small-gate/internal/wording"
)

const (
	// maxAgentText is how many bytes an agent is given to read. The harness with the tightest bound drops texts of more than 10,000.
	maxAgentText = 4096
	// maxEvent is how many bytes of an event are read. What a tool printed may be among them.
	maxEvent = 64 << 20
)

func (a *app) agentHookCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "agent-hook --harness NAME",
		Short: "Hook of an agent's harness: judge what the agent has just written or committed",
		Long: "Judge the work trees in which an agent is at work. A harness calls this, and gives the event as JSON on\n" +
			"standard input: after a tool, the logs as they are on disk are judged against HEAD and what is being merged;\n" +
			"at the end of a turn, and once HEAD has moved, the new commits too, however they were made. `install --agent`\n" +
			"writes it into the harness's settings. What each harness sends and obeys:\n" +
			wording.Docs + "harnesses.md\n\n" +
			"The answer has the form, and the exit status, that the harness obeys: never 1.",
		Example: "  small-hook agent-hook --harness claude < event.json",
		Args:    noArguments,
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
			if missing := missingHooks(c.Context(), w.Begun); missing != "" {
				w.Reply, text = harness.Block, text+missing
			}
			return a.answer(w.By.Answer(w.Moment, w.Reply, secret.Mask(text)))
		},
	}
	c.Flags().StringVar(&name, "harness", "", "the harness that calls: `NAME` is claude, codex, gemini, cursor or copilot")
	if err := c.MarkFlagRequired("harness"); err != nil {
		panic(err) // no such flag: a mistake in this package
	}
	return c
}

// answer writes what a harness obeys.
func (a *app) answer(answer harness.Answer) error {
	a.status = answer.Status
	_, err := a.Stdout.Write(answer.Stdout)
	_, errErr := a.Stderr.Write(answer.Stderr)
	return errors.Join(err, errErr)
}

// missingHooks is what an agent reads at the beginning of a session if git's hooks are missing in a work tree, as they are in a fresh clone.
func missingHooks(ctx context.Context, top string) string {
	if top == "" {
		return ""
	}
	names, remedy, err := hook.Missing(ctx, top)
	switch {
	case err != nil:
		return sanitize.Lines("small-gate: cannot look for git's hooks: " + failure.Of(err).Message + "\n")
	case names == "":
		return ""
	}
	return sanitize.Lines("small-gate: git's hooks are missing in this work tree, so that nothing judges a commit before it is made: " +
		names + "\n" + remedy + "\n")
}

// letGo begins what a person reads where a turn ends in spite of findings.
const (
	letGo    = "small-gate lets this turn end. What it found stays, and git's hooks and CI reject it:\n"
	observes = "small-gate only observes here (mode: observe). What it found:\n"
)

// agentText is what the agent, or the person beside it, reads.
func agentText(w agent.Watched) string {
	if w.Report == nil {
		return ""
	}
	text := report.ForAgent(w.Report, maxAgentText)
	switch {
	case w.Reply != harness.LetGo:
		return text
	case w.Report.Observe:
		return observes + text
	}
	return letGo + text
}
