package gate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// logEntry is what an entry says: strings, integers, booleans, nil, and maps
// of these.
type logEntry map[string]any

// key is the entry as one string: equal for entries that say the same, and
// only for those. It shares nothing with the digest that it is compared with.
func (e logEntry) key() string {
	text, err := json.Marshal(map[string]any(e))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// model is the entry as the naive model knows it. Evidence is what the protocol
// counts as such: a text that is not blank, or a mapping.
func (e logEntry) model() modelEntry {
	evidenced := false
	for _, key := range []string{"evidence", "verification", "command", "test", "link", "commit"} {
		text, isText := e[key].(string)
		_, isMap := e[key].(map[string]any)
		evidenced = evidenced || isMap || isText && strings.TrimSpace(text) != ""
	}
	return modelEntry{key: e.key(), marker: e["task_id"] == "meta/reconcile-merge" && evidenced}
}

func (e logEntry) clone() logEntry {
	out := maps.Clone(e)
	for k, v := range out {
		if inner, ok := v.(map[string]any); ok {
			out[k] = maps.Clone(inner)
		}
	}
	return out
}

// style is one way to write the same log.
type style struct {
	quotes   quotes
	reversed bool // the order of keys
	indented bool // the list is deeper than its key
	comments bool
	crlf     bool
	flow     bool
	anchors  bool
	// first replaces the first line, a comment; the bytes then begin
	// differently while every entry keeps its line.
	first string
}

type quotes int

const (
	doubleQuotes quotes = iota
	singleQuotes
	noQuotes
	blockText
	quoteKinds
)

var (
	plainText = regexp.MustCompile(`^[a-z]{3,}( [a-z]{3,})*$`)
	quotable  = regexp.MustCompile(`^[\x20-\x7e]*$`)
	blockable = regexp.MustCompile(`^[!-~][\x20-\x7e]*(\n[!-~][\x20-\x7e]*)*$`)
	notText   = []string{"null", "true", "false", "yes", "off"}
)

// render writes a log.
func (s style) render(entries []logEntry) string {
	first := s.first
	if first == "" {
		first = "# the log"
	}
	w := &logWriter{style: s, anchored: map[string]string{}}
	w.line(0, first)
	w.line(0, `small_version: "1.0.0"`)
	w.line(0, `owner: agent`)
	switch {
	case len(entries) == 0:
		w.line(0, `entries: []`)
	case s.flow:
		w.line(0, `entries: [`)
		for _, e := range entries {
			w.line(2, w.inline(e)+",")
		}
		w.line(2, `]`)
	default:
		w.line(0, `entries:`)
		for _, e := range entries {
			w.entry(e)
		}
	}
	if s.crlf {
		return strings.ReplaceAll(w.text.String(), "\n", "\r\n")
	}
	return w.text.String()
}

type logWriter struct {
	style
	text     strings.Builder
	anchored map[string]string // from a text to the anchor that holds it
}

func (w *logWriter) line(indent int, text string) {
	w.text.WriteString(strings.Repeat(" ", indent) + text + "\n")
}

func (w *logWriter) entry(e logEntry) {
	indent := 0
	if w.indented {
		indent = 2
	}
	if w.comments {
		w.line(indent, "# - task_id: not an entry")
	}
	dash := "- "
	for _, k := range w.keys(e) {
		if inner, ok := e[k].(map[string]any); ok {
			w.line(indent, dash+k+":")
			for _, ik := range w.keys(inner) {
				w.line(indent+4, ik+": "+w.value(inner[ik], indent+6))
			}
		} else {
			text := w.value(e[k], indent+4)
			if w.comments && !strings.Contains(text, "\n") {
				text += " # said so"
			}
			w.line(indent, dash+k+": "+text)
		}
		dash = "  "
	}
}

func (w *logWriter) keys(m map[string]any) []string {
	keys := slices.Sorted(maps.Keys(m))
	if w.reversed {
		slices.Reverse(keys)
	}
	return keys
}

func (w *logWriter) inline(m map[string]any) string {
	var parts []string
	for _, k := range w.keys(m) {
		text := ""
		if inner, ok := m[k].(map[string]any); ok {
			text = w.inline(inner)
		} else {
			text = w.value(m[k], -1)
		}
		parts = append(parts, strconv.Quote(k)+": "+text)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// value writes a scalar. A block of text has the given indentation,
// which is negative where none is possible.
func (w *logWriter) value(v any, indent int) string {
	s, ok := v.(string)
	if !ok {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	if w.anchors {
		if name, known := w.anchored[s]; known {
			return "*" + name + " "
		}
		name := fmt.Sprint("t", len(w.anchored))
		w.anchored[s] = name
		return "&" + name + " " + strconv.Quote(s)
	}
	switch {
	case w.quotes == singleQuotes && quotable.MatchString(s):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	case w.quotes == noQuotes && plainText.MatchString(s) && !slices.Contains(notText, s):
		return s
	case w.quotes == blockText && indent >= 0 && blockable.MatchString(s):
		return "|-\n" + strings.Repeat(" ", indent) + strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", indent))
	}
	return strconv.Quote(s)
}
