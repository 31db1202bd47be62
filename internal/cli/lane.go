package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/output"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) laneCommand() *cobra.Command {
	var to, reason string
	c := a.claims(described("lane", &cobra.Command{
		Args: takes(0, 1, "at most one range, BASE..HEAD"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("switch"):
				return a.switchLane(c, args, to, reason)
			case reason != "":
				return usage(c, "--reason needs --switch")
			}
			found, err := judge.FindLane(c.Context(), a.request(), optional(args))
			if err != nil {
				return err
			}
			return a.writeLane(found)
		},
	}))
	c.Flags().StringVar(&to, "switch", "", "switch to the `LANE` "+wording.List(lane.Names, "or")+": append the entry that claims it")
	c.Flags().StringVar(&reason, "reason", "", "with --switch: the `TEXT` that says why")
	formats := report.LaneFormats()
	c.Flags().Func("format", "write it as `FORMAT`: "+wording.List(formats, "or")+"; may be given several times", a.flags.addFormat(report.CheckLaneFormat))
	c.Flags().Func("output", "write it in the format before it, "+wording.List(formats, "or")+", to `FILE`", a.flags.targets.SendTo)
	offer(c, "format", formats...)
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
	done, err := edit.SwitchLane(c.Context(), a.request(), a.locking(), to, reason)
	if err != nil {
		return err
	}
	if !done.Done {
		return a.notAppended(done.Appended)
	}
	text := fmt.Sprintf("%s: appended an entry for %s: %s\n", done.Log, lane.SwitchTask, sanitize.Line(done.Evidence))
	text += done.Note() + next(done.StageCommand, fmt.Sprintf("git commit -m \"Go on in the lane %s\"", done.Lane))
	for _, when := range []struct {
		words string
		tasks []string
	}{{"with or before the work", done.Before}, {"with or after it", done.After}} {
		for _, task := range when.tasks {
			text += fmt.Sprintf("lane %q requires an entry for %s with evidence, committed %s\n", done.Lane, task, when.words)
		}
	}
	return done.ExplainError(a.print(sanitize.Lines(text)))
}

// writeLane writes the requested reports.
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
