package lane

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Record is the record of one job or campaign. Fields with an unexpected type are left out.
type Record struct {
	// Path is the file's path, slash-separated from the root of the tree.
	Path string
	// WorkflowPath is the active workflow.
	WorkflowPath Ref
	// Lane is params.lane, the lane that the job was given; the zero Lane if there is none, or its name is unknown.
	Lane Lane
	// NoCampaign is true if params.epicAllowed is false: the job is a campaign's child and never becomes a campaign itself.
	NoCampaign bool
	// Switches are the workflowPathHistory, oldest first.
	Switches []Switch
	// Children are the campaignChildren.
	Children []Child

	doc *small.Document
}

// Switch is one change of a job's workflow.
type Switch struct {
	At, From, To, FromPhase, ToPhase, By Ref
	subject                              string
}

// Child is one job of a campaign.
type Child struct {
	Name, Status Ref
	DependsOn    []Ref
	subject      string
}

// ParseRecord reads the record of a job or a campaign at a path: as JSON if the path ends in .json, else as YAML. If the file cannot be read, it returns
// nil and the problems.
func ParseRecord(at string, data []byte, limits small.Limits) (*Record, []small.Problem) {
	read := small.Parse
	if strings.HasSuffix(at, ".json") {
		read = small.ParseJSON
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
	}
	doc, problems := read(data, limits)
	if doc == nil {
		return nil, replaceHints(problems)
	}
	root := doc.Root
	params := root.Get("params")
	r := &Record{Path: at, WorkflowPath: refAt(root.Get("workflowPath")), doc: doc, NoCampaign: isBool(params.Get("epicAllowed"), "false")}
	if l, known := Parse(refAt(params.Get("lane")).Text); known {
		r.Lane = l
	}
	for i, v := range listOf(root, "workflowPathHistory") {
		r.Switches = append(r.Switches, switchAt(v, i))
	}
	for i, v := range listOf(root, "campaignChildren") {
		r.Children = append(r.Children, childAt(v, i))
	}
	return r, nil
}

func listOf(v *small.Value, key string) []*small.Value {
	if list := v.Get(key); list != nil && list.Kind == small.List {
		return list.Items
	}
	return nil
}

func isBool(v *small.Value, text string) bool {
	return v != nil && v.Kind == small.Bool && strings.EqualFold(v.Text, text)
}

func switchAt(v *small.Value, index int) Switch {
	s := Switch{
		From: refAt(v.Get("from")), To: refAt(v.Get("to")),
		FromPhase: refAt(v.Get("fromPhase")), ToPhase: refAt(v.Get("toPhase")),
		By: refAt(v.Get("by")), subject: "workflowPathHistory." + strconv.Itoa(index),
	}
	// YAML reads a time without quotes as a date; the text is the same.
	if at := v.Get("at"); at != nil {
		s.At = Ref{at.Text, at.Pos}
	}
	return s
}

func childAt(v *small.Value, index int) Child {
	c := Child{
		Name: refAt(v.Get("name")), Status: refAt(v.Get("status")), subject: "campaignChildren." + strconv.Itoa(index),
	}
	for _, name := range listOf(v, "dependsOn") {
		c.DependsOn = append(c.DependsOn, refAt(name))
	}
	return c
}

// Ledger returns the switches as the entries of a log, so that two versions of the record can be compared.
func (r *Record) Ledger() *ledger.Ledger {
	l := ledger.NewLedger(r.SwitchValues())
	for i := range l.Entries {
		l.Entries[i].Timestamp, l.Entries[i].Noun = r.Switches[i].At.Text, ledger.Switch
	}
	return l
}

// SwitchValues returns the elements of the switch history as in the file.
func (r *Record) SwitchValues() []*small.Value { return listOf(r.doc.Root, "workflowPathHistory") }
