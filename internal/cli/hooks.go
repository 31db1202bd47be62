package cli

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/finding"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/hookinput"
)

// hookCommand is a command that git runs, with whatever arguments it gives.
func (a *app) hookCommand(name, short, example string, judge func(ctx context.Context, args []string) *finding.Report) *cobra.Command {
	return a.claims(&cobra.Command{
		Use:     name,
		Short:   short,
		Example: example,
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return a.finish(c.Context(), judge(c.Context(), args), true)
		},
	})
}

func (a *app) preCommitCommand() *cobra.Command {
	return a.hookCommand("pre-commit", "Git hook: judge what is about to be committed",
		"  git add .small\n  small-hook pre-commit",
		func(ctx context.Context, _ []string) *finding.Report { return entrypoint.PreCommit(ctx, a.request()) })
}

func (a *app) preMergeCommitCommand() *cobra.Command {
	return a.hookCommand("pre-merge-commit", "Git hook: judge the merge that is about to be committed",
		"  git merge --no-commit feature\n  env GITHEAD_$(git rev-parse feature)=feature small-hook pre-merge-commit",
		func(ctx context.Context, _ []string) *finding.Report {
			return entrypoint.PreMergeCommit(ctx, a.request())
		})
}

func (a *app) prePushCommand() *cobra.Command {
	return a.hookCommand("pre-push", "Git hook: judge what is about to be pushed",
		"  small-hook pre-push origin < /dev/null",
		func(ctx context.Context, args []string) *finding.Report {
			return entrypoint.PrePush(ctx, a.request(), args, a.Stdin)
		})
}

func (a *app) preReceiveCommand() *cobra.Command {
	return a.hookCommand("pre-receive", "Git hook: judge, on the server, what a push brings",
		"  echo \"$(git rev-parse main) $(git rev-parse feature) refs/heads/main\" | small-hook pre-receive",
		func(ctx context.Context, _ []string) *finding.Report {
			return entrypoint.PreReceive(ctx, a.request(), a.Stdin)
		})
}

func (a *app) prepareCommitMsgCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "prepare-commit-msg FILE [SOURCE [COMMIT]]",
		Short:   "Git hook: sign the message with the agent that commits (SMALL_AGENT_ID)",
		Example: "  SMALL_AGENT_ID=agent-1 small-hook prepare-commit-msg .git/COMMIT_EDITMSG",
		Args:    cobra.RangeArgs(1, 3),
		RunE: func(c *cobra.Command, args []string) error {
			return hookinput.SignMessage(c.Context(), args[0], a.request().Agent(), a.request().Edited())
		},
	}
}
