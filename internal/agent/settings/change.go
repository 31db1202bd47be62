package settings

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tailscale/hujson"
)

// Add returns the settings with a call of command at each event. A nil text stands for a missing file. A call of the gate with another program is changed
// in place. A call inside a larger command counts, and is not edited. Add is idempotent.
func (f *File) Add(text []byte, command string) (with []byte, err error) {
	wanted := []byte(hujson.String(command))
	if text == nil {
		if text, err = f.newFile(wanted); err != nil {
			return nil, err
		}
	}
	d, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	missing, _, err := d.calls(func(c *hujson.Value) bool {
		if f.program(literal(*c)) != "" && literal(*c) != command {
			c.Value = hujson.Literal(wanted)
		}
		return false
	})
	for _, e := range missing {
		if err == nil {
			err = d.addEvent(e, fmt.Sprintf(f.entry, wanted))
		}
	}
	return d.pack(), err
}

// newFile returns a new file with the first event. The version comes last in it, while others write it first: so Remove recognizes a file that we made.
func (f *File) newFile(command []byte) ([]byte, error) {
	version := ""
	if f.version {
		version = `,"version":1`
	}
	var text bytes.Buffer
	err := json.Indent(&text, fmt.Appendf(nil, `{"hooks":{%q:[`+f.entry+`]}%s}`, f.events[0], command, version), "", "  ")
	text.WriteByte('\n')
	return text.Bytes(), err
}

// addEvent adds an entry to the array of an event, and adds the array and the object of hooks if they are missing.
func (d *document) addEvent(name, entry string) error {
	hooks, entries := d.tree.Find("/"+hooksMember), d.tree.Find("/"+hooksMember+"/"+name)
	switch {
	case hooks == nil:
		return d.add(&d.tree, 1, hooksMember, fmt.Sprintf(`{%q:[%s]}`, name, entry))
	case entries == nil:
		return d.add(hooks, 2, name, "["+entry+"]")
	}
	return d.add(entries, 3, "", entry)
}

// Remove removes what Add added, and returns the text as it was before; gone is true if there was no file. Other hooks stay, and so do larger commands
// that call the gate.
func (f *File) Remove(text []byte) (left []byte, gone bool, err error) {
	if text == nil {
		return nil, true, nil
	}
	d, err := f.parse(text)
	if err != nil {
		return nil, false, err
	}
	_, made, err := d.calls(func(c *hujson.Value) bool { return f.program(literal(*c)) != "" })
	if err != nil {
		return nil, false, err
	}
	if made {
		first := f.version && len(d.root.Members) == 2 && literal(d.root.Members[1].Name) == versionMember
		d.root.Members, gone = removeItems(d.root.Members, &d.root.AfterExtra, edgesOfMember, func(m *hujson.ObjectMember) bool {
			return first || literal(m.Name) == hooksMember
		})
	}
	return d.pack(), gone && len(commentsIn(d.tree.BeforeExtra))+len(commentsIn(d.tree.AfterExtra)) == 0, nil
}
