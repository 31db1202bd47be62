package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/git/hookinput"
	"github.com/small-gate/small-gate/internal/judge"
)

// gitHooks judge for the hooks that git runs, with git's arguments.
var gitHooks = map[string]func(ctx context.Context, a *app, args []string) *finding.Report{
	"pre-commit": func(ctx context.Context, a *app, _ []string) *finding.Report {
		return judge.PreCommit(ctx, a.request())
	},
	"pre-merge-commit": func(ctx context.Context, a *app, _ []string) *finding.Report {
		return judge.PreMergeCommit(ctx, a.request())
	},
	"pre-push": func(ctx context.Context, a *app, args []string) *finding.Report {
		return judge.PrePush(ctx, a.request(), args, a.Stdin)
	},
	"pre-receive": func(ctx context.Context, a *app, _ []string) *finding.Report {
		return judge.PreReceive(ctx, a.request(), a.Stdin)
	},
	"pre-applypatch": func(ctx context.Context, a *app, _ []string) *finding.Report {
		return judge.PreApplyPatch(ctx, a.request())
	},
}

func (a *app) hookCommand(name string) *cobra.Command {
	return a.claims(described(name, &cobra.Command{
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return a.finish(c.Context(), gitHooks[name](c.Context(), a, args), true)
		},
	}))
}

func (a *app) prepareCommitMsgCommand() *cobra.Command {
	return a.claims(described("prepare-commit-msg", &cobra.Command{
		Args: cobra.RangeArgs(1, 3),
		RunE: func(c *cobra.Command, args []string) error {
			r := judge.PrepareCommitMsg(c.Context(), a.request())
			if err := a.finish(c.Context(), r, true); err != nil || a.status != 0 && (r.Verdict == finding.Fail || r.Count().Errors > 0 && !r.Observe) {
				return err
			}
			a.status = 0 // also if it could not judge, and found nothing until then: pre-commit and CI block
			return hookinput.AddAgentTrailer(c.Context(), args[0], a.request().Agent(), a.request().OpensEditor())
		},
	}))
}
