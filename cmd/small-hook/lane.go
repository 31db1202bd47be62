package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/wholefile"
)

func (a *app) laneCommand() *cobra.Command {
	c := a.claims(&cobra.Command{
		Use:   "lane [BASE..HEAD]",
		Short: "Say which lane a change claims, what it shows, and which lane fits",
		Long: "Say which lane a change claims, each signal that it shows with the files that gave it, and which lane\n" +
			"fits that. Without a range, the change is what is staged, against HEAD, and SMALL_LANE claims a lane as\n" +
			"it does for a commit's hooks. Nothing is judged: the exit status is 0, or 2 if it could not be found out.",
		Args: atMost(1, "at most one range, BASE..HEAD"),
		RunE: func(c *cobra.Command, args []string) error {
			found, err := entrypoint.FindLane(c.Context(), a.request(), optional(args))
			if err != nil {
				return err
			}
			doc := &report.LaneDocument{LaneReport: found.LaneReport, Change: found.Change, Policy: found.Policy, Reader: found.Reader}
			return a.writeLane(doc)
		},
	})
	formats := report.LaneFormats()
	c.Flags().Var(formatFlag{&a.flags, report.CheckLaneFormat}, "format", "write it as `FORMAT`: "+eitherOf(formats)+"; may be given several times")
	c.Flags().Var(outputFlag{&a.flags}, "output", "write it in the format before it, "+eitherOf(formats)+", to `FILE`")
	if err := c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is not registered: a slip of this program
	}
	return c
}

// writeLane writes it wherever it was asked for.
func (a *app) writeLane(doc *report.LaneDocument) error {
	targets := a.flags.targets
	if len(targets) == 0 {
		targets = []target{{format: "text"}}
	}
	for _, t := range targets {
		var buf bytes.Buffer
		err := report.WriteLane(&buf, t.format, doc)
		if err == nil && t.file != "" {
			err = wholefile.Write(t.file, buf.Bytes())
		} else if err == nil {
			_, err = a.stdout.Write(buf.Bytes())
		}
		if err != nil {
			return fmt.Errorf("the lane could not be written: %w", err)
		}
	}
	return nil
}
