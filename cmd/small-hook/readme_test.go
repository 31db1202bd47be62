package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/demo"
)

// objectIDs differ from run to run, since the demonstration commits now.
var objectIDs = regexp.MustCompile(`compared with [0-9a-f]{12}`)

// TestReadmeShowsTheDemo demands that the rejection in the README is what the
// demonstration prints.
func TestReadmeShowsTheDemo(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```text\n$ git commit")
	shown, _, closed := strings.Cut(rest, "\n```")
	if !found || !closed {
		t.Fatal("the README shows no rejection")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := demo.Run(context.Background(), &out, demo.Options{Program: demoProgram(t, program), Environ: os.Environ()}); err != nil {
		t.Fatal(err)
	}
	printed := objectIDs.ReplaceAllString(out.String(), "compared with ID")
	if want := objectIDs.ReplaceAllString("$ git commit"+shown, "compared with ID"); !strings.Contains(printed, want) {
		t.Errorf("the README shows\n%s\nbut the demonstration prints\n%s", want, printed)
	}
}

// demoProgram is a program that runs the code under test: this test's own
// binary under the name that it answers to.
func demoProgram(t *testing.T, binary string) string {
	t.Helper()
	link := t.TempDir() + "/small-hook"
	if err := os.Symlink(binary, link); err != nil {
		t.Fatal(err)
	}
	return link
}
