package settings

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/expression"
)

// call is a hook that calls the gate.
type call struct {
	event   string
	command *hujson.Value
	// program is the word of the command that names the program; "" where somebody wrote more around our call.
	program string
}

// calls finds the hooks that call the gate. An event of ours has to be an array; all else may be as it likes.
func (d *document) calls() ([]call, error) {
	hooks, _, err := d.object(d.root, hooksMember)
	if err != nil || hooks == nil {
		return nil, err
	}
	for _, e := range d.file.events {
		if _, _, err := d.array(hooks, e); err != nil {
			return nil, err
		}
	}
	var found []call
	for _, m := range hooks.Members {
		if entries, is := m.Value.Value.(*hujson.Array); is {
			for _, command := range d.file.commands(entries) {
				found = append(found, call{literal(m.Name), command, d.file.program(literal(*command))})
			}
		}
	}
	return found, nil
}

// commands are the commands that call the gate in an array of entries.
func (f *File) commands(entries *hujson.Array) []*hujson.Value {
	var found []*hujson.Value
	for _, entry := range entries.Elements {
		command, inner := f.inside(entry)
		if command != nil {
			found = append(found, command)
		}
		if inner != nil {
			found = append(found, f.commands(inner)...)
		}
	}
	return found
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
