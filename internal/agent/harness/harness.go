// Package harness reads the events that the programs in which coding agents work pass to a hook, and writes the answers that they obey. It works on
// bytes only. SOURCES.md lists the documentation that it relies on.
package harness

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Moment is the kind of an event.
type Moment int

// The moments. The gate does nothing at Other, such as a session's end or a prompt.
const (
	Other Moment = iota
	// Start: a session begins, or continues.
	Start
	// Tool: a tool has run or failed; in either case it may have written files. The end of a subagent is one too, if the subagent reads the answer
	// and no hook has blocked its end yet.
	Tool
	// Stop: a turn is about to end.
	Stop
)

// Event is an event from a harness.
type Event struct {
	Moment Moment
	// Session is the harness's id of the session; empty if there is none.
	Session string
	// Dir is the absolute directory in which the agent works; empty if unknown.
	Dir string
	// Continuing is true if the harness says that the turn continues only because a hook blocked its end.
	Continuing bool
	// By is the harness that sent the event and gets the answer. It need not be the named one, since others run the hooks in Claude Code's settings.
	By *Harness
	// ReadOnly is true for a tool that cannot write files, by the harness's documentation.
	ReadOnly bool
	// Files are the files that the tool has written, absolute or relative to Dir, if its input names all of them; nil if they are not known, as for a
	// shell.
	Files []string
}

// Reply is a kind of answer.
type Reply int

// The replies.
const (
	// Silent: no answer.
	Silent Reply = iota
	// Block: the agent reads the text, after a tool together with the tool's result. At the end of a turn, the turn continues. The start of a session
	// cannot be blocked; the session begins with the text.
	Block
	// LetGo: the turn ends, and a person sees the text.
	LetGo
)

// Harness is a program in which agents work. Each harness is a value in its own file.
type Harness struct {
	// Name is the name on the command line, Title the name for people.
	Name, Title string

	// parse reads an event's JSON.
	parse func(data []byte) (fields, error)
	// moments maps the names of events to their moments; a missing one is Other.
	moments map[string]Moment
	// readOnly are the tools that cannot write files.
	readOnly []string
	// writes maps the tools that write the files in their input to functions that find these files.
	writes map[string]func(input json.RawMessage) []string

	// inform makes the answer at a session's start; afterTool and atStop make answers that block; person makes one for a person alone; unread
	// makes one that blocks an unknown event.
	inform, afterTool, atStop, person, unread func(text string) Answer
}

// All are the harnesses, in the order of help.
var All = []*Harness{Claude, Codex, Gemini, Cursor, Copilot}

// Of finds a harness by its name.
func Of(name string) (*Harness, error) {
	var names []string
	for _, h := range All {
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return nil, &failure.Error{
		Message: fmt.Sprintf("there is no harness %s", wording.Quote(name)),
		Remedy:  "the harnesses are " + strings.Join(names, ", "),
	}
}
