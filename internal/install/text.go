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
			fmt.Fprintf(&text, "  %s\n", change.Note)
		}
	}
	if r.Program != "" {
		fmt.Fprintf(&text, "The hooks call %s\n", wording.Printable(r.Program))
	}
	switch {
	case r.ManualSteps != nil:
		text.WriteString(r.ManualSteps.Text())
	case r.Dir == "": // a result about a driver or a harness
	case r.Outcome == Unchanged && slices.ContainsFunc(r.Changes, func(c HookChange) bool { return c.Action != Absent }):
		text.WriteString("The hooks are installed already.\n")
	case r.Outcome == Unchanged:
		text.WriteString("There were no hooks of small-gate.\n")
	}
	writeList(&text, "To finish, type:", r.Commands)
	writeNotes(&text, r.Notes)
	return text.String()
}

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
		text.WriteString(check.text())
	}
	text.WriteString(d.Driver.text())
	writeNotes(&text, d.Notes)
	return text.String()
}

func (c Check) text() string {
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
			fmt.Fprintf(&text, "  the program above was found on PATH, which some clients lack. Type: `%s install`\n", ProgramName)
		}
	}
	if c.Remedy != "" {
		fmt.Fprintf(&text, "  %s\n", strings.ReplaceAll(c.Remedy, "\n", "\n  "))
	}
	return text.String()
}

func writeNotes(text *strings.Builder, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(text, "Note: %s\n", note)
	}
}

// writeList writes a heading and indented lines, or nothing if there are no lines.
func writeList(text *strings.Builder, heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(text, "%s\n", heading)
	for _, line := range lines {
		fmt.Fprintf(text, "  %s\n", line)
	}
}
