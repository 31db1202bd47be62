package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/git/hookinput"
	"github.com/small-gate/small-gate/internal/judge"
)

// gitHooks maps the hooks that git runs to functions that judge for them. args are git's.
var gitHooks = map[string]func(ctx context.Context, a *app, args []string) *finding.Report{
	"pre-commit": func(ctx context.Context, a *app, _ []string) *finding.Report {
		return judge.PreCommit(ctx, a.newRequest())
	},
	"pre-merge-commit": func(ctx context.Context, a *app, _ []string) *finding.Report {
		return judge.PreMergeCommit(ctx, a.newRequest())
	},
	"pre-push": func(ctx context.Context, a *app, args []string) *finding.Report {
		return judge.PrePush(ctx, a.newRequest(), args, a.Stdin)
	},
	"pre-receive": func(ctx context.Context, a *app, _ []string) *finding.Report {
		return judge.PreReceive(ctx, a.newRequest(), a.Stdin)
	},
	"pre-applypatch": func(ctx context.Context, a *app, _ []string) *finding.Report {
		return judge.PreApplyPatch(ctx, a.newRequest())
	},
}

func (a *app) hookCommand(name string) *cobra.Command {
	return a.addLaneFlag(withHelp(name, &cobra.Command{
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return a.writeReports(c.Context(), gitHooks[name](c.Context(), a, args), true)
		},
	}))
}

func (a *app) prepareCommitMsgCommand() *cobra.Command {
	return a.addLaneFlag(withHelp("prepare-commit-msg", &cobra.Command{
		Args: cobra.RangeArgs(1, 3),
		RunE: func(c *cobra.Command, args []string) error {
			r := judge.PrepareCommitMsg(c.Context(), a.newRequest())
			if err := a.writeReports(c.Context(), r, true); err != nil || a.status != 0 && (r.Verdict == finding.Fail || r.Count().Errors > 0 && !r.Observe) {
				return err
			}
			a.status = 0 // even if it could not judge and has found no error: pre-commit and CI block then
			return hookinput.AddAgentTrailer(c.Context(), args[0], a.newRequest().Agent(), a.newRequest().OpensEditor())
		},
	}))
}
