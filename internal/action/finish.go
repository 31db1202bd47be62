package action

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/report/output"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// finish writes the result to every requested place, and returns the exit status. If a write fails, everything written afterwards says so.
func (j *job) finish(r *finding.Report, facts []judge.Fact) int {
	log := j.Stdout
	r.Tool, r.Time = "small-action", time.Now()
	var errs []error
	note := func(err error) {
		if err != nil {
			errs, r = append(errs, err), unwritten(r, err)
		}
	}
	for _, t := range j.in.targets {
		if t.File == "" {
			log = j.Stderr // standard output has a report
		}
		note(j.write(t, r))
	}
	outputs := j.outputs(r)
	note(outputs)
	before := r.Verdict
	note(j.summary(r))
	err := j.log(log, r, facts)
	note(err)
	if outputs == nil && r.Verdict != before {
		note(j.outputs(r)) // if an output is set twice, the second value counts
	}
	if err == nil {
		return r.ExitStatus()
	}
	var text strings.Builder
	for line := range strings.Lines(errors.Join(errs...).Error()) {
		text.WriteString("small-action: " + sanitize.Line(strings.TrimRight(line, "\n")) + "\n")
	}
	_, err = io.WriteString(j.Stderr, text.String())
	note(err) // there is nowhere left to report it; the status remains
	return r.ExitStatus()
}

// unwritten returns the report after a failed write. It has the verdict error, because whoever reads the missing output has no result; but a report with the
// verdict fail keeps its verdict and findings.
func unwritten(r *finding.Report, err error) *finding.Report {
	out, f := *r, *failure.Of(err)
	if r.Verdict == finding.Fail && r.ExitStatus() != 0 {
		out.Examined.Notes = append(slices.Clone(r.Examined.Notes), f.Message)
		return &out
	}
	if f.Remedy == "" {
		f.Remedy = "check that there is space and that writing is allowed, then run this again"
	}
	if r.Failure != nil {
		f.Message, f.Remedy = r.Failure.Message+"; and "+f.Message, r.Failure.Remedy
	}
	out.NoWorkspace = false // with it, nothing would be printed
	out.Verdict, out.Failure = finding.Error, &f
	return &out
}

// write writes one report.
func (j *job) write(t output.Target, r *finding.Report) error {
	if t.File != "" {
		if err := makeFolder(t.File); err != nil {
			return t.Unwritten(err)
		}
		if err := t.WriteFile(r, false); err != nil {
			return err
		}
	} else if err := report.Write(j.Stdout, t.Format, r, report.Options{Version: version.String()}); err != nil {
		return fmt.Errorf("the %s report could not be written: %w", t.Format, err)
	}
	j.written = append(j.written, t)
	return nil
}

// makeFolder makes the folder of a file below the current directory. It refuses a symbolic link in the path: it may come from the judged change, and
// must not redirect a report.
func makeFolder(file string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	full, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	below, err := filepath.Rel(here, full)
	if err != nil || !filepath.IsLocal(below) {
		return nil //nolint:nilerr // outside of the current directory the caller is responsible
	}
	at := here
	for _, part := range strings.Split(below, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link", at)
		}
	}
	return os.MkdirAll(filepath.Dir(full), 0o755)
}

// log writes what was compared, the findings and the system's annotations to the job's log.
func (j *job) log(w io.Writer, r *finding.Report, facts []judge.Fact) error {
	var buf bytes.Buffer
	for _, f := range facts {
		fmt.Fprintf(&buf, "%-16s %s\n", f.Name+":", sanitize.Line(f.Value))
	}
	err := report.Write(&buf, "text", r, report.Options{Quiet: r.NoWorkspace && len(r.Waived) == 0})
	if err == nil && j.system.Annotations != "" {
		err = report.Write(&buf, j.system.Annotations, r, report.Options{})
	}
	if err == nil {
		_, err = w.Write(buf.Bytes())
	}
	if err != nil {
		return fmt.Errorf("the log could not be written: %w", err)
	}
	return nil
}
