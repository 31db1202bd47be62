package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/look"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

type logFlags struct {
	selection     judge.LogSelection
	query         look.Query
	oneline, full bool
	textconv      string
}

func (a *app) logCommand() *cobra.Command {
	var f logFlags
	c := withHelp("log", &cobra.Command{
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("max-count") && f.query.Most < 1:
				return usageError(c, "--max-count takes a number of at least 1")
			case f.oneline && f.full:
				return usageError(c, "--oneline and --full exclude each other")
			case c.Flags().Changed("textconv") && (len(args) > 0 || c.Flags().NFlag() > 1):
				return usageError(c, "--textconv takes a file, and no other flag or argument")
			case c.Flags().Changed("textconv"):
				return a.printForDiff(c.Context(), f.textconv)
			}
			revisions := args
			if dash := c.ArgsLenAtDash(); dash >= 0 {
				revisions, f.selection.Paths = args[:dash], args[dash:]
			}
			if len(revisions) > 1 {
				return usageError(c, "log takes at most one revision, and paths after two dashes: small-hook log REV -- PATH")
			}
			if err := cmp.Or(refuseEmpty(c, "commit", "task", "status", "by", "agent", "run", "grep"),
				limitArgs(0, 1, "at most one revision")(c, revisions), limitArgs(0, math.MaxInt, "paths")(c, f.selection.Paths)); err != nil {
				return err
			}
			f.selection.Revision = firstOrEmpty(revisions)
			found, err := judge.Log(c.Context(), a.newRequest(), f.selection, f.query)
			if err != nil {
				return err
			}
			return a.writeEntries(c.Context(), found, f.form())
		},
	})
	f.register(c)
	formats := report.LookFormats()
	c.Flags().Func("format", "write it as `FORMAT`: "+wording.List(formats, "or")+"; may be given several times", a.flags.formatAdder(report.CheckLookFormat))
	offerValues(c, "format", formats...)
	return c
}

func (f *logFlags) register(c *cobra.Command) {
	set, q := c.Flags(), &f.query
	set.StringArrayVar(&q.Tasks, "task", nil, "show entries of the task `ID`, in which * matches any text; may be given several times")
	set.StringVar(&q.Status, "status", "", "show entries with this `STATUS`")
	set.StringVar(&q.By, "by", "", "show entries of `WHO`: an agent's id, or a part of a name or address")
	set.StringVar(&q.Agent, "agent", "", "show entries of the agent `ID`")
	set.StringVar(&q.Run, "run", "", "show entries of the run whose id begins with `ID`")
	set.StringVar(&q.Text, "grep", "", "show entries that contain `TEXT`, in upper or lower case")
	set.StringVar(&f.selection.Commit, "commit", "", "show entries that the commit `REV` brought")
	set.Var(&timeFlag{time: &q.Since}, "since", "show entries from `TIME` on: 2026-03-01, or 2026-03-01T09:00:00Z")
	set.Var(&timeFlag{time: &q.Until, endOfDay: true}, "until", "show entries up to `TIME`; a day counts to its end, in UTC")
	set.BoolVar(&q.LastOfTask, "last", false, "show the last entry of each task, up to --until")
	set.BoolVar(&q.OldestFirst, "reverse", false, "show the oldest first")
	set.IntVarP(&q.Most, "max-count", "n", 0, "show only the first `NUMBER` entries of those selected")
	set.BoolVar(&f.oneline, "oneline", false, "show commit, task and evidence, one entry a line")
	set.BoolVar(&f.full, "full", false, "show everything that is known about each entry")
	set.StringVar(&f.textconv, "textconv", "", "print the log in `FILE` for git's diff (gitattributes(5))")
}

func (f *logFlags) form() report.LookForm {
	switch {
	case f.oneline:
		return report.LookOneline
	case f.full:
		return report.LookFull
	}
	return report.LookColumns
}

// timeFlag is the value of a flag that takes a time or a day. A day means its beginning or its end.
type timeFlag struct {
	time     *time.Time
	endOfDay bool
}

func (t *timeFlag) String() string { return "" }
func (*timeFlag) Type() string     { return "time" }

// Set parses and sets the time.
func (t *timeFlag) Set(text string) (err error) {
	if *t.time, err = time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	if *t.time, err = time.Parse(time.DateOnly, text); err != nil {
		return fmt.Errorf("expected a day such as 2026-03-01 or a time such as 2026-03-01T09:00:00Z, not %q", text)
	}
	if t.endOfDay {
		*t.time = t.time.AddDate(0, 0, 1).Add(-1)
	}
	return nil
}

// writeEntries writes entries in the requested formats. On a terminal, text goes through the pager.
func (a *app) writeEntries(ctx context.Context, l *finding.Look, form report.LookForm) error {
	for _, t := range a.flags.targets.OrText() {
		color, err := report.UseColor(a.flags.color, isTerminal(a.Stdout), a.Getenv)
		if err != nil {
			return err
		}
		var buf bytes.Buffer
		opts := report.Options{Color: color, Width: terminalWidth(a.Stdout), Version: version.String()}
		if err := report.WriteLook(&buf, t.Format, l, form, opts); err != nil {
			return fmt.Errorf("the log could not be written: %w", err)
		}
		if t.Format == "text" && isTerminal(a.Stdout) {
			err = a.showInPager(ctx, buf.Bytes())
		} else {
			_, err = a.Stdout.Write(buf.Bytes())
		}
		if err != nil {
			return explainWriteError("the log", err)
		}
	}
	return nil
}

// printForDiff prints the log in a file for git's diff. A file that is not a log is printed as text that is safe for a terminal: after an error,
// git would show no diff.
func (a *app) printForDiff(ctx context.Context, name string) error {
	data, err := readFile(ctx, name, maxVersionSize)
	if err != nil {
		return err
	}
	l := judge.LogOfFile(data)
	if l == nil {
		_, err = a.Stdout.Write([]byte(sanitize.Lines(strings.ToValidUTF8(string(data), "\ufffd"))))
	} else {
		err = report.WriteTextconv(a.Stdout, l)
	}
	return explainWriteError("the log", err)
}
