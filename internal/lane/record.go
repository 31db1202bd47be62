package lane

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/small"
)

// Record is what is known of one job or campaign. Its fields are read as far as
// they have the expected type.
type Record struct {
	// Path is the file's, slash-separated from the root of the tree.
	Path string
	// WorkflowPath is the workflow that is active.
	WorkflowPath Ref
	// Lane is the lane that was given from upstream, params.lane; the zero Lane
	// where none was given, or what is given names none.
	Lane Lane
	// NoCampaign is true if params.epicAllowed is false: the job is a campaign's
	// child and never becomes a campaign itself.
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
	// Repository is the one that the child works in.
	Repository Ref
	// Contracts are the files by which it relies on other repositories.
	Contracts []Contract
	subject   string
}

// Contract is a file of a repository on which a child relies.
type Contract struct{ Repository, File Ref }

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
		return nil, forFile(problems)
	}
	root := doc.Root
	params := root.Get("params")
	r := &Record{Path: file, WorkflowPath: refAt(root.Get("workflowPath")), doc: doc, NoCampaign: isBool(params.Get("epicAllowed"), "false")}
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

func isBool(v *small.Value, text string) bool {
	return v != nil && v.Kind == small.Bool && strings.EqualFold(v.Text, text)
}

func switchAt(v *small.Value, index int) Switch {
	s := Switch{
		From: refAt(v.Get("from")), To: refAt(v.Get("to")),
		FromPhase: refAt(v.Get("fromPhase")), ToPhase: refAt(v.Get("toPhase")),
		By: refAt(v.Get("by")), subject: "workflowPathHistory." + strconv.Itoa(index),
	}
	// YAML takes a time without quotes for a date; the text is the same.
	if at := v.Get("at"); at != nil {
		s.At = Ref{at.Text, at.Pos}
	}
	return s
}

func childAt(v *small.Value, index int) Child {
	c := Child{
		Name: refAt(v.Get("name")), Status: refAt(v.Get("status")), Repository: refAt(v.Get("repository")),
		subject: "campaignChildren." + strconv.Itoa(index),
	}
	for _, name := range listOf(v, "dependsOn") {
		c.DependsOn = append(c.DependsOn, refAt(name))
	}
	for _, contract := range listOf(v, "contracts") {
		c.Contracts = append(c.Contracts, Contract{refAt(contract.Get("repository")), refAt(contract.Get("file"))})
	}
	return c
}

// Ledger is the switch history as a ledger, so that two versions of it can be
// compared as two logs are.
func (r *Record) Ledger() *ledger.Ledger {
	l := ledger.NewLedger(r.SwitchValues())
	for i := range l.Entries {
		l.Entries[i].Timestamp, l.Entries[i].Switch = r.Switches[i].At.Text, true
	}
	return l
}

// SwitchValues are the elements of the switch history as they stand in the file.
func (r *Record) SwitchValues() []*small.Value { return listOf(r.doc.Root, "workflowPathHistory") }
