package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/html"
	"github.com/small-gate/small-gate/internal/report/markdown"
	"github.com/small-gate/small-gate/internal/report/sarif"
)

// Options are the choices besides the report itself. The zero value is plain text for a pipe.
type Options struct {
	// Color allows ANSI colours, in text only. See UseColor.
	Color bool
	// Width is the number of columns of the terminal, 0 for unknown. It limits how much of a long value is shown, and cuts no command.
	Width int
	// Version is the version of the program, for formats that name it.
	Version string
	// Quiet writes nothing if nothing is wrong: a hook that passes without a warning is silent. Only text obeys it.
	Quiet bool
	// Verbose makes formats for people list findings of severity note too. JSON, JSON lines and SARIF always list them; the other formats never do.
	Verbose bool
	// FailureApart leaves out why the gate could not judge (Report.Failure), which the caller writes elsewhere. Only text obeys it.
	FailureApart bool
}

// renderer appends one report to the buffer. It renders to memory, so that a failure leaves no partial report.
type renderer func(buf *bytes.Buffer, r *finding.Report, opts Options) error

// formats are in the order of help. A new one needs a file with its renderer and a line here.
var formats = []struct {
	name   string
	render renderer
}{
	{"text", renderText},
	{"json", renderJSON},
	{"jsonl", renderJSONLines},
	{"sarif", func(buf *bytes.Buffer, r *finding.Report, opts Options) error {
		return sarif.Render(buf, r, opts.Version)
	}},
	{"junit", renderJUnit},
	{"github", renderGitHub},
	{"gitlab", renderGitLab},
	{"markdown", func(buf *bytes.Buffer, r *finding.Report, _ Options) error { return markdown.Render(buf, r) }},
	{"html", func(buf *bytes.Buffer, r *finding.Report, opts Options) error {
		return html.Render(buf, r, opts.Version)
	}},
}

// Formats lists the names of the formats, text first.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// CheckFormat returns an error that names the valid formats if a name is none of them. Commands call it before they start, so that a misspelt format is
// reported before a long audit.
func CheckFormat(name string) error { return checkFormat(name, Formats()) }

func checkFormat(name string, valid []string) error {
	if slices.Contains(valid, name) {
		return nil
	}
	return fmt.Errorf("unknown format %q: valid formats are %s", name, strings.Join(valid, ", "))
}

// Write writes the report to w in the named format, with one call of w.Write, and nothing at all if there is nothing to say. It returns an
// error for an unknown format and every error of w, unchanged: a report that was not written is not a pass.
func Write(w io.Writer, format string, r *finding.Report, opts Options) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	if r == nil {
		return errors.New("there is no report to write")
	}
	var buf bytes.Buffer
	forPeople := slices.Contains([]string{"text", "markdown", "html"}, format)
	if !slices.Contains([]string{"json", "jsonl", "sarif"}, format) && (!forPeople || !opts.Verbose) {
		r = r.WithoutNotes()
	}
	for _, f := range formats {
		if f.name != format {
			continue
		}
		if err := f.render(&buf, r, opts); err != nil {
			return fmt.Errorf("could not make the %s report: %w", format, err)
		}
	}
	return send(w, &buf)
}

// send writes everything with one call, and makes no call if there is nothing.
func send(w io.Writer, buf *bytes.Buffer) error {
	if buf.Len() == 0 {
		return nil
	}
	text := buf.Bytes()
	if masked := secret.Mask(buf.String()); masked != string(text) { // findings are masked already; a path or a branch's name may not be
		text = []byte(masked)
	}
	n, err := w.Write(text)
	if err == nil && n != len(text) {
		return io.ErrShortWrite
	}
	return err
}
