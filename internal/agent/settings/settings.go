// Package settings adds the calls of small-hook agent-hook to the settings that an agent's harness reads in a repository, finds them, and
// removes them again, as bytes. Everything else stays the same, byte for byte: order, indentation, line ends, comments.
//
// Every error is a *failure.Error: outcome 2 of the command line.
package settings

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/agent/harness"
)

// File describes the settings file of one harness. Each is a value in files.go.
type File struct {
	Harness *harness.Harness
	// Path is the file's place in a repository, with slashes.
	Path string
	// Trust says, in sentences, what people must do before the harness runs a repository's hooks.
	Trust string
	// comments matches what the harness removes as comments before it reads JSON, and also strings if it does not look for comments in these. It is nil
	// if the harness allows no comments.
	comments func() *regexp.Regexp
	// only are the members that the file may have; nil if it may have any. version is true if a new file gets "version": 1, and versioned if the
	// harness requires that.
	only               []string
	version, versioned bool
	// off is the setting that turns off all hooks of the file: a JSON pointer and its value.
	off [2]string
	// events are the names of the events that call the gate.
	events []string
	// entry is the JSON of an entry in an event's array; %s is the command as a JSON string. Some harnesses have groups of hooks there; a group
	// without a matcher applies to all tools.
	entry string
}

// Of finds the file of the harness with this name.
func Of(name string) (*File, error) {
	h, err := harness.Of(name)
	if err != nil {
		return nil, err
	}
	return All[slices.IndexFunc(All, func(f *File) bool { return f.Harness == h })], nil
}

// Command returns the command that the harness runs. program is a word of a shell.
func (f *File) Command(program string) string { return program + " " + f.call() }

func (f *File) call() string { return "agent-hook --harness " + f.Harness.Name }

// Mentions reports whether a text that may be broken names our command.
func (f *File) Mentions(text []byte) bool { return strings.Contains(string(text), f.call()) }

// Found are the calls of the gate in a settings file.
type Found struct {
	// Commands are the commands that call the gate, each once.
	Commands []string
	// Missing are the events without a call.
	Missing []string
	// Off is the setting that turns off all hooks of the file; "" if they are on.
	Off string
}

// FindCalls finds the calls of the gate in a settings file.
func (f *File) FindCalls(text []byte) (found Found, err error) {
	d, err := f.parse(text)
	if err != nil {
		return found, err
	}
	if off := d.tree.Find(f.off[0]); off != nil {
		if value, is := off.Value.(hujson.Literal); is && string(value) == f.off[1] {
			found.Off = f.off[0] + ": " + f.off[1]
		}
	}
	found.Missing, _, err = d.calls(func(command *hujson.Value) bool {
		if c := literal(*command); !slices.Contains(found.Commands, c) {
			found.Commands = append(found.Commands, c)
		}
		return false
	})
	return found, err
}
