// Package harness speaks with the programs in which coding agents work: it reads the events that they hand to a hook, and writes the
// answers that they obey. It sees bytes alone. SOURCES.md says what is relied on, and since when.
package harness

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
)

// Moment is what an event is about.
type Moment int

// The moments. The gate has nothing to say to Other: a session's end, a prompt.
const (
	Other Moment = iota
	// Start: a session begins, or goes on.
	Start
	// Tool: a tool has run or failed, and may have written all the same. The end of a subagent is one too, if it reads the answer
	// and no hook has prolonged it yet.
	Tool
	// Stop: a turn is about to end.
	Stop
)

// Event is what a harness says.
type Event struct {
	Moment Moment
	// Session is the harness's id of the session; empty if it names none.
	Session string
	// Dir is the absolute directory in which the agent works; empty if the harness names none.
	Dir string
	// Continuing is true if the harness says that the turn goes on only because of a hook at its end.
	Continuing bool
	// By is the harness whose event it is, and which has to be answered: others run the hooks of Claude Code's settings as well.
	By *Harness
	// ReadOnly is true for a tool that cannot write a file at all, by its name in the harness's documentation.
	ReadOnly bool
	// Files are those that the tool has written, absolute or relative to Dir, if it writes exactly what its input names; nil where
	// that is not known, as of a shell.
	Files []string
}

// Reply is a kind of answer.
type Reply int

// The replies.
const (
	// Silent: there is nothing to say.
	Silent Reply = iota
	// Block: the agent reads the text. After a tool it reads it beside the tool's result; the turn does not end. A session's start
	// cannot be blocked: the session begins with the text.
	Block
	// LetGo: the turn ends, and a person sees the text.
	LetGo
)

// Harness is one program in which agents work. Each is a value in a file of its own.
type Harness struct {
	// Name is what the command line calls it, Title what people do.
	Name, Title string

	// parse takes from an event's JSON what is asked of it.
	parse func(data []byte) (said, error)
	// moments are the names of the events that the gate has something to say to.
	moments map[string]Moment
	// readOnly are the tools that cannot write a file.
	readOnly []string
	// writes are the tools that write the files that their input names, and how it names them.
	writes map[string]func(input json.RawMessage) []string

	// inform is the answer at a session's start, afterTool and atStop are those that block, person is one for a person alone, and
	// unread is what blocks whatever the event was.
	inform, afterTool, atStop, person, unread func(text string) Answer
}

// All are the harnesses, in the order in which help lists them.
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
