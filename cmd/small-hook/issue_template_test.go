package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/action"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// issueForm has the parts of an issue form that ours uses (docs.github.com: Syntax for issue forms).
type issueForm struct {
	Name, Description string
	Labels            []string
	Body              []struct {
		Type, ID   string
		Attributes struct {
			Label, Description, Render string
		}
		Validations struct{ Required bool }
	}
}

// TestIssueTemplate demands that the form is valid, and that the commands it asks people to type exist and print what a bug report needs.
func TestIssueTemplate(t *testing.T) {
	gittest.Long(t)
	text, err := os.ReadFile("../../.github/ISSUE_TEMPLATE/bug.yml")
	if err != nil {
		t.Fatal(err)
	}
	var form issueForm
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&form); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, field := range form.Body {
		if field.Type != "textarea" || field.Attributes.Label == "" || field.ID == "" || ids[field.ID] {
			t.Errorf("a field has no type, no label, or an id that is missing or another's: %+v", field)
		}
		ids[field.ID] = true
	}
	repo := gittest.New(t)
	if err := gittest.CopyTree(repo.Dir, filepath.Join("testdata", "workspace")); err != nil {
		t.Fatal(err)
	}
	repo.Git("add", "-A")
	repo.Commit("start")
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hook, said := demoProgram(t, binary), ""
	for _, quoted := range backticks.FindAllStringSubmatch(string(text), -1) {
		args := strings.Fields(quoted[1])
		var out, complaint bytes.Buffer
		status := 0
		switch args[0] {
		case "small-action":
			status = action.Run(t.Context(), program.Process{Args: args, Stdout: &out, Stderr: &complaint})
		case "small-hook":
			c := exec.Command(hook, args[1:]...)
			c.Dir, c.Env = repo.Dir, repo.Environ()
			c.Stdout, c.Stderr = &out, &complaint
			if err := c.Run(); c.ProcessState == nil {
				t.Fatal(err)
			}
			status = c.ProcessState.ExitCode()
		}
		if complaint.Len() > 0 || status == 2 && args[1] != "doctor" { // without hooks, doctor's status is 2
			t.Errorf("%q ends in %d\n%s%s", quoted[1], status, &out, &complaint)
		}
		said += out.String()
	}
	for _, part := range []string{"\nsmall-action ", "\ngit 2", "\nrepository: ", "\npre-commit: ", "\nConfiguration: ", "\nReader: ", "\nCI: "} {
		if !strings.Contains("\n"+said, part) {
			t.Errorf("a report of a bug does not have %q:\n%s", part, said)
		}
	}
}
