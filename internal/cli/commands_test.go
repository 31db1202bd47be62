package cli

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestOneCommand wants each command to be the same alone as among the others.
func TestOneCommand(t *testing.T) {
	all := Command()
	var names []string
	for name, command := range (&app{}).commandMakers() {
		if got := command().Name(); got != name {
			t.Errorf("the command %s is called %s", name, got)
		}
		names = append(names, name)
		alone, _, err := (&app{}).rootCommand(name).Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		among, _, err := all.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(describe(among), describe(alone)); diff != "" {
			t.Errorf("%s (-among all +alone):\n%s", name, diff)
		}
	}
	if got := len(all.Commands()); got != len(names)+2 {
		t.Errorf("%d commands, which are %v, help and completion", got, names)
	}
}

func describe(c *cobra.Command) string {
	text := c.Name() + c.Long + c.UsageString()
	c.Flags().VisitAll(func(f *pflag.Flag) { text += fmt.Sprintln(f.Name, f.Hidden, f.Value.Type()) })
	return text
}
