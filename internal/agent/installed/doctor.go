package installed

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/agent/settings"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/install"
)

// Check is the doctor's result for one harness that has a settings file in the work tree.
type Check struct {
	File *settings.File
	// Calls is true if the harness would call the gate once people trust the hooks in it, which only the harness knows.
	Calls bool
	// Expected is true if the file names the gate or cannot be read: then it is broken if the harness would not call the gate.
	Expected bool
	// Commands are the commands that would be called.
	Commands []string
	// Why says why the gate would not be called, and Remedy what to do about it.
	Why, Remedy string
}

// Broken reports whether the file should make the harness call the gate, and does not.
func (c Check) Broken() bool { return c.Expected && !c.Calls }

// Doctor checks the settings files of all harnesses in the work tree around dir ("" is the current directory). A harness without one is
// left out. It runs nothing.
func Doctor(ctx context.Context, dir string) ([]Check, error) {
	repo, err := install.Locate(ctx, dir)
	if err != nil || repo.Bare {
		return nil, err
	}
	tree, err := openWorkTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	var checks []Check
	for _, file := range settings.All {
		onDisk, err := tree.read(file)
		if err == nil && onDisk.text == nil {
			continue
		}
		check := Check{File: file, Expected: err != nil || file.Mentions(onDisk.text)}
		var found settings.Found
		if err == nil {
			found, err = file.FindCalls(onDisk.text)
		}
		if err = thenType(err, "install", file); err == nil {
			err = tree.examine(&check, found)
		}
		if f := failure.Of(err); f != nil {
			check.Why, check.Remedy = f.Message, f.Remedy
		}
		check.Calls = err == nil
		checks = append(checks, check)
	}
	return checks, nil
}

// examine sets the commands of a check. It returns an error that says why the gate would not be called; nil if it would.
func (w workTree) examine(check *Check, found settings.Found) error {
	file := check.File
	check.Commands = found.Commands
	remedy := "Type: `small-hook install --agent " + file.Harness.Name + "`"
	switch {
	case len(found.Commands) == 0:
		return &failure.Error{Message: file.Path + " does not call the gate", Remedy: remedy}
	case len(found.Missing) > 0:
		return &failure.Error{Message: file.Path + " does not call the gate at " + strings.Join(found.Missing, ", "), Remedy: remedy}
	case found.Off != "":
		return errHooksOff(file, found.Off)
	}
	for _, command := range found.Commands {
		program := file.ProgramOf(command)
		if program == "" && strings.Contains(command, "/"+install.ProgramName) {
			continue // a larger command, with a path that only its shell can read
		}
		if !strings.Contains(program, "/") {
			name := cmp.Or(program, install.ProgramName) // empty for a larger command
			if _, err := exec.LookPath(name); err == nil {
				continue
			}
			if name == install.ProgramName {
				remedy = "Type: " + install.HowToInstall()
			}
			return &failure.Error{Message: "no " + wording.Printable(name) + " is on PATH", Remedy: remedy}
		}
		if !filepath.IsAbs(program) {
			program = filepath.Join(w.top, program)
		}
		if err := install.CheckProgram(filepath.FromSlash(program)); err != nil {
			return &failure.Error{Message: failure.Of(err).Message, Remedy: remedy, Err: err}
		}
	}
	return nil
}

// errHooksOff returns the failure of a file with a setting that turns off all of its hooks.
func errHooksOff(file *settings.File, setting string) *failure.Error {
	return &failure.Error{Message: file.Path + " switches all hooks off, by " + setting, Remedy: "Take that out of the file."}
}

// Text says for each harness whether it would call the gate.
func Text(checks []Check) string {
	var text strings.Builder
	for _, c := range checks {
		name := c.File.Harness.Name
		switch {
		case c.Calls:
			fmt.Fprintf(&text, "%s: would call the gate\n  file: %s\n", name, c.File.Path)
			for _, command := range c.Commands {
				fmt.Fprintf(&text, "  command: %s\n", wording.Printable(command))
			}
			fmt.Fprintf(&text, "  trust: not known here. %s\n", c.File.Trust)
			continue
		case c.Expected:
			fmt.Fprintf(&text, "%s: WOULD NOT CALL THE GATE: %s\n", name, c.Why)
		default:
			fmt.Fprintf(&text, "%s: not asked to: %s\n", name, c.Why)
		}
		fmt.Fprintf(&text, "  %s\n", strings.ReplaceAll(c.Remedy, "\n", "\n  "))
	}
	return text.String()
}
