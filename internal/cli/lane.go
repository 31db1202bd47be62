package cli

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/output"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
	"github.com/small-gate/small-gate/internal/worklock"

	"github.com/spf13/cobra"
)

func (a *app) laneCommand() *cobra.Command {
	var to, reason string
	c := a.claims(&cobra.Command{
		Use:   "lane [BASE..HEAD]",
		Short: "Say which lane a change claims and which lane fits it, and why; or switch to another",
		Long: "Say which lane a change claims, which signals it shows in which files, and which lane fits them.\n" +
			"Without a range, the change is what is staged, against HEAD, and SMALL_LANE claims a lane as it does in a\n" +
			"commit's hooks. Nothing is judged: the exit status is 0, or 2 if the lane could not be determined.\n\n" +
			"With --switch, append an entry for " + lane.SwitchTask + " with the reason to the log of the workspace here or\n" +
			"above. It claims the lane from the commit that adds it. Nothing is staged.",
		Example: "  small-hook lane\n" +
			"  small-hook lane origin/main..HEAD\n" +
			"  small-hook lane --switch deep --reason \"the change reaches the schema\"",
		Args: takes(0, 1, "at most one range, BASE..HEAD"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("switch"):
				return a.switchLane(c, args, to, reason)
			case reason != "":
				return usage(c, "--reason needs --switch")
			}
			found, err := entrypoint.FindLane(c.Context(), a.request(), optional(args))
			if err != nil {
				return err
			}
			return a.writeLane(found)
		},
	})
	c.Flags().StringVar(&to, "switch", "", "switch to the `LANE` "+wording.List(policy.LaneNames, "or")+": append the entry that claims it")
	c.Flags().StringVar(&reason, "reason", "", "with --switch: the `TEXT` that says why")
	formats := report.LaneFormats()
	c.Flags().Var(formatFlag{&a.flags, report.CheckLaneFormat}, "format", "write it as `FORMAT`: "+wording.List(formats, "or")+"; may be given several times")
	c.Flags().Var(outputFlag{&a.flags}, "output", "write it in the format before it, "+wording.List(formats, "or")+", to `FILE`")
	if err := c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag: a mistake in this package
	}
	return c
}

// switchLane appends the entry for a switch, and says what to do next.
func (a *app) switchLane(c *cobra.Command, args []string, to, reason string) error {
	if len(a.flags.targets) > 0 {
		return usage(c, "%s", refusal(c, "format"))
	}
	if len(args) > 0 {
		return usage(c, "--switch is about the work to come and takes no range")
	}
	done, err := writers.SwitchLane(c.Context(), a.request(), a.locking(worklock.DefaultWait), to, reason)
	if err != nil {
		return err
	}
	if !done.Done {
		return a.notAppended(done.Appended)
	}
	text := fmt.Sprintf("%s: appended an entry for %s: %s\n", done.Log, lane.SwitchTask, sanitize.Line(done.Evidence))
	text += fmt.Sprintf("next: %s && git commit -m \"Go on in the lane %s\"\n", done.Add, done.Lane)
	for _, when := range []struct {
		words string
		tasks []string
	}{{"with or before the work", done.Before}, {"with or after it", done.After}} {
		for _, task := range when.tasks {
			text += fmt.Sprintf("lane %q requires an entry for %s with evidence, committed %s\n", done.Lane, task, when.words)
		}
	}
	return done.Say(a.print(sanitize.Lines(text)))
}

// writeLane writes the reports that were asked for.
func (a *app) writeLane(r *finding.LaneReport) error {
	targets := a.flags.targets
	if len(targets) == 0 {
		targets = output.Targets{{Format: "text"}}
	}
	for _, t := range targets {
		var err error
		if t.File != "" {
			err = t.WriteLane(r)
		} else if err = report.WriteLane(a.Stdout, t.Format, r); err != nil {
			err = fmt.Errorf("the lane could not be written: %w", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
