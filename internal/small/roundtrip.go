package small

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Suspect is a text, or a key, that may come back changed when a program reads
// the file and writes it with yaml.v3, as the reference program does: yaml.v3
// writes several lines as a block literal, and gets its indentation wrong where
// the first of them begins with white space. What it writes then is another
// text, or no YAML at all.
type Suspect struct {
	Pos Pos
	// Subject is the path of the text inside the document.
	Subject string
	text    string
	key     bool
	// in are the steps to the text, outermost first: "- " for an element of a
	// list, otherwise ":" and a key.
	in []string
}

const listStep = "- "

// Suspects finds the texts in a value that may not come back. It looks at each
// text's first character and for a line feed; Suspect.Broken tries.
func Suspects(root *Value) []Suspect {
	var s suspects
	s.look(root, nil)
	return s.found
}

// entrySuspects are the suspects of an entry, as an element of the log.
func entrySuspects(entry *Value) []Suspect {
	var s suspects
	s.look(entry, []string{":entries", listStep})
	return s.found
}

type suspects struct{ found []Suspect }

func (s *suspects) add(text string, pos Pos, in []string, key bool) {
	if mayBreak(text) {
		s.found = append(s.found, Suspect{Pos: pos, text: text, key: key, in: slices.Clone(in)})
	}
}

func (s *suspects) look(v *Value, in []string) {
	if v.Kind == String {
		s.add(v.Text, v.Pos, in, false)
	}
	for i, item := range v.Items {
		before := len(s.found)
		s.look(item, append(in, listStep))
		s.name(before, strconv.Itoa(i))
	}
	for i := range v.Fields {
		f := &v.Fields[i]
		before := len(s.found)
		s.add(f.Key, f.KeyPos, in, true)
		s.look(f.Value, append(in, ":"+f.Key))
		s.name(before, clip(f.Key))
	}
}

// name puts a step before the subjects of what was found since.
func (s *suspects) name(since int, step string) {
	for i := range s.found[since:] {
		at := &s.found[since+i]
		if at.Subject == "" {
			at.Subject = step
		} else {
			at.Subject = step + "." + at.Subject
		}
	}
}

// mayBreak reports whether yaml.v3 can fail on a text: one of several lines of
// which the first begins with white space. TestSuspects holds it against
// everything that fails.
func mayBreak(text string) bool {
	if text == "" || !strings.HasPrefix(text, "\u2028") && !strings.HasPrefix(text, "\u2029") && strings.IndexByte(" \t\n", text[0]) < 0 {
		return false
	}
	return strings.Contains(text, "\n")
}

// mostSteps bounds how deep a text may lie to be tried. One that lies deeper
// counts as broken.
const mostSteps = 16

// Broken writes the text with yaml.v3 where it stands, reads it back, and
// reports whether it is another one then.
func (s Suspect) Broken() bool {
	if len(s.in) > mostSteps {
		return true
	}
	var value any = s.text
	if s.key {
		value = map[string]any{s.text: ""}
	}
	for _, step := range slices.Backward(s.in) {
		if step == listStep {
			value = []any{value}
		} else {
			value = map[string]any{step[1:]: value}
		}
	}
	return !comesBack(value)
}

// comesBack reports whether yaml.v3 reads what it has written of a value.
func comesBack(value any) (same bool) {
	defer func() {
		if recover() != nil {
			same = false // it panics on what it cannot write
		}
	}()
	data, err := yaml.Marshal(value)
	if err != nil {
		return false
	}
	var back any
	err = yaml.Unmarshal(data, &back)
	return err == nil && reflect.DeepEqual(back, value)
}
