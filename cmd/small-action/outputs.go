package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/report"
	"github.com/small-gate/small-gate/internal/version"
)

// action is the platform's side of an action. The library panics where it
// cannot write: see attempt.
func (j *job) action() *githubactions.Action {
	return githubactions.New(githubactions.WithWriter(j.stdout), githubactions.WithGetenv(func(key string) string { return j.variables[key] }))
}

// attempt runs what may panic because something could not be written.
func attempt(what string, do func()) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%s could not be written: %v", what, cause)
		}
	}()
	do()
	return nil
}

// summary writes the step's summary, where the platform has one.
func (j *job) summary(r *gate.Report) error {
	if !j.in.summary || !j.annotates() || j.variables["GITHUB_STEP_SUMMARY"] == "" || r.NoWorkspace && len(r.Waived) == 0 {
		return nil
	}
	var buf bytes.Buffer
	if err := report.Write(&buf, "markdown", r, report.Options{Version: version.String()}); err != nil {
		return err
	}
	return attempt("the summary", func() { j.action().AddStepSummary(buf.String()) })
}

// outputs sets the action's outputs, where the platform has them. None holds
// text of an entry; paths stand in JSON, in ASCII and on one line.
func (j *job) outputs(r *gate.Report) error {
	if !j.annotates() || j.variables["GITHUB_OUTPUT"] == "" {
		return nil
	}
	count := r.Count()
	claimed, fits := "", ""
	if r.Lane != nil {
		claimed, fits = string(r.Lane.Claim.Lane), string(r.Lane.Fits)
	}
	values := [][2]string{
		{"verdict", string(r.Verdict)},
		{"errors", strconv.Itoa(count.Errors)},
		{"warnings", strconv.Itoa(count.Warnings)},
		{"waived", strconv.Itoa(count.Waived)},
		{"commits", strconv.Itoa(r.Examined.Commits)},
		{"lane", claimed},
		{"lane-fits", fits},
		{"reports", j.reports()},
		{"ledgers", ledgers(r)},
	}
	return attempt("an output", func() {
		action := j.action()
		for _, v := range values {
			action.SetOutput(v[0], v[1])
		}
	})
}

// reports are the files of the reports that were written, by the names of the inputs, as JSON.
func (j *job) reports() string {
	files := map[string]string{}
	for _, t := range j.written {
		name := t.format
		for _, p := range paths {
			if p.format == t.format {
				name = p.input
			}
		}
		if t.file != "" {
			files[name] = t.file
		}
	}
	return asciiJSON(files)
}

// ledgers are the logs as they are at the tip, as JSON: kept apart, the heads
// of two runs prove one log to be the beginning of the other.
func ledgers(r *gate.Report) string {
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

// asciiJSON is a value as JSON in which every character that is not plain ASCII
// is escaped, and so are <, > and &.
func asciiJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps and structs of strings and numbers always can be
	}
	var out bytes.Buffer
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r < utf8.RuneSelf && r != 0x7f:
			out.WriteByte(byte(r))
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		data = data[size:]
	}
	return out.String()
}
