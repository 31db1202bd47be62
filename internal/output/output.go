// Package output holds the reports that a command line asks for, and writes them.
package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/gate/finding"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/version"
	"github.com/small-gate/small-gate/internal/wholefile"
)

// Target is one report: its format and its file. Without a file it goes to a stream of the program.
type Target struct{ Format, File string }

// Targets are the reports in the order of the command line.
type Targets []Target

// Add adds a report, of a format that exists.
func (ts *Targets) Add(format, file string) error {
	if file != "" {
		if err := ts.free(file); err != nil {
			return err
		}
	}
	*ts = append(*ts, Target{format, file})
	return nil
}

// SendTo names the file of the last report, or of one as text if there is none.
func (ts *Targets) SendTo(file string) error {
	if file == "" {
		return errors.New("the file name is empty")
	}
	if len(*ts) == 0 {
		return ts.Add("text", file)
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

// free refuses a file that another report goes to.
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

// WriteFile replaces the target's file by the report, or leaves it as it was.
func (t Target) WriteFile(r *finding.Report) error {
	return t.replace(func(w io.Writer) error {
		return report.Write(w, t.Format, r, report.Options{Version: version.String()})
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

// Unwritten says of an error that the target's file could not be written because of it. It is nil for nil.
func (t Target) Unwritten(err error) error {
	if err == nil {
		return nil
	}
	cause := err
	var at *fs.PathError // whose path is that of a temporary file beside the target's
	if errors.As(err, &at) {
		cause = at.Err
	}
	return &failure.Error{
		Message: fmt.Sprintf("the %s report could not be written to %s: %v", t.Format, t.File, cause),
		Remedy:  "make its directory and let this write there, or name another file",
		Err:     err,
	}
}
