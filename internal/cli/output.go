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

// finish writes the requested reports, and sets the exit status. In a hook, text is printed on standard error, and nothing if nothing is
// wrong, no waiver was used, and no log is hidden.
func (a *app) finish(ctx context.Context, r *finding.Report, inHook bool) error {
	if ctx.Err() != nil || r.Verdict == finding.Error && mayBeSignal(r.Failure) && interrupted(ctx) {
		return ctx.Err()
	}
	a.progress.clear()
	a.sign(r)
	a.status, a.finishing = r.ExitStatus(), true
	targets := a.flags.targets
	if len(targets) == 0 {
		targets = output.Targets{{Format: "text"}}
	}
	for _, t := range targets {
		var err error
		switch {
		case t.File != "":
			err = t.WriteFile(r, a.flags.verbose)
		case inHook && t.Format == "text":
			err = a.write(a.Stderr, t.Format, r, len(r.Waived) == 0 && len(r.Hidden) == 0)
		case r.Verdict == finding.Error && t.Format == "text":
			err = a.writeApart(r)
		default:
			err = a.write(a.Stdout, t.Format, r, (inHook || r.NoWorkspace) && len(r.Waived) == 0)
		}
		if err != nil {
			return err
		}
	}
	// A person must see what is wrong: the whole report if none was streamed, the failure if none was text.
	streamed := slices.ContainsFunc(targets, func(t output.Target) bool { return t.File == "" })
	if !streamed && r.Verdict != finding.Pass || r.Verdict == finding.Error && !slices.Contains(targets, output.Target{Format: "text"}) {
		return a.write(a.Stderr, "text", r, true)
	}
	return nil
}

// reportFailure writes the reports of a command that failed before it judged anything, for programs that read them. Text is left to the
// caller.
func (a *app) reportFailure(mode string, f *failure.Error) error {
	r := run.FailureReport(run.Options{Mode: mode, Strict: a.flags.req.Strict}, f)
	a.sign(r)
	var errs []error
	for _, t := range askedFor(a.Args[1:]) {
		switch {
		case mode == "lane" && report.CheckLaneFormat(t.Format) != nil, mode == "doctor" && doctorFormat(t.Format) != nil:
			continue // this format has no failures
		case t.File != "":
			errs = append(errs, t.WriteFile(r, a.flags.verbose))
		case t.Format != "text":
			errs = append(errs, a.write(a.Stdout, t.Format, r, false))
		}
	}
	return errors.Join(errs...)
}

// sign sets the report's tool and time.
func (a *app) sign(r *finding.Report) { r.Tool, r.Time = "small-hook", time.Now() }

func (a *app) write(stream io.Writer, format string, r *finding.Report, quiet bool) error {
	opts, err := a.reportOptions(stream, quiet)
	if err != nil {
		return err
	}
	return unwritten("the "+format+" report", report.Write(stream, format, r, opts))
}

// reportOptions are how a report is written to a stream.
func (a *app) reportOptions(stream io.Writer, quiet bool) (report.Options, error) {
	color, err := report.UseColor(a.flags.color, isTerminal(stream), a.Getenv)
	return report.Options{Color: color, Quiet: quiet || a.flags.quiet, Verbose: a.flags.verbose, Version: version.String(), Width: width(stream)}, err
}

// writeApart writes what was found before something could not be judged to standard output, and the failure to standard error, as that of any
// other command.
func (a *app) writeApart(r *finding.Report) error {
	if len(r.Findings)+len(r.Waived) > 0 {
		opts, err := a.reportOptions(a.Stdout, false)
		if err != nil {
			return err
		}
		opts.FailureApart = true
		if err := unwritten("the report", report.Write(a.Stdout, "text", r, opts)); err != nil {
			return err
		}
	}
	return a.write(a.Stderr, "text", &finding.Report{Tool: r.Tool, Verdict: r.Verdict, Failure: r.Failure}, true)
}

// print writes text to standard output. With --quiet it says nothing if nothing is wrong.
func (a *app) print(text string) error {
	if text == "" || a.flags.quiet && a.status == 0 {
		return nil
	}
	_, err := io.WriteString(a.Stdout, secret.Mask(text))
	return unwritten("the output", err)
}

// next is the line with the commands to type next.
func next(commands ...string) string {
	return "next: " + sanitize.Line(wording.Commands(commands...)) + "\n"
}

// unwritten describes a failed write. It is nil for nil.
func unwritten(what string, err error) error {
	var f *failure.Error
	if errors.As(err, &f) {
		return err
	}
	return output.Unwritten(what+" could not be written", "have the output read to its end, on a disk with room, and run the command again", err)
}

// width is the number of columns of a terminal; 0 for another stream.
func width(stream io.Writer) int {
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
