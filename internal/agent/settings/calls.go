package settings

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// calls finds the commands that call the gate, and removes the hooks whose commands goes selects; goes may also change a command. missing are our events
// without such a call. made is true if the object of hooks is empty now and was added by us. The value of each of our events must be an array;
// everything else may have any form.
func (d *document) calls(goes func(command *hujson.Value) bool) (missing []string, made bool, err error) {
	missing = slices.Clone(d.file.events)
	hooks, err := member[*hujson.Object](d, d.root, hooksMember, "an object")
	if err != nil || hooks == nil {
		return missing, false, err
	}
	for _, e := range d.file.events {
		if _, err := member[*hujson.Array](d, hooks, e, "an array"); err != nil {
			return nil, false, err
		}
	}
	hooks.Members, made = removeItems(hooks.Members, &hooks.AfterExtra, edgesOfMember, func(m *hujson.ObjectMember) bool {
		entries, is := m.Value.Value.(*hujson.Array)
		return is && d.file.prune(entries, func(command *hujson.Value) bool {
			missing = slices.DeleteFunc(missing, func(event string) bool { return event == literal(m.Name) })
			return goes(command)
		})
	})
	return missing, made, nil
}

// prune removes from an array the hooks whose command goes selects, and the entries that are empty then. made is true if the array is empty now and was
// added by us.
func (f *File) prune(array *hujson.Array, goes func(command *hujson.Value) bool) (made bool) {
	array.Elements, made = removeItems(array.Elements, &array.AfterExtra, edgesOfElement, func(entry *hujson.Value) (gone bool) {
		object, is := entry.Value.(*hujson.Object)
		for i := 0; is && i < len(object.Members); i++ {
			name, value := literal(object.Members[i].Name), &object.Members[i].Value
			if hooks, is := value.Value.(*hujson.Array); is && name == hooksMember && len(hooks.Elements) > 0 {
				f.prune(hooks, goes)
				gone = gone || len(hooks.Elements) == 0
			} else if slices.Contains(commandMembers, name) && strings.Contains(literal(*value), f.call()) {
				gone = gone || goes(value)
			}
		}
		return gone
	})
	return made
}

// commandMembers are the names of the members with a hook's command, in any harness.
var commandMembers = []string{"command", "bash"}

// oneCall matches a command that is only a call of the gate: the program as one word of a shell, plain or quoted as by wording.ShellQuote, and its
// arguments.
var oneCall = expression.Of(`^\s*([^\s'"\\;&|<>()$` + "`" + `]+|'(?:[^']|'\\''|'"\$\(printf '(?:\\[0-7]{3})+'\)"')*')\s+(agent-hook --harness \S+)\s*$`)

// program returns the word that names the program in a command that is only a call of the gate; "" for any other command.
func (f *File) program(command string) string {
	parts := oneCall().FindStringSubmatch(command)
	if parts == nil || parts[2] != f.call() {
		return ""
	}
	return parts[1]
}

// ProgramOf returns the program that a call of the gate runs, as a path or a name; "" for a larger command.
func (f *File) ProgramOf(command string) string {
	return wording.UnquoteShell(f.program(command))
}
