// Package actionfile_test holds all that describes the action to one description, action.yml: the composite action and the tables in
// docs/github.md are written from it. The table in docs/gitlab.md is written from the GitLab template.
package actionfile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

//go:generate go test -count=1 -run ^TestWritten$ . -update

var update = flag.Bool("update", false, "write composite/action.yml and the tables in docs")

// root is the repository's root.
var root = filepath.Join("..", "..")

// described is one input or output of the action.
type described struct{ Name, Description, Default string }

// action is what action.yml says. The texts are its lines as they are written there.
type action struct {
	name, description, author string
	inputs, outputs           []described
	inputsText                string
	using                     string
}

// readAction reads action.yml, or another file of that form.
func readAction(t *testing.T, path string) action {
	t.Helper()
	text := readFile(t, path)
	var file struct {
		Name        string
		Description string
		Author      string
		Inputs      yaml.Node
		Outputs     yaml.Node
		Runs        struct{ Using string }
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	a := action{name: file.Name, description: file.Description, author: file.Author, using: file.Runs.Using}
	a.inputs, a.outputs = listed(t, &file.Inputs), listed(t, &file.Outputs)
	_, after, ok := strings.Cut(text, "\ninputs:\n")
	a.inputsText, _, _ = strings.Cut(after, "\noutputs:\n")
	if !ok || len(a.inputs) == 0 || len(a.outputs) == 0 {
		t.Fatalf("%s lacks inputs or outputs", path)
	}
	return a
}

// listed is a mapping from names to descriptions, in the file's order.
func listed(t *testing.T, node *yaml.Node) []described {
	t.Helper()
	var all []described
	for i := 0; i+1 < len(node.Content); i += 2 {
		var one described
		if err := node.Content[i+1].Decode(&one); err != nil {
			t.Fatal(err)
		}
		one.Name = node.Content[i].Value
		all = append(all, one)
	}
	return all
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ofComposite are the inputs that only the composite action has.
const ofComposite = `  binary:
    description: "Where small-action comes from: download (the release's file, held against the checksum in this folder), build (from source, with the go on PATH) or auto: download in a release, else build."
    required: false
    default: "auto"
  mirror:
    description: "Where releases are fetched from; the version and the file's name are added."
    required: false
    default: "https://github.com/small-gate/small-gate/releases/download"
`

// token is the input that the program takes from its environment alone: every process of a machine can read arguments.
const token = "token"

// composite is composite/action.yml as action.yml wants it.
func (a action) composite() string {
	var s strings.Builder
	fmt.Fprintf(&s, "# Written by go generate ./internal/actionfile from ../action.yml. DO NOT EDIT.\n"+
		"# The action without a container, for macOS, Windows and runners that have no Docker.\nname: %s (without Docker)\ndescription: %s\nauthor: %s\n\ninputs:\n%s\n%s\noutputs:\n",
		a.name, a.description, a.author, strings.TrimRight(a.inputsText, "\n"), ofComposite)
	for _, o := range a.outputs {
		fmt.Fprintf(&s, "  %s:\n    description: %q\n    value: ${{ steps.gate.outputs.%s }}\n", o.Name, o.Description, o.Name)
	}
	var names []string
	for _, input := range a.inputs {
		if input.Name != token {
			names = append(names, input.Name)
		}
	}
	fmt.Fprintf(&s, "\nruns:\n  using: composite\n  steps:\n    - id: gate\n      shell: bash\n      run: '\"$BASH\" \"$GITHUB_ACTION_PATH/run\"'\n      env:\n"+
		"        GATE_BINARY: ${{ inputs.binary }}\n        GATE_MIRROR: ${{ inputs.mirror }}\n        GATE_INPUTS: %s\n", strings.Join(names, " "))
	for _, name := range names {
		fmt.Fprintf(&s, "        GATE_INPUT_%s: ${{ inputs.%s }}\n", strings.ToUpper(strings.ReplaceAll(name, "-", "_")), name)
	}
	fmt.Fprintf(&s, "        INPUT_TOKEN: ${{ inputs.%s }}\n", token)
	return s.String()
}

// table is a Markdown table of inputs or outputs.
func table(all []described, defaults bool) string {
	var s strings.Builder
	if defaults {
		s.WriteString("| input | default | meaning |\n| --- | --- | --- |\n")
	} else {
		s.WriteString("| output | meaning |\n| --- | --- |\n")
	}
	for _, d := range all {
		fmt.Fprintf(&s, "| `%s` | ", d.Name)
		if defaults {
			value := ""
			if d.Default != "" {
				value = "`" + d.Default + "`"
			}
			fmt.Fprintf(&s, "%s | ", value)
		}
		fmt.Fprintf(&s, "%s |\n", d.Description)
	}
	return s.String()
}

// templateInputs are the inputs of the GitLab template.
func templateInputs(t *testing.T) []described {
	t.Helper()
	var head struct {
		Spec struct{ Inputs yaml.Node }
	}
	if err := yaml.NewDecoder(strings.NewReader(readFile(t, filepath.Join(root, "templates", "small-gate.yml")))).Decode(&head); err != nil {
		t.Fatal(err)
	}
	return listed(t, &head.Spec.Inputs)
}

// between puts text between a pair of marks in a page.
func between(t *testing.T, page, mark, text string) string {
	t.Helper()
	begin, end := "<!-- "+mark+": written by go generate ./internal/actionfile -->\n", "<!-- end of "+mark+" -->\n"
	before, rest, ok := strings.Cut(page, begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("the page has no place for %s", mark)
	}
	return before + begin + "\n" + text + "\n" + end + after
}

// TestWritten holds what is written from action.yml to it, or writes it anew.
func TestWritten(t *testing.T) {
	docker := readAction(t, filepath.Join(root, "action.yml"))
	page := filepath.Join(root, "docs", "github.md")
	composite := filepath.Join(root, "composite", "action.yml")
	own := action{}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(ofComposite), &node); err != nil {
		t.Fatal(err)
	}
	own.inputs = listed(t, node.Content[0])
	text := between(t, readFile(t, page), "inputs", table(docker.inputs, true))
	text = between(t, text, "inputs of the composite action", table(own.inputs, true))
	text = between(t, text, "outputs", table(docker.outputs, false))
	gitlab := filepath.Join(root, "docs", "gitlab.md")
	gitlabText := between(t, readFile(t, gitlab), "inputs", table(templateInputs(t), true))
	for path, want := range map[string]string{composite: docker.composite(), page: text, gitlab: gitlabText} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, readFile(t, path)); diff != "" {
			t.Errorf("%s is stale: run go generate ./internal/actionfile (-wanted +there):\n%s", path, diff)
		}
	}
}

