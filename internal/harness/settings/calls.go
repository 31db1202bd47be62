package settings

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/expression"
)

// calls finds the commands that call the gate, and takes out the hooks whose command goes. It reports whether nothing is left of an object
// of all hooks that was made for them. An event of ours has to be an array; all else may be as it likes.
func (d *document) calls(goes func(event string, command *hujson.Value) bool) (made bool, err error) {
	hooks, err := member[*hujson.Object](d, d.root, hooksMember, "an object")
	if err != nil || hooks == nil {
		return false, err
	}
	for _, e := range d.file.events {
		if _, err := member[*hujson.Array](d, hooks, e, "an array"); err != nil {
			return false, err
		}
	}
	hooks.Members, made = without(hooks.Members, &hooks.AfterExtra, ofMember, func(m *hujson.ObjectMember) bool {
		entries, is := m.Value.Value.(*hujson.Array)
		return is && d.file.prune(entries, func(command *hujson.Value) bool { return goes(literal(m.Name), command) })
	})
	return made, nil
}

// prune takes out of an array the hooks whose command goes, and the entries of which nothing is left then. It reports whether nothing is
// left of an array that was made for them.
func (f *File) prune(array *hujson.Array, goes func(command *hujson.Value) bool) (made bool) {
	array.Elements, made = without(array.Elements, &array.AfterExtra, ofElement, func(entry *hujson.Value) bool {
		command, hooks := f.inside(*entry)
		gone := command != nil && goes(command)
		if hooks == nil || len(hooks.Elements) == 0 {
			return gone
		}
		f.prune(hooks, goes)
		return len(hooks.Elements) == 0
	})
	return made
}

// inside is what an entry holds: a command that calls the gate, or an array of hooks.
func (f *File) inside(entry hujson.Value) (command *hujson.Value, hooks *hujson.Array) {
	object, is := entry.Value.(*hujson.Object)
	if !is {
		return nil, nil
	}
	for i, m := range object.Members {
		switch name := literal(m.Name); {
		case name == hooksMember:
			if array, is := m.Value.Value.(*hujson.Array); is {
				hooks = array
			}
		case slices.Contains(commandMembers, name) && strings.Contains(literal(m.Value), f.call()):
			command = &object.Members[i].Value
		}
	}
	return command, hooks
}

// commandMembers are the members that hold a hook's command, in all harnesses.
var commandMembers = []string{"command", "bash"}

// oneCall is a program as one word of a shell, plain or as wording.ShellQuote writes it, and what it is called with.
var oneCall = expression.Of(`^\s*([^\s'"\\;&|<>()$` + "`" + `]+|'(?:[^']|'\\''|'"\$\(printf '\\140'\)"')*')\s+(agent-hook --harness \S+)\s*$`)

// program is the word that names the program in a command of ours, "" in any other command.
func (f *File) program(command string) string {
	parts := oneCall().FindStringSubmatch(command)
	if parts == nil || parts[2] != f.call() {
		return ""
	}
	return parts[1]
}

// ProgramOf is the program that a command of ours runs, as a path or a name; "" for a command in which somebody wrote more around our call.
func (f *File) ProgramOf(command string) string {
	word := f.program(command)
	if inner, quoted := strings.CutPrefix(word, "'"); quoted {
		return strings.NewReplacer(`'\''`, "'", `'"$(printf '\140')"'`, "`").Replace(strings.TrimSuffix(inner, "'"))
	}
	return word
}
