// Package output holds the reports that a command line requests, and writes them.
package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report"
)

// Target is one report: its format and its file. Without a file it goes to a stream of the program.
type Target struct{ Format, File string }

// Targets are the reports in the order of the command line.
type Targets []Target

// Add adds a report. The format must exist.
func (ts *Targets) Add(format, file string) error {
	if file != "" {
		if err := ts.free(file); err != nil {
			return err
		}
	}
	*ts = append(*ts, Target{format, file})
	return nil
}

// OrText returns the reports or, if none is requested, one in text.
func (ts Targets) OrText() Targets {
	if len(ts) == 0 {
		return Targets{{Format: "text"}}
	}
	return ts
}

// ShowEvidence reports whether a report shows the evidence of the log's entries.
func (ts Targets) ShowEvidence() bool {
	return slices.ContainsFunc(ts, func(t Target) bool { return t.Format == "html" })
}

// formatOf returns the format that a file's ending names; empty if it names none.
func formatOf(file string) string {
	name := strings.ToLower(filepath.Base(file))
	if strings.HasSuffix(name, ".sarif.json") {
		return "sarif"
	}
	switch filepath.Ext(name) {
	case ".json", ".jsonl", ".sarif", ".html":
		return filepath.Ext(name)[1:]
	case ".md":
		return "markdown"
	case ".txt":
		return "text"
	case ".xml":
		return "junit"
	}
	return ""
}

// SendTo sets the file of the last report, or of a new one in the format that the file's ending names.
func (ts *Targets) SendTo(file string) error {
	if file == "" {
		return errors.New("the file name is empty")
	}
	format := formatOf(file)
	if n := len(*ts); n == 0 || (*ts)[n-1].File != "" && format != "" {
		if format == "" {
			return fmt.Errorf("the ending of %s names no format: put --format before --output, with %s", file, wording.List(report.Formats(), "or"))
		}
		return ts.Add(format, file)
	}
	if err := ts.free(file); err != nil {
		return err
	}
	last := &(*ts)[len(*ts)-1]
	if last.File != "" {
		return fmt.Errorf("the %s report goes to %s already; put a --format before each --output", last.Format, last.File)
	}
	last.File = file
	return nil
}

// free returns an error if another report uses the file.
func (ts *Targets) free(file string) error {
	own, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	for _, t := range *ts {
		if t.File == "" {
			continue
		}
		other, err := filepath.Abs(t.File)
		if err != nil {
			return err
		}
		if other == own {
			return fmt.Errorf("the %s report goes to %s already; two reports need two files", t.Format, file)
		}
	}
	return nil
}

// WriteFile replaces the target's file by the report; if that fails, the file is unchanged. With verbose, the report lists notes too.
func (t Target) WriteFile(r *finding.Report, verbose bool) error {
	return t.replace(func(w io.Writer) error {
		return report.Write(w, t.Format, r, report.Options{Version: version.String(), Verbose: verbose})
	})
}

// WriteLane is [Target.WriteFile] for a report on lanes.
func (t Target) WriteLane(r *finding.LaneReport) error {
	return t.replace(func(w io.Writer) error { return report.WriteLane(w, t.Format, r) })
}

func (t Target) replace(render func(io.Writer) error) error {
	var buf bytes.Buffer
	err := render(&buf)
	if err == nil {
		err = wholefile.Write(t.File, buf.Bytes())
	}
	return t.Unwritten(err)
}

// Unwritten returns the failure to write the target's file, caused by err; nil if err is nil.
func (t Target) Unwritten(err error) error {
	return Unwritten("the "+t.Format+" report could not be written to "+t.File, "make its directory and let this write there, or name another file", err)
}

// Unwritten returns the failure to write something, caused by err; nil if err is nil. It leaves out the system's name for a stream or a temporary file.
func Unwritten(what, remedy string, err error) error {
	if err == nil {
		return nil
	}
	cause := err
	var at *fs.PathError
	if errors.As(err, &at) {
		cause = at.Err
	}
	return &failure.Error{Message: fmt.Sprintf("%s: %v", what, cause), Remedy: remedy, Err: err}
}
