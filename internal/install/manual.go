package install

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// ManualSteps says what a person has to do so that a manager's hooks call the gate.
type ManualSteps struct {
	Manager   string // its name; "core.hooksPath" if it is unknown
	Why       string // a sentence: the manager, and how it was recognised
	Additions []Addition
	Commands  []string // to be typed after the additions were made, in this order; may be empty
	Notes     []string
	Install   string // the command that installs the same hooks, without --force
}

// Addition is text to add to one file.
type Addition struct {
	File  string // relative to the work tree's top if inside, else absolute
	Place string // where in the file to add it, for people
	Text  string // indented, with line ends
}

// manualSteps returns what a person has to add to call the gate for hooks. If the manager's files name the gate for each of them already, it returns
// only the manager's commands. Files in a work tree are shared with other machines, so their lines name the program without a path; lines for
// other files have the path. install is the command that installs the hooks.
func manualSteps(found recognition, hooks []Name, program, install string) (*ManualSteps, error) {
	manual := &ManualSteps{Manager: found.manager.Name, Why: found.why, Install: install}
	if found.manager.fillManualSteps != nil {
		unnamed, err := found.unnamedHooks(hooks)
		if err != nil {
			return nil, err
		}
		if len(unnamed) > 0 {
			return manual, found.manager.fillManualSteps(manual, found, unnamed)
		}
		err = found.manager.fillManualSteps(manual, found, hooks)
		manual.Additions, manual.Notes = nil, []string{manual.Manager + "'s files name the gate already, but " + manual.Manager + "'s own hooks are missing. Setting up the clone, as npm install does, often writes them."}
		return manual, err
	}
	command := wording.ShellWord(filepath.ToSlash(program))
	if !found.repo.Bare && githistory.IsWithin(found.repo.Top, found.repo.HooksDir) {
		command = ProgramName
	}
	manual.Additions = scriptLines(found.repo, found.repo.HooksDir, hooks, command, " || exit $?")
	manual.Notes = []string{executableNote}
	return manual, nil
}

// unnamedHooks returns the elements of hooks that the manager's files do not name, whether or not the manager has written its own hooks.
func (r recognition) unnamedHooks(hooks []Name) (unnamed []Name, err error) {
	for _, hook := range hooks {
		named, err := findMentionInFilesOf(r.manager, r.repo, hook, filepath.Join(r.repo.HooksDir, string(hook)))
		if err != nil {
			return nil, err
		}
		if named.file == "" {
			unnamed = append(unnamed, hook)
		}
	}
	return unnamed, nil
}

const executableNote = "Each of these files must be executable and begin with a line such as #!/bin/sh."

// scriptLines returns one shell line for each hook's script in dir: command, the hook's name and arguments, and end.
func scriptLines(repo Repository, dir string, hooks []Name, command, end string) []Addition {
	var additions []Addition
	for _, hook := range hooks {
		place := "on a line of its own"
		if hook.readsInput() {
			place = "if nothing else there reads standard input"
		}
		additions = append(additions, Addition{
			File:  shortPath(repo, filepath.Join(dir, string(hook))),
			Place: place,
			Text:  fmt.Sprintf("%s %s \"$@\"%s\n", command, hook, end),
		})
	}
	return additions
}

// text tells a person what to add where, and what to type so that it runs in dir. Each addition is printed unchanged, so that it can be copied.
func (m ManualSteps) text(dir string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s. Nothing was written.\n", m.Why)
	for _, addition := range m.Additions {
		fmt.Fprintf(&text, "\nAdd to %s (%s):\n\n%s", wording.Printable(addition.File), addition.Place, addition.Text)
	}
	text.WriteString("\n")
	writeCommands(&text, dir, "Then type:", m.Commands)
	writeNotes(&text, dir, m.Notes)
	fmt.Fprintf(&text, "Or chain small-gate's hooks to the present ones, which then run first: %s\n", runIn(dir, wording.Commands(m.Install+" --force")))
	return text.String()
}
