package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// fields are the fields of an event that are read, whatever its harness calls them.
type fields struct {
	event, session, dir string
	continuing          bool
	tool                string
	input               json.RawMessage
	// by is the event's harness if it is not the one that the command names.
	by *Harness
}

// Read reads an event. It ignores unknown fields, and an unknown event is Other: both may come from a newer harness. The error is a *failure.Error;
// the event then has only By.
func (h *Harness) Read(data []byte) (Event, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return Event{By: h}, h.unreadable("standard input is empty")
	}
	if c := bytes.TrimSpace(data)[0]; c != '{' {
		return Event{By: h}, h.unreadable("it is not a JSON object")
	}
	s, err := h.parse(data)
	if err != nil {
		return Event{By: h}, h.unreadable(describeError(err))
	}
	if s.by != nil {
		return s.by.Read(data)
	}
	if s.event == "" {
		return Event{By: h}, h.unreadable("it does not say which event it is")
	}
	e := Event{By: h, Moment: h.moments[s.event], Session: s.session, Dir: s.dir, Continuing: s.continuing}
	switch {
	case e.Moment == Tool && e.Continuing: // a subagent's end that was blocked once: some harnesses would never let it end
		e.Moment = Other
	case e.Moment == Tool:
		e.ReadOnly = slices.Contains(h.readOnly, s.tool)
		if names := h.writes[s.tool]; names != nil {
			e.Files = names(s.input)
		}
	}
	return e, nil
}

func (h *Harness) unreadable(reason string) error {
	return &failure.Error{
		Message: fmt.Sprintf("the event of %s cannot be read: %s", h.Title, reason),
		Remedy:  fmt.Sprintf("this command is for the hooks of %s: `small-hook install --agent %s` sets them up", h.Title, h.Name),
	}
}

// describeError describes an error in an event's JSON.
func describeError(err error) string {
	var unexpected *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &unexpected):
		name := unexpected.Field[strings.LastIndexByte(unexpected.Field, '.')+1:] // without the structs of Go
		return fmt.Sprintf("a JSON %s is in the field %s", wording.Printable(wording.Clip(unexpected.Value)), wording.Printable(wording.Clip(name)))
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is not valid JSON, or is cut off (byte %d)", syntax.Offset)
	}
	return wording.Printable(wording.Clip(err.Error()))
}

// common are the fields that Claude Code introduced and others have adopted.
type common struct {
	Event      string          `json:"hook_event_name"`
	Session    string          `json:"session_id"`
	Dir        string          `json:"cwd"`
	Tool       string          `json:"tool_name"`
	Input      json.RawMessage `json:"tool_input"`
	Continuing bool            `json:"stop_hook_active"`
}

func (c *common) fields() fields {
	return fields{event: c.Event, session: c.Session, dir: c.Dir, tool: c.Tool, input: c.Input, continuing: c.Continuing}
}

func parseCommon(data []byte) (fields, error) {
	var c common
	err := json.Unmarshal(data, &c)
	return c.fields(), err
}

// present reports whether a field exists. Its value may be megabytes long, and is not needed.
type present bool

func (p *present) UnmarshalJSON(value []byte) error {
	*p = string(value) != "null"
	return nil
}

// fileInField returns a function that finds the file that one field of a tool's input names; nil if the field names none.
func fileInField(name string) func(json.RawMessage) []string {
	return func(input json.RawMessage) []string {
		var fields map[string]json.RawMessage
		var file string
		if json.Unmarshal(input, &fields) != nil || json.Unmarshal(fields[name], &file) != nil || file == "" {
			return nil
		}
		return []string{file}
	}
}
