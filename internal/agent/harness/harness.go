// Package harness talks to the programs in which coding agents work: it reads the events that they pass to a hook, and writes the answers
// that they obey. It works on bytes only. SOURCES.md says what it relies on, and since when.
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

// The moments. The gate has nothing to say to Other: a session's end, a prompt.
const (
	Other Moment = iota
	// Start: a session begins, or continues.
	Start
	// Tool: a tool has run, or failed, and may have written files in either case. The end of a subagent also counts, if it reads the answer
	// and no hook has prolonged it yet.
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
	// Continuing is true if the harness says that the turn continues only because of a hook at its end.
	Continuing bool
	// By is the harness of the event, which must be answered: others also run the hooks in Claude Code's settings.
	By *Harness
	// ReadOnly is true for a tool that cannot write files, according to the harness's documentation.
	ReadOnly bool
	// Files are those that the tool has written, absolute or relative to Dir, if it writes exactly what its input names; nil if that is
	// unknown, for example for a shell.
	Files []string
}

// Reply is a kind of answer.
type Reply int

// The replies.
const (
	// Silent: there is nothing to say.
	Silent Reply = iota
	// Block: the agent reads the text. After a tool it reads it with the tool's result; at its end, the turn continues. A session's start
	// cannot be blocked: the session begins with the text.
	Block
	// LetGo: the turn ends, and a person sees the text.
	LetGo
)

// Harness is a program in which agents work. Each is a value in a file of its own.
type Harness struct {
	// Name is the name on the command line, Title the name for people.
	Name, Title string

	// parse reads the needed parts of an event's JSON.
	parse func(data []byte) (said, error)
	// moments are the events for which the gate has answers, by name.
	moments map[string]Moment
	// readOnly are the tools that cannot write files.
	readOnly []string
	// writes are the tools that write the files named in their input, with functions that find these.
	writes map[string]func(input json.RawMessage) []string

	// inform is the answer at a session's start, afterTool and atStop are those that block, person is one for a person alone, and unread
	// blocks whatever the event was.
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
