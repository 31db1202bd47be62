package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/term"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/output"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// writeReports writes the requested reports, and sets the exit status. In a hook, text goes to standard error, and only if something is wrong, a
// waiver was used or a log is hidden.
func (a *app) writeReports(ctx context.Context, r *finding.Report, inHook bool) error {
	if ctx.Err() != nil || r.Verdict == finding.Error && mayComeFromSignal(r.Failure) && waitForSignal(ctx) {
		return ctx.Err()
	}
	a.progress.clear()
	a.setToolAndTime(r)
	a.runFixesThere(r)
	a.status, a.reporting = r.ExitStatus(), true
	targets := a.flags.targets.OrText()
	for _, t := range targets {
		var err error
		switch {
		case t.File != "":
			err = t.WriteFile(r, a.flags.verbose)
		case inHook && t.Format == "text":
			err = a.writeReport(a.Stderr, t.Format, r, len(r.Waived) == 0 && len(r.Hidden) == 0)
		case r.Verdict == finding.Error && t.Format == "text":
			err = a.writeFailureApart(r)
		default:
			err = a.writeReport(a.Stdout, t.Format, r, (inHook || r.NoWorkspace) && len(r.Waived) == 0)
		}
		if err != nil {
			return err
		}
	}
	// A person must see what is wrong, even if all reports went to files, or none has the failure as text.
	printed := slices.ContainsFunc(targets, func(t output.Target) bool { return t.File == "" })
	if !printed && r.Verdict != finding.Pass || r.Verdict == finding.Error && !slices.Contains(targets, output.Target{Format: "text"}) {
		return a.writeReport(a.Stderr, "text", r, true)
	}
	return nil
}

// writeFailureReports writes the requested reports of a command that failed before it judged anything. Text for standard output is left to
// explainFailure.
func (a *app) writeFailureReports(mode string, f *failure.Error) error {
	r := run.FailureReport(run.Options{Mode: mode, Strict: a.flags.req.Strict}, f)
	a.setToolAndTime(r)
	var errs []error
	for _, t := range findReportTargets(a.Args[1:]) {
		switch {
		case mode == "lane" && report.CheckLaneFormat(t.Format) != nil, mode == "doctor" && checkDoctorFormat(t.Format) != nil:
			continue // this format cannot express a failure
		case t.File != "":
			errs = append(errs, t.WriteFile(r, a.flags.verbose))
		case t.Format != "text":
			errs = append(errs, a.writeReport(a.Stdout, t.Format, r, false))
		}
	}
	return errors.Join(errs...)
}

func (a *app) setToolAndTime(r *finding.Report) { r.Tool, r.Time = "small-hook", time.Now() }

// runFixesThere makes the fixes' commands run in the work tree that --dir names if the current directory is in another one.
func (a *app) runFixesThere(r *finding.Report) {
	if there := a.otherWorkTree(); there != "" {
		r.RunFixesIn(there)
	}
}

func (a *app) writeReport(stream io.Writer, format string, r *finding.Report, quiet bool) error {
	opts, err := a.reportOptions(stream, quiet)
	if err != nil {
		return err
	}
	return explainWriteError("the "+format+" report", report.Write(stream, format, r, opts))
}

func (a *app) reportOptions(stream io.Writer, quiet bool) (report.Options, error) {
	color, err := report.UseColor(a.flags.color, isTerminal(stream), a.Getenv)
	return report.Options{Color: color, Quiet: quiet || a.flags.quiet, Verbose: a.flags.verbose, Version: version.String(), Width: terminalWidth(stream)}, err
}

// writeFailureApart writes a report that ended in a failure: its findings to standard output, and the failure to standard error.
func (a *app) writeFailureApart(r *finding.Report) error {
	if len(r.Findings)+len(r.Waived) > 0 {
		opts, err := a.reportOptions(a.Stdout, false)
		if err != nil {
			return err
		}
		opts.FailureApart = true
		if err := explainWriteError("the report", report.Write(a.Stdout, "text", r, opts)); err != nil {
			return err
		}
	}
	return a.writeReport(a.Stderr, "text", &finding.Report{Tool: r.Tool, Verdict: r.Verdict, Failure: r.Failure}, true)
}

// print writes text to standard output. With --quiet it writes nothing if the exit status is 0.
func (a *app) print(text string) error {
	if text == "" || a.flags.quiet && a.status == 0 {
		return nil
	}
	_, err := io.WriteString(a.Stdout, secret.Mask(text))
	return explainWriteError("the output", err)
}

// nextLine names the commands to type next.
func (a *app) nextLine(commands ...string) string {
	return "next: " + sanitize.Line(a.commands(commands...)) + "\n"
}

// commands quotes commands for a message, so that they run in the work tree that --dir names.
func (a *app) commands(commands ...string) string { return a.runThere(wording.Commands(commands...)) }

// runThere makes the commands of a remedy run in the work tree that --dir names.
func (a *app) runThere(remedy string) string {
	if there := a.otherWorkTree(); there != "" {
		return wording.RunIn(there, remedy)
	}
	return remedy
}

// explainWriteError adds a message and a remedy to an error that has none. It returns nil for nil.
func explainWriteError(name string, err error) error {
	var f *failure.Error
	if errors.As(err, &f) {
		return err
	}
	return output.Unwritten(name+" could not be written", "see that the disk has room and that the reader of the output reads to its end, and run the command again", err)
}

// terminalWidth is in columns; 0 for a stream that is no terminal.
func terminalWidth(stream io.Writer) int {
	f, ok := stream.(*os.File)
	if !ok || !isTerminal(f) {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}
