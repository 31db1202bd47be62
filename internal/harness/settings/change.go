package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// Add has the settings run command at each event. A nil text is a file that is not there. A call of ours with another program is changed
// where it stands; one that somebody wrote more around counts, and is left. Done twice, it changes nothing.
func (f *File) Add(text []byte, command string) ([]byte, error) {
	wanted, err := encode(command)
	if err != nil {
		return nil, err
	}
	if text == nil {
		if text, err = f.first(wanted); err != nil {
			return nil, err
		}
	}
	d, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	calls, err := d.calls()
	if err != nil {
		return nil, err
	}
	called := map[string]bool{}
	for _, c := range calls {
		called[c.event] = true
		if c.program != "" && literal(*c.command) != command {
			c.command.Value = hujson.Literal(wanted)
		}
	}
	if err := d.again(); err != nil {
		return nil, err
	}
	for _, e := range f.events {
		if called[e] {
			continue
		}
		if err := d.addEvent(e, f.entry(wanted)); err != nil {
			return nil, err
		}
	}
	return d.pack(), nil
}

// first is a new file, with the first event. The version comes last, where a file that was there before has it first: by that Remove
// tells them apart.
func (f *File) first(command []byte) ([]byte, error) {
	version := ""
	if f.version {
		version = `,"version":1`
	}
	var text bytes.Buffer
	err := json.Indent(&text, fmt.Appendf(nil, `{"hooks":{%q:[%s]}%s}`, f.events[0], f.entry(command), version), "", "  ")
	text.WriteByte('\n')
	return text.Bytes(), err
}

// entry is what an event's array gets.
func (f *File) entry(command []byte) json.RawMessage {
	hook := fmt.Sprintf(f.handler, command)
	if f.grouped {
		hook = `{"hooks":[` + hook + `]}`
	}
	return json.RawMessage(hook)
}

// addEvent adds an entry to the array of an event, and makes what is not there yet.
func (d *document) addEvent(name string, entry json.RawMessage) error {
	hooks, at, err := d.object(d.root, hooksMember)
	if err != nil {
		return err
	}
	array := slices.Concat(json.RawMessage("["), entry, json.RawMessage("]"))
	if hooks == nil {
		return d.addMember(d.root, d.tree.StartOffset, hooksMember, slices.Concat(json.RawMessage(fmt.Sprintf("{%q:", name)), array, json.RawMessage("}")))
	}
	entries, start, err := d.array(hooks, name)
	if err != nil {
		return err
	}
	if entries == nil {
		return d.addMember(hooks, at, name, array)
	}
	return d.addElement(entries, start, entry)
}

// Remove takes out what Add put in, and leaves the text as it was before; gone says that there was no file then. Others' hooks beside ours
// stay, and so do commands in which somebody wrote more around our call.
func (f *File) Remove(text []byte) (left []byte, gone bool, err error) {
	if text == nil {
		return nil, true, nil
	}
	d, err := f.parse(text)
	if err != nil {
		return nil, false, err
	}
	hooks, _, err := d.object(d.root, hooksMember)
	if err != nil {
		return nil, false, err
	}
	if hooks == nil || !d.removeFrom(hooks) {
		return d.pack(), false, nil
	}
	// Backwards, as remove wants it: the member was found above.
	at, err := d.member(d.root, hooksMember)
	if err != nil {
		return nil, false, err
	}
	gone = remove(membersOf(d.root), at)
	if f.version && at == 0 && len(d.root.Members) == 1 && literal(d.root.Members[0].Name) == versionMember {
		gone = remove(membersOf(d.root), 0)
	}
	gone = gone && commentsIn(d.tree.BeforeExtra).length()+commentsIn(d.tree.AfterExtra).length() == 0
	return d.pack(), gone, nil
}

// removeFrom removes our hooks and the arrays that were made for them. It reports whether the object of all hooks was made for them too, and
// is empty now. It goes backwards, since what was put in last has to go first.
func (d *document) removeFrom(hooks *hujson.Object) (made bool) {
	for i := len(hooks.Members) - 1; i >= 0; i-- {
		entries, is := hooks.Members[i].Value.Value.(*hujson.Array)
		if !is {
			continue
		}
		if removeWhere(entries, d.file.emptied) {
			made = remove(membersOf(hooks), i)
		}
	}
	return made && len(hooks.Members) == 0
}

// removeWhere removes the elements of which one is true. It reports whether the array was made for them, and is empty now.
func removeWhere(array *hujson.Array, one func(hujson.Value) bool) (made bool) {
	for i := len(array.Elements) - 1; i >= 0; i-- {
		if one(array.Elements[i]) {
			made = remove(elementsOf(array), i)
		}
	}
	return made && len(array.Elements) == 0
}

// emptied removes our hooks from an entry of an event, and reports whether nothing is left of it.
func (f *File) emptied(entry hujson.Value) bool {
	command, array := f.inside(entry)
	if array == nil {
		return command != nil && f.program(literal(*command)) != ""
	}
	before := len(array.Elements)
	removeWhere(array, f.emptied)
	return before > 0 && len(array.Elements) == 0
}
