package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/small-gate/small-gate/internal/cli"
)

//go:generate go test . -run TestManPages -update

var update = flag.Bool("update", false, "write the man pages anew")

// TestManPages demands that docs/man matches the help of all commands but completion. The pages carry no date.
func TestManPages(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "man")
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pages := map[string]bool{}
	root := cli.Command()
	if completion, _, err := root.Find([]string{"completion"}); err == nil { // its help says all, and shells load scripts, not pages
		root.RemoveCommand(completion)
	}
	for _, c := range withSubcommands(root) {
		var page bytes.Buffer
		date := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		if err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Source: "small-gate", Manual: "small-gate", Date: &date}, &page); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, manName(c))
		pages[manName(c)] = true
		if *update {
			if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("%v; write the pages with: go generate ./cmd/small-hook", err)
		}
		if !bytes.Equal(have, page.Bytes()) {
			t.Errorf("%s is stale; write the pages anew with: go generate ./cmd/small-hook", name)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !pages[f.Name()] {
			t.Errorf("%s describes no command; remove it", f.Name())
		}
	}
}

func withSubcommands(c *cobra.Command) []*cobra.Command {
	c.DisableAutoGenTag = true
	out := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			out = append(out, withSubcommands(sub)...)
		}
	}
	return out
}

func manName(c *cobra.Command) string {
	name := c.Name()
	for p := c.Parent(); p != nil; p = p.Parent() {
		name = p.Name() + "-" + name
	}
	return name + ".1"
}
