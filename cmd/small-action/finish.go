package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/version"
	"github.com/small-gate/small-gate/internal/wholefile"
)

// finish tells the outcome everywhere it is wanted, and returns the exit
// status. What could not be written is said by what is written after that; the
// rest is written all the same.
func (j *job) finish(r *gate.Report, facts []entrypoint.Fact) int {
	log := j.stdout
	var errs []error
	tell := func(err error) {
		if err != nil {
			errs, r = append(errs, err), unwritten(r, err)
		}
	}
	for _, t := range j.in.targets {
		if t.file == "" {
			log = j.stderr // standard output is a report's
		}
		tell(j.write(t, r))
	}
	outputs := j.outputs(r)
	tell(outputs)
	before := r.Verdict
	tell(j.summary(r))
	err := j.log(log, r, facts)
	tell(err)
	if outputs == nil && r.Verdict != before {
		tell(j.outputs(r)) // of an output that is set twice, the second counts
	}
	if err == nil {
		return r.ExitStatus()
	}
	var text strings.Builder
	for line := range strings.Lines(errors.Join(errs...).Error()) {
		text.WriteString("small-action: " + report.Sanitize(strings.TrimRight(line, "\n")) + "\n")
	}
	_, err = io.WriteString(j.stderr, text.String())
	tell(err) // there is nowhere left to say it; the status does
	return r.ExitStatus()
}

// unwritten is the report where something could not be written: whoever waits
// for that has no outcome. What fails already goes on to fail for what was found.
func unwritten(r *gate.Report, err error) *gate.Report {
	message, remedy, _ := strings.Cut(err.Error(), "\n")
	if r.Verdict == gate.Fail && r.ExitStatus() != 0 {
		out := *r
		out.Examined.Notes = append(slices.Clone(r.Examined.Notes), message)
		return &out
	}
	if remedy == "" {
		remedy = "see that there is room and that it may be written, then run this again"
	}
	out := *r
	if r.Failure != nil {
		message, remedy = r.Failure.Message+"; and "+message, r.Failure.Remedy
	}
	out.NoWorkspace = false // which would keep it quiet
	out.Verdict, out.Failure = gate.Error, &gate.Failure{Message: message, Remedy: remedy, Err: err}
	return &out
}

// write writes one report.
func (j *job) write(t target, r *gate.Report) error {
	var buf bytes.Buffer
	err := report.Write(&buf, t.format, r, report.Options{Version: version.String()})
	switch {
	case err == nil && t.file == "":
		_, err = j.stdout.Write(buf.Bytes())
	case err == nil:
		if err = makeFolder(t.file); err == nil {
			err = wholefile.Write(t.file, buf.Bytes())
		}
	}
	switch {
	case err == nil:
		j.written = append(j.written, t)
		return nil
	case t.file == "":
		return fmt.Errorf("the %s report could not be written: %w", t.format, err)
	}
	var at *fs.PathError // which names the file beside it that is written first
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("the %s report could not be written to %s: %w\nmake its directory and let this write there, or name another file", t.format, t.file, err)
}

// makeFolder makes the folder of a file below the current directory. It refuses
// one that a symbolic link leads to: what is checked out there is a stranger's,
// and a report must not be led elsewhere by it.
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
		return nil //nolint:nilerr // it is not below the current directory, and the caller's own choice
	}
	at := here
	for _, part := range strings.Split(below, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link; name a file that no link leads to", at)
		}
	}
	return os.MkdirAll(filepath.Dir(full), 0o755)
}

// log writes for whoever reads the job's log: what was compared, the findings,
// and the platform's annotations.
func (j *job) log(w io.Writer, r *gate.Report, facts []entrypoint.Fact) error {
	var buf bytes.Buffer
	for _, f := range facts {
		fmt.Fprintf(&buf, "%-16s %s\n", f.Name+":", report.Sanitize(f.Value))
	}
	err := report.Write(&buf, "text", r, report.Options{Quiet: r.NoWorkspace && len(r.Waived) == 0})
	if err == nil && j.annotates() {
		err = report.Write(&buf, "github", r, report.Options{})
	}
	if err == nil {
		_, err = w.Write(buf.Bytes())
	}
	if err != nil {
		return fmt.Errorf("the log could not be written: %w", err)
	}
	return nil
}

// annotates reports whether the platform obeys GitHub's workflow commands.
func (j *job) annotates() bool {
	switch ci.Detect(j.variables) {
	case ci.GitHub, ci.Forgejo, ci.Gitea:
		return true
	}
	return false
}
