package harness

import (
	"encoding/json"
	"strings"
)

// Answer is the output of the hook's process, and its exit status, never 1.
type Answer struct {
	Stdout, Stderr []byte
	Status         int
}

// nothing replaces a missing text: some harnesses do not block without one.
const nothing = "small-gate: rejected, and no reason was given; `small-hook check --against HEAD` shows what there is"

// Answer writes a reply in the form that the harness obeys at a moment. The moment is also Other if the event could not be read: then Block
// uses the form that blocks most reliably.
func (h *Harness) Answer(m Moment, reply Reply, text string) Answer {
	if strings.TrimSpace(text) == "" {
		text = nothing
	}
	switch {
	case reply == Silent:
		return Answer{}
	case reply == LetGo:
		return h.person(text)
	case m == Start:
		return h.inform(text)
	case m == Tool:
		return h.afterTool(text)
	case m == Stop:
		return h.atStop(text)
	}
	return h.unread(text)
}

// blocked is an answer on standard error: status 2 blocks.
func blocked(text string) Answer {
	return Answer{Stderr: []byte(strings.TrimRight(text, "\n") + "\n"), Status: 2}
}

// toPerson is an answer on standard error that blocks nothing.
func toPerson(text string) Answer {
	return Answer{Stderr: []byte(strings.TrimRight(text, "\n") + "\n")}
}

// document is an answer in JSON, on one line.
func document(doc any) Answer {
	out, err := json.Marshal(doc)
	if err != nil {
		panic(err) // texts, and structs of them, can always be encoded
	}
	return Answer{Stdout: append(out, '\n')}
}

// context is a text for the agent at an event, in the form of Claude Code, which others have adopted.
type context struct {
	Event string `json:"hookEventName"`
	Text  string `json:"additionalContext"`
}

// contextAt answers an event with a text for the agent.
func contextAt(event string) func(text string) Answer {
	return func(text string) Answer {
		return document(struct {
			Specific context `json:"hookSpecificOutput"`
		}{context{event, text}})
	}
}

// decision blocks.
type decision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// systemMessage is a text for the person only.
func systemMessage(text string) Answer {
	return document(struct {
		Text string `json:"systemMessage"`
	}{text})
}
