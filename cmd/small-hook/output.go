package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/version"
	"github.com/small-gate/small-gate/internal/wholefile"
)

// finish writes the report wherever it was asked for and takes its exit
// status. A report that could not be written is outcome 2. In a hook, text
// goes to standard error, and nothing is said when nothing is wrong; what a
// waiver excuses is listed.
func (a *app) finish(ctx context.Context, r *gate.Report, inHook bool) error {
	if ctx.Err() != nil || r.Verdict == gate.Error && interrupted(ctx) {
		return ctx.Err()
	}
	a.progress.clear()
	a.status, a.finishing = r.ExitStatus(), true
	targets := a.flags.targets
	if len(targets) == 0 {
		targets = []target{{format: "text"}}
	}
	told := false
	for _, t := range targets {
		if t.file != "" {
			if err := a.writeFile(t, r); err != nil {
				return err
			}
			continue
		}
		told = true
		stream := a.stdout
		if inHook && t.format == "text" {
			stream = a.stderr
		}
		if err := a.write(stream, t.format, r, (inHook || r.NoWorkspace) && len(r.Waived) == 0); err != nil {
			return err
		}
	}
	if !told && r.Verdict != gate.Pass {
		return a.write(a.stderr, "text", r, true)
	}
	if told && r.Verdict == gate.Error && !a.textTo(targets, inHook) {
		return a.write(a.stderr, "text", r, true)
	}
	return nil
}

// reportFailure writes the report of a command that failed before it judged
// anything, so that whoever reads reports by program finds one there too. The
// words for a person are the caller's to say.
func (a *app) reportFailure(mode string, failure *gate.Failure) error {
	r := gate.FailureReport(gate.Options{Mode: mode, Strict: a.flags.strict}, failure)
	var errs []error
	for _, t := range askedFor(a.args[1:]) {
		switch {
		case mode == "lane" && report.CheckLaneFormat(t.format) != nil:
			continue // it is not written so
		case t.file != "":
			errs = append(errs, a.writeFile(t, r))
		case t.format != "text":
			errs = append(errs, a.write(a.stdout, t.format, r, false))
		}
	}
	return errors.Join(errs...)
}

// textTo reports whether a person sees a text report.
func (a *app) textTo(targets []target, _ bool) bool {
	for _, t := range targets {
		if t.file == "" && t.format == "text" {
			return true
		}
	}
	return false
}

func (a *app) write(stream io.Writer, format string, r *gate.Report, quiet bool) error {
	color, err := report.UseColor(a.flags.color, isTerminal(stream), a.getenv)
	if err != nil {
		return err
	}
	opts := report.Options{Color: color, Quiet: quiet, Version: version.String(), Width: width(stream)}
	if err := report.Write(stream, format, r, opts); err != nil {
		return fmt.Errorf("the %s report could not be written: %w", format, err)
	}
	return nil
}

// writeFile replaces a file by a report, or leaves it as it was.
func (a *app) writeFile(t target, r *gate.Report) error {
	var buf bytes.Buffer
	if err := report.Write(&buf, t.format, r, report.Options{Version: version.String()}); err != nil {
		return err
	}
	if err := wholefile.Write(t.file, buf.Bytes()); err != nil {
		return fmt.Errorf("the %s report could not be written to %s: %w", t.format, t.file, err)
	}
	return nil
}

func width(stream io.Writer) int {
	f, ok := stream.(*os.File)
	if !ok || !terminal(f) {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}
