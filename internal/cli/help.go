package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is the greatest width of a line, in columns.
const helpWidth = 80

// commandGroups are the commands that help lists, in order. Git and harnesses call the others.
var commandGroups = []struct {
	title string
	names []string
}{
	{"Every day", []string{"install", "check", "audit", "append", "restore", "sync"}},
	{"Bringing two sides together", []string{"reconcile", "merge-check", "guard"}},
	{"Looking", []string{"log", "explain", "doctor", "lane", "demo"}},
	{"Exceptions", []string{"baseline", "waive", "init-log"}},
	{"CI and servers", []string{"range", "witness", "digests"}},
	{"Advanced", []string{"uninstall", "replay-id", "version", "completion", "help"}},
}

func isListed(name string) bool {
	for _, g := range commandGroups {
		if slices.Contains(g.names, name) {
			return true
		}
	}
	return false
}

// setHelp makes a command and its subcommands print help in groups and in lines of at most helpWidth.
func setHelp(root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		about := c.Long
		if about == "" {
			about = c.Short
		}
		c.Print(wrapText(about, "") + "\n\n" + helpText(c))
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		c.Print(helpText(c))
		return nil
	})
}

// helpText returns a command's help below the description.
func helpText(c *cobra.Command) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() {
		b.WriteString(wrapText("  "+c.UseLine(), "      ") + "\n")
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("  " + c.CommandPath() + " [command]\n")
	}
	if c.Example != "" {
		b.WriteString("\nExamples:\n" + c.Example + "\n")
	}
	b.WriteString(commandList(c))
	for _, flags := range []struct{ title, usages string }{
		{"Flags", c.LocalFlags().FlagUsagesWrapped(helpWidth)},
		{"Global Flags", c.InheritedFlags().FlagUsagesWrapped(helpWidth)},
	} {
		if usages := strings.TrimRight(flags.usages, " \n"); usages != "" {
			b.WriteString("\n" + flags.title + ":\n" + usages + "\n")
		}
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nMore about a command: %s [command] --help\n", c.CommandPath())
	}
	return b.String()
}

// commandList lists a command's subcommands: those of the root in their groups.
func commandList(c *cobra.Command) string {
	const nameWidth = 13
	byName := map[string]*cobra.Command{}
	for _, sub := range c.Commands() {
		byName[sub.Name()] = sub
	}
	var b strings.Builder
	line := func(sub *cobra.Command) {
		b.WriteString(wrapText(fmt.Sprintf("  %-*s%s", nameWidth, sub.Name(), sub.Short), strings.Repeat(" ", nameWidth+2)) + "\n")
	}
	if c.HasParent() {
		for i, sub := range c.Commands() {
			if i == 0 {
				b.WriteString("\nAvailable Commands:\n")
			}
			line(sub)
		}
		return b.String()
	}
	for _, g := range commandGroups {
		names := slices.DeleteFunc(slices.Clone(g.names), func(name string) bool { return byName[name] == nil })
		if len(names) == 0 {
			continue
		}
		b.WriteString("\n" + g.title + ":\n")
		for _, name := range names {
			line(byName[name])
		}
	}
	return b.String()
}

// wrapText breaks each paragraph into lines of at most helpWidth; all but the first get the indent. An indented line of the text begins a
// paragraph and keeps its indentation.
func wrapText(text, indent string) string {
	var out []string
	var line string
	endLine := func() {
		if line != "" {
			out = append(out, line)
			line = ""
		}
	}
	for textLine := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(textLine)
		if len(words) == 0 {
			endLine()
			out = append(out, "")
			continue
		}
		if lead := textLine[:len(textLine)-len(strings.TrimLeft(textLine, " "))]; lead != "" {
			endLine()
			words[0] = lead + words[0]
			if rest := strings.TrimPrefix(textLine, words[0]); strings.HasPrefix(rest, "  ") { // a second column
				words[0] += rest[:len(rest)-len(strings.TrimLeft(rest, " "))-1]
			}
		}
		for _, word := range words {
			switch {
			case line == "":
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(strings.TrimRight(word, " ")) > helpWidth:
				out = append(out, line)
				line = indent + word
			default:
				line += " " + word
			}
		}
	}
	endLine()
	return strings.Join(out, "\n")
}
