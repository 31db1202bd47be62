package lane

import (
	"bytes"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Record is what is known of one job or campaign. Its fields are read as far as
// they have the expected type; Problems say where they have not.
type Record struct {
	// Path is the file's, slash-separated from the root of the tree.
	Path string
	// ID is what the record calls the job: id or jobId, as it is written; empty
	// where it has none.
	ID string
	// WorkflowPath is the workflow that is active.
	WorkflowPath Ref
	// Lane is the lane that was given from upstream, params.lane; the zero Lane
	// where none was given, or what is given names none.
	Lane Lane
	// NoCampaign is true if params.epicAllowed is false: the job is a campaign's
	// child and never becomes a campaign itself. What is neither true nor false
	// allows nothing either.
	NoCampaign bool
	// Switches are the workflowPathHistory, oldest first.
	Switches []Switch
	// Children are the campaignChildren.
	Children []Child

	doc *small.Document
}

// Switch is one change of a job's workflow.
type Switch struct {
	// Pos is where the element begins.
	Pos                            small.Pos
	At, From, To                   Ref
	FromPhase, ToPhase, Reason, By Ref
	subject                        string
}

// Child is one job of a campaign.
type Child struct {
	Name, Status, JobID Ref
	DependsOn           []Ref
	subject             string
	value               *small.Value
}

// ParseRecord reads the record of a job or a campaign, JSON or YAML; file is its
// path. It returns nil and the problems of a file that cannot be read as either.
func ParseRecord(file string, data []byte, limits small.Limits) (*Record, []small.Problem) {
	read := small.Parse
	if isJSON(file, data) {
		read = small.ParseJSON
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
	}
	doc, problems := read(data, limits)
	if doc == nil {
		return nil, withinFile(data, inWords(problems))
	}
	root := doc.Root
	r := &Record{Path: file, WorkflowPath: refAt(root.Get("workflowPath")), doc: doc}
	for _, key := range []string{"jobId", "id"} {
		if v := root.Get(key); v != nil && (v.Kind == small.String || v.Kind == small.Number) {
			r.ID = v.Text
		}
	}
	params := root.Get("params")
	if name, given := params.Get("lane").Str(); given {
		if l, known := Parse(name); known {
			r.Lane = l
		}
	}
	r.NoCampaign = !allows(params.Get("epicAllowed"))
	for i, v := range listOf(root, "workflowPathHistory") {
		r.Switches = append(r.Switches, switchAt(v, i))
	}
	for i, v := range listOf(root, "campaignChildren") {
		r.Children = append(r.Children, childAt(v, i))
	}
	return r, nil
}

// withinFile moves what is said of a place behind the end of a file to its last
// line: so the parser says that nothing follows on three dashes.
func withinFile(data []byte, problems []small.Problem) []small.Problem {
	last := 1
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		last += bytes.Count(data, []byte(end))
	}
	for i := range problems {
		if problems[i].Pos.Line > last {
			problems[i].Pos = small.Pos{Line: last, Column: 1}
		}
	}
	return problems
}

// isJSON reports whether a record is to be read as JSON: by its name, or because
// it begins as a JSON object and its name says nothing.
func isJSON(file string, data []byte) bool {
	switch {
	case strings.HasSuffix(file, ".json"):
		return true
	case strings.HasSuffix(file, ".yml"), strings.HasSuffix(file, ".yaml"):
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

func listOf(v *small.Value, key string) []*small.Value {
	if list := v.Get(key); list != nil && list.Kind == small.List {
		return list.Items
	}
	return nil
}

// allows reports whether the value of params.epicAllowed lets a job become a
// campaign: true does, and what is not given.
func allows(v *small.Value) bool {
	return v == nil || v.Kind == small.Null || isBool(v, "true")
}

func isBool(v *small.Value, text string) bool {
	return v != nil && v.Kind == small.Bool && strings.EqualFold(v.Text, text)
}

// timeAt is the time of a switch as it is written: YAML takes one without quotes
// for a date, and the text is the same.
func timeAt(v *small.Value) Ref {
	if v == nil {
		return Ref{}
	}
	return Ref{Text: v.Text, Pos: v.Pos}
}

func switchAt(v *small.Value, index int) Switch {
	return Switch{
		Pos: v.Pos, At: timeAt(v.Get("at")), From: refAt(v.Get("from")), To: refAt(v.Get("to")),
		FromPhase: refAt(v.Get("fromPhase")), ToPhase: refAt(v.Get("toPhase")),
		Reason: refAt(v.Get("reason")), By: refAt(v.Get("by")), subject: "workflowPathHistory." + itoa(index),
	}
}

func childAt(v *small.Value, index int) Child {
	c := Child{
		Name: refAt(v.Get("name")), Status: refAt(v.Get("status")), JobID: refAt(v.Get("jobId")),
		subject: "campaignChildren." + itoa(index), value: v,
	}
	for _, name := range listOf(v, "dependsOn") {
		c.DependsOn = append(c.DependsOn, refAt(name))
	}
	return c
}

// Ledger is the switch history as a ledger, so that two versions of it can be
// compared as two logs are.
func (r *Record) Ledger() *small.Ledger {
	l := small.NewLedger(listOf(r.doc.Root, "workflowPathHistory"))
	for i := range l.Entries {
		l.Entries[i].Timestamp = r.Switches[i].At.Text
	}
	return l
}

// SwitchValues are the elements of the switch history as they stand in the file.
func (r *Record) SwitchValues() []*small.Value { return listOf(r.doc.Root, "workflowPathHistory") }
