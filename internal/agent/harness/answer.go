package harness

import (
	"encoding/json"
	"strings"
)

// Answer is the output of the hook's process and its exit status, which is never 1.
type Answer struct {
	Stdout, Stderr []byte
	Status         int
}

// noReason stands for an empty text: some harnesses do not block without a text.
const noReason = "small-gate: rejected, and no reason was given; `small-hook check --against HEAD` shows what there is"

// Answer writes a reply in the form that the harness obeys at a moment. For an event that could not be read the moment is Other; then Block
// has the form that blocks most events.
func (h *Harness) Answer(m Moment, reply Reply, text string) Answer {
	if strings.TrimSpace(text) == "" {
		text = noReason
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

// blocked returns an answer that blocks: status 2, and the text on standard error.
func blocked(text string) Answer {
	return Answer{Stderr: []byte(strings.TrimRight(text, "\n") + "\n"), Status: 2}
}

// toPerson returns an answer that blocks nothing, with the text on standard error.
func toPerson(text string) Answer {
	return Answer{Stderr: []byte(strings.TrimRight(text, "\n") + "\n")}
}

// document returns an answer in JSON, on one line.
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

// contextAtStart answers the beginning of a session with a text for the agent.
func contextAtStart(text string) Answer {
	return document(struct {
		Specific context `json:"hookSpecificOutput"`
	}{context{"SessionStart", text}})
}

// decision is the JSON of an answer that blocks.
type decision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// systemMessage returns an answer with a text for the person only.
func systemMessage(text string) Answer {
	return document(struct {
		Text string `json:"systemMessage"`
	}{text})
}
