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
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

func (a *app) laneCommand() *cobra.Command {
	var target, reason string
	c := a.addLaneFlag(withHelp("lane", &cobra.Command{
		Args: limitArgs(0, 1, "at most one range, BASE..HEAD"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("switch"):
				return a.switchLane(c, args, target, reason)
			case reason != "":
				return usageError(c, "--reason needs --switch")
			}
			found, err := judge.FindLane(c.Context(), a.newRequest(), firstOrEmpty(args))
			if err != nil {
				return err
			}
			return a.writeLaneReports(found)
		},
	}))
	c.Flags().StringVar(&target, "switch", "", "switch to the `LANE` "+wording.List(lane.Names, "or")+": append the entry that claims it")
	c.Flags().StringVar(&reason, "reason", "", "with --switch: the `TEXT` that says why")
	formats := report.LaneFormats()
	c.Flags().Func("format", "write it as `FORMAT`: "+wording.List(formats, "or")+"; may be given several times", a.flags.formatAdder(report.CheckLaneFormat))
	c.Flags().Func("output", "write it in the format of the --format before it, "+wording.List(formats, "or")+", to `FILE`", a.flags.targets.SendTo)
	offerValues(c, "format", formats...)
	a.addWaitFlag(c)
	return c
}

// switchLane appends the entry that switches to a lane, and prints what to do next.
func (a *app) switchLane(c *cobra.Command, args []string, target, reason string) error {
	if len(a.flags.targets) > 0 {
		return usageError(c, "with --switch, lane writes no report and takes neither --format nor --output")
	}
	if len(args) > 0 {
		return usageError(c, "--switch takes no range: it is about the work to come")
	}
	done, err := edit.SwitchLane(c.Context(), a.newRequest(), a.lockingOptions(), target, reason)
	more := ""
	for _, required := range []struct {
		when  string
		tasks []string
	}{{"with or before the work", done.RequiredBefore}, {"with or after the work", done.RequiredAfter}} {
		for _, task := range required.tasks {
			more += fmt.Sprintf("lane %q requires an entry for %s with evidence, committed %s\n", done.Lane, sanitize.Line(task), required.when)
		}
	}
	return a.reportAppended(done.Appended, err, "an entry for "+lane.LaneSwitchTask+": "+sanitize.Line(done.Evidence), "Go on in the lane "+string(done.Lane), more)
}

func (a *app) writeLaneReports(r *finding.LaneReport) error {
	for _, t := range a.flags.targets.OrText() {
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
