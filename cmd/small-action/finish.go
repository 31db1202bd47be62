package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/version"
	"github.com/small-gate/small-gate/internal/wholefile"
)

// finish tells the outcome everywhere it is wanted, and returns the exit
// status. What could not be written anywhere makes it one that could not be
// judged; the rest is written all the same.
func (j *job) finish(r *gate.Report, facts []entrypoint.Fact) int {
	var errs []error
	log := j.stdout
	for _, t := range j.in.targets {
		if t.file == "" {
			log = j.stderr // standard output is a report's
		}
		errs = append(errs, j.write(t, r))
	}
	errs = append(errs, j.log(log, r, facts), j.summary(r))
	status := r.ExitStatus()
	if errors.Join(errs...) != nil {
		status = statusCannot
	}
	if err := j.outputs(r, status); err != nil {
		errs, status = append(errs, err), statusCannot
	}
	if err := errors.Join(errs...); err != nil {
		var text strings.Builder
		for line := range strings.Lines(err.Error()) {
			text.WriteString("small-action: " + report.Sanitize(strings.TrimRight(line, "\n")) + "\n")
		}
		if _, err := io.WriteString(j.stderr, text.String()); err != nil {
			return statusCannot // there is nowhere left to say it; the status does
		}
	}
	return status
}

// write writes one report.
func (j *job) write(t target, r *gate.Report) error {
	var buf bytes.Buffer
	err := report.Write(&buf, t.format, r, report.Options{Version: version.String()})
	switch {
	case err == nil && t.file == "":
		_, err = j.stdout.Write(buf.Bytes())
	case err == nil:
		if err = noLinks(t.file); err == nil {
			err = wholefile.Write(t.file, buf.Bytes())
		}
	}
	if err != nil {
		return fmt.Errorf("the %s report could not be written: %w", t.format, err)
	}
	return nil
}

// noLinks refuses a file below the current directory that a symbolic link leads
// to: what is checked out there is a stranger's, and a report must not be led
// elsewhere by it.
func noLinks(file string) error {
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
	return nil
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
