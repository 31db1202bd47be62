package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed texts
var texts embed.FS

// withHelp fills in a command's help from texts/NAME.txt: a line of usage, a line that says what it does, and, after empty lines, the
// description and the examples.
func withHelp(name string, c *cobra.Command) *cobra.Command {
	text, err := texts.ReadFile("texts/" + name + ".txt")
	if err != nil {
		panic(err) // no such text: a bug in this package
	}
	about, examples, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n\nExamples:\n")
	c.Use, about, _ = strings.Cut(about, "\n")
	c.Short, about, _ = strings.Cut(about, "\n")
	c.Long, c.Example = strings.TrimPrefix(about, "\n"), examples
	return c
}
