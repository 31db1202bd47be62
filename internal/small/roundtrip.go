package small

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Suspect is a text or a key that may change when a program reads the file and writes it with yaml.v3, as the
// reference program does. yaml.v3 writes several lines as a literal block, and indents them wrongly if the first
// begins with white space. The result is another text, or not YAML.
type Suspect struct {
	Pos Pos
	// Subject is the path of the text inside the document, or inside the entry.
	Subject string
	text    string
	isKey   bool
	// steps lead to the text, outermost first.
	steps []step
}

// step leads to a member by its key, or to an element of a list by its index.
type step struct {
	key   string
	index int // -1 if there is a key
}

// Bytes is about how many bytes a suspect takes in memory.
func (s *Suspect) Bytes() int {
	const itself, perStep = 120, 24
	return itself + len(s.text) + len(s.Subject) + perStep*len(s.steps)
}

// Suspects finds the texts and keys in a value that may change, by a quick check of their characters.
// [Suspect.BreaksOnWrite] then tries each.
func Suspects(root *Value) []Suspect {
	var s suspects
	s.collectFrom(root, nil)
	return s.found
}

// EntrySuspects is [Suspects] for an entry of a log. Subjects begin inside the entry.
func EntrySuspects(entry *Value) []Suspect {
	s := suspects{skippedSteps: 2}
	s.collectFrom(entry, []step{{"entries", -1}, {}})
	return s.found
}

type suspects struct {
	found        []Suspect
	skippedSteps int // how many steps are left out of subjects
}

func (s *suspects) add(text string, pos Pos, path []step, isKey bool) {
	if !mayBreak(text) {
		return
	}
	names := make([]string, 0, maxSteps)
	for _, at := range path[s.skippedSteps:min(len(path), s.skippedSteps+maxSteps)] {
		if at.index < 0 {
			names = append(names, wording.Clip(at.key))
		} else {
			names = append(names, strconv.Itoa(at.index))
		}
	}
	if isKey {
		path = path[:len(path)-1]
	}
	s.found = append(s.found, Suspect{
		Pos: pos, Subject: strings.Join(names, "."), text: strings.Clone(text), isKey: isKey, steps: slices.Clone(path[:min(len(path), maxSteps+1)]),
	})
}

func (s *suspects) collectFrom(v *Value, path []step) {
	if v.Kind == String {
		s.add(v.Text, v.Pos, path, false)
	}
	depth := len(path)
	for i, item := range v.Items {
		s.collectFrom(item, append(path, step{index: i}))
	}
	for i := range v.Fields {
		f := &v.Fields[i]
		if f.Value.IsLeaf() && !mayBreak(f.Key) && !mayBreak(f.Value.Text) {
			continue // most members need no path
		}
		path = append(path[:depth], step{f.Key, -1})
		s.add(f.Key, f.KeyPos, path, true)
		s.collectFrom(f.Value, path)
	}
}

// mayBreak reports whether yaml.v3 can fail on a text: one that begins with white space and has several lines.
// TestSuspects compares it with what fails.
func mayBreak(text string) bool {
	if text == "" || !strings.HasPrefix(text, "\u2028") && !strings.HasPrefix(text, "\u2029") && strings.IndexByte(" \t\n", text[0]) < 0 {
		return false
	}
	return strings.Contains(text, "\n")
}

// maxSteps is the greatest depth at which a text is tried. A deeper one counts as broken.
const maxSteps = 16

// BreaksOnWrite writes the text with yaml.v3, nested as in the document, reads it back, and reports whether it has
// changed.
func (s Suspect) BreaksOnWrite() bool {
	if len(s.steps) > maxSteps {
		return true
	}
	var value any = s.text
	if s.isKey {
		value = map[string]any{s.text: ""}
	}
	for _, at := range slices.Backward(s.steps) {
		if at.index < 0 {
			value = map[string]any{at.key: value}
		} else {
			value = []any{value}
		}
	}
	return !readsBackEqual(value)
}

// readsBackEqual reports whether yaml.v3 reads back the value that it writes.
func readsBackEqual(value any) (same bool) {
	defer func() {
		if recover() != nil {
			same = false // yaml.v3 panics on a value that it cannot write
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