// TestComposite reads the composite action as GitHub does and compares what it offers with action.yml.
func TestComposite(t *testing.T) {
	docker, composite := readAction(t, filepath.Join(root, "action.yml")), readAction(t, filepath.Join(root, "composite", "action.yml"))
	if docker.using != "docker" || composite.using != "composite" {
		t.Errorf("action.yml is for %s and composite/action.yml for %s", docker.using, composite.using)
	}
	if diff := cmp.Diff(docker.outputs, composite.outputs); diff != "" {
		t.Errorf("the outputs differ (-action.yml +composite/action.yml):\n%s", diff)
	}
	if len(composite.inputs) < len(docker.inputs) {
		t.Fatalf("%d inputs, action.yml has %d", len(composite.inputs), len(docker.inputs))
	}
	if diff := cmp.Diff(docker.inputs, composite.inputs[:len(docker.inputs)]); diff != "" {
		t.Errorf("the inputs differ (-action.yml +composite/action.yml):\n%s", diff)
	}
}

// TestTemplate holds the GitLab template's inputs to those of the action, as far as it has the same ones.
func TestTemplate(t *testing.T) {
	ofAction := map[string]described{}
	for _, input := range readAction(t, filepath.Join(root, "action.yml")).inputs {
		ofAction[input.Name] = input
	}
	ofJob := map[string]bool{"job-name": true, "stage": true, "image": true, "reports": true, "allow-failure": true}
	// The template names the files of the reports itself, and GitLab has no summary.
	ofReports := map[string]bool{"sarif": true, "junit": true, "codequality": true, "html": true, "json": true, "markdown": true, "summary": true}
	script := readFile(t, filepath.Join(root, "templates", "small-gate.yml"))
	there := map[string]bool{}
	for _, input := range templateInputs(t) {
		if ofJob[input.Name] {
			continue
		}
		there[input.Name] = true
		if !strings.Contains(script, "--"+input.Name+"=") {
			t.Errorf("the template does not hand its input %s on", input.Name)
		}
		same, ok := ofAction[input.Name]
		if !ok {
			t.Errorf("the template has an input %s, which the action lacks", input.Name)
		} else if input.Default != same.Default && (input.Name != "strict" || input.Default != "false") {
			t.Errorf("%s is %q by default in the template and %q in the action", input.Name, input.Default, same.Default)
		}
	}
	for name := range ofAction {
		if there[name] == (ofReports[name] || name == token) {
			t.Errorf("the template has the action's input %s: %v", name, there[name])
		}
	}
}

// TestReusable holds the reusable workflow to the action: it hands on every input but those that say what to compare and where reports go.
func TestReusable(t *testing.T) {
	var workflow struct {
		On struct {
			Call struct{ Inputs map[string]any } `yaml:"workflow_call"`
		} `yaml:"on"`
		Jobs map[string]struct {
			Steps []struct {
				ID   string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(root, ".github", "workflows", "gate.yml"))), &workflow); err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, step := range workflow.Jobs["gate"].Steps {
		if step.ID == "gate" {
			of = step.With
		}
	}
	own := map[string]bool{"base": true, "head": true, "sarif": true, "junit": true, "codequality": true, "json": true, "summary": true}
	for _, input := range readAction(t, filepath.Join(root, "action.yml")).inputs {
		want := "${{ inputs." + input.Name + " }}"
		_, declared := workflow.On.Call.Inputs[input.Name]
		switch {
		case input.Name == token:
			if declared || of[token] != "${{ github.token }}" {
				t.Errorf("it hands on %q as the token", of[token])
			}
		case own[input.Name] && (declared || of[input.Name] != ""):
			t.Errorf("it takes %s", input.Name)
		case own[input.Name], input.Name == "markdown", input.Name == "html":
		case !declared || of[input.Name] != want:
			t.Errorf("it does not hand on %s: %q", input.Name, of[input.Name])
		}
		delete(of, input.Name)
	}
	for name := range of {
		t.Errorf("the action has no input %s", name)
	}
}
