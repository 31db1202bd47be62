package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Text tells a person what was done and what is left to do. It is empty or ends in a line break.
func (r Result) Text() string {
	var text strings.Builder
	for _, change := range r.Changes {
		if change.Action == Absent {
			continue
		}
		fmt.Fprintf(&text, "%s: %s, %s\n", change.Hook, change.Action, wording.Printable(change.Path))
		if change.Kept != "" {
			fmt.Fprintf(&text, "  the hook that was there: %s\n", wording.Printable(change.Kept))
		}
		if change.Note != "" {
			fmt.Fprintf(&text, "  %s\n", runIn(r.RunIn, change.Note))
		}
	}
	if r.Program != "" {
		fmt.Fprintf(&text, "The hooks call %s\n", wording.Printable(r.Program))
	}
	switch {
	case r.ManualSteps != nil:
		text.WriteString(r.ManualSteps.text(r.RunIn))
	case r.Dir == "": // a result about a driver or a harness
	case r.Outcome == Unchanged && slices.ContainsFunc(r.Changes, func(c HookChange) bool { return c.Action != Absent }):
		text.WriteString("The hooks are installed already.\n")
	case r.Outcome == Unchanged:
		text.WriteString("There were no hooks of small-gate.\n")
	}
	writeCommands(&text, r.RunIn, "To finish, type:", r.Commands)
	writeNotes(&text, r.RunIn, r.Notes)
	return text.String()
}

// Typed returns a remedy, or another text, with its commands as they are to be typed.
func (d Diagnosis) Typed(remedy string) string { return runIn(d.RunIn, remedy) }

// Text tells a person for each hook whether the hook would fire, and if not, why and what to do.
func (d Diagnosis) Text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "git %s, %s\n", wording.Printable(d.Repository.Git.Version), wording.Printable(d.Repository.Git.Path))
	fmt.Fprintf(&text, "repository: %s\n", strings.Join(d.Repository.Kind, ", "))
	fmt.Fprintf(&text, "hooks: %s\n", wording.Printable(d.Repository.HooksDir))
	if d.Manager != "" {
		fmt.Fprintf(&text, "%s\n", d.Manager)
	}
	for _, check := range d.Checks {
		text.WriteString(check.text(d.RunIn))
	}
	text.WriteString(d.Driver.text(d.RunIn))
	writeNotes(&text, d.RunIn, d.Notes)
	return text.String()
}

func (c Check) text(dir string) string {
	var text strings.Builder
	switch {
	case c.Proof == ProofMention:
		fmt.Fprintf(&text, "%s: called by %s, %s\n", c.Hook, c.CalledBy, c.Proof)
	case c.Fires:
		fmt.Fprintf(&text, "%s: fires (%s)\n", c.Hook, c.Proof)
	default:
		fmt.Fprintf(&text, "%s: DOES NOT FIRE: %s\n", c.Hook, c.Why)
	}
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&text, "  %s %s\n", label, wording.Printable(value))
		}
	}
	line("file:", c.Path)
	line("how:", c.How)
	line("runs before it:", c.Kept)
	line("program:", c.Program)
	line("version:", c.Version)
	if c.MissingProgram != "" {
		line("missing or cannot be run:", c.MissingProgram)
		if c.Fires {
			fmt.Fprintf(&text, "  the program above was found on PATH, which some clients lack. Type: %s\n", runIn(dir, "`"+ProgramName+" install`"))
		}
	}
	if c.Remedy != "" {
		fmt.Fprintf(&text, "  %s\n", strings.ReplaceAll(runIn(dir, c.Remedy), "\n", "\n  "))
	}
	return text.String()
}

// runIn is [wording.RunIn]. If dir is empty, it returns the remedy as it is.
func runIn(dir, remedy string) string {
	if dir == "" {
		return remedy
	}
	return wording.RunIn(dir, remedy)
}

func writeNotes(text *strings.Builder, dir string, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(text, "Note: %s\n", runIn(dir, note))
	}
}

// writeCommands writes a heading and commands, which run in dir, or nothing if there are no commands.
func writeCommands(text *strings.Builder, dir, heading string, commands []string) {
	if len(commands) == 0 {
		return
	}
	fmt.Fprintf(text, "%s\n", heading)
	for _, command := range commands {
		fmt.Fprintf(text, "  %s\n", strings.Trim(runIn(dir, wording.Commands(command)), "`"))
	}
}
