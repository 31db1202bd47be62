package action

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/sethvargo/go-githubactions"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report"
)

// toFile writes to the file that a variable names, if it is set. The library panics on a failure, which becomes an error here.
func (j *job) toFile(variable, what string, write func(*githubactions.Action)) (err error) {
	name := j.env[variable]
	if name == "" {
		return nil
	}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("%s could not be written: %w", what, failed)
		default:
			panic(failed)
		}
	}()
	write(githubactions.New(githubactions.WithGetenv(func(string) string { return name })))
	return nil
}

// summary writes the step's summary, if the system has one.
func (j *job) summary(r *finding.Report) error {
	if !j.in.summary || j.env[j.system.SummaryVariable] == "" || r.NoWorkspace && len(r.Waived) == 0 {
		return nil
	}
	var buf bytes.Buffer
	if err := report.Write(&buf, "markdown", r, report.Options{Version: version.String()}); err != nil {
		return err
	}
	return j.toFile(j.system.SummaryVariable, "the summary", func(a *githubactions.Action) { a.AddStepSummary(buf.String()) })
}

// outputs sets the step's outputs, if the system has them. No output contains text of an entry. Paths are in JSON in ASCII, on one line, so that
// none can begin another output.
func (j *job) outputs(r *finding.Report) error {
	count := r.Count()
	claimed, fitting := "", ""
	if r.Lane != nil {
		claimed, fitting = string(r.Lane.Claim.Lane), string(r.Lane.Fits)
	}
	return j.toFile(j.system.OutputsVariable, "an output", func(a *githubactions.Action) {
		for _, v := range [][2]string{
			{"verdict", string(r.Verdict)},
			{"errors", strconv.Itoa(count.Errors)},
			{"warnings", strconv.Itoa(count.Warnings)},
			{"waived", strconv.Itoa(count.Waived)},
			{"commits", strconv.Itoa(r.Examined.Commits)},
			{"lane", claimed},
			{"lane-fits", fitting},
			{"reports", j.reports()},
			{"ledgers", ledgers(r)},
		} {
			a.SetOutput(v[0], secret.Mask(v[1]))
		}
	})
}

// reports returns the paths of the written reports, by the names of the inputs, as JSON.
func (j *job) reports() string {
	files := map[string]string{}
	for _, t := range j.written {
		name := t.Format
		for _, p := range reportInputs {
			if p.format == t.Format {
				name = p.input
			}
		}
		if t.File != "" {
			files[name] = t.File
		}
	}
	return asciiJSON(files)
}

// ledgers returns the logs at the tip with their heads, as JSON. Whoever keeps a head can later prove, from the log's entries, that the log began so.
func ledgers(r *finding.Report) string {
	type ledger struct {
		Path    string `json:"path"`
		Entries int    `json:"entries"`
		Head    string `json:"head"`
	}
	all := make([]ledger, 0, len(r.Ledgers))
	for _, l := range r.Ledgers {
		all = append(all, ledger{l.Path, l.Entries, l.Head.String()})
	}
	return asciiJSON(all)
}

// asciiJSON returns a value as JSON on one line in which <, >, & and every character outside printable ASCII are escaped.
func asciiJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps and structs of strings and numbers can always be encoded
	}
	var out strings.Builder
	for _, unit := range utf16.Encode([]rune(string(data))) {
		if unit < 0x7f {
			out.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}
