// Package actionfile_test keeps everything that describes the action in step with action.yml: it writes the composite action and the tables
// in docs/github.md from that file. It writes the table in docs/gitlab.md from the GitLab template.
package actionfile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

//go:generate go test -count=1 -run ^TestWritten$ . -update

var update = flag.Bool("update", false, "write composite/action.yml and the tables in docs")

// root is the repository's root.
var root = filepath.Join("..", "..", "..")

// described is one input or output of the action.
type described struct{ Name, Description, Default string }

// action is the content of action.yml. The texts are its lines, unchanged.
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

// listed is a mapping from names to descriptions, in file order.
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

// token is the input that the program takes only from its environment: every process of a machine can read arguments.
const token = "token"

// composite is composite/action.yml according to action.yml.
func (a action) composite() string {
	var s strings.Builder
	fmt.Fprintf(&s, "# Written by go generate ./internal/e2e/actionfile from ../action.yml. DO NOT EDIT.\n"+
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
// templateTable has the inputs that the template alone has, and names those that are as the action's.
func templateTable(ofAction, ofTemplate []described) string {
	var own []described
	var same []string
	for _, input := range ofTemplate {
		if slices.ContainsFunc(ofAction, func(d described) bool { return d.Name == input.Name }) {
			same = append(same, "`"+input.Name+"`")
			continue
		}
		own = append(own, input)
	}
	return table(own, true) + "\nAs [the action's](github.md#inputs): " + strings.Join(same, ", ") + ".\n"
}

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

// between puts text between a pair of markers in a page.
func between(t *testing.T, page, mark, text string) string {
	t.Helper()
	begin, end := "<!-- "+mark+": written by go generate ./internal/e2e/actionfile -->\n", "<!-- end of "+mark+" -->\n"
	before, rest, ok := strings.Cut(page, begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("the page has no place for %s", mark)
	}
	return before + begin + "\n" + text + "\n" + end + after
}

// TestWritten compares the files written from action.yml, or writes them again.
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
	gitlabText := between(t, readFile(t, gitlab), "inputs", templateTable(docker.inputs, templateInputs(t)))
	for path, want := range map[string]string{composite: docker.composite(), page: text, gitlab: gitlabText} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, readFile(t, path)); diff != "" {
			t.Errorf("%s is stale: run go generate ./internal/e2e/actionfile (-wanted +there):\n%s", path, diff)
		}
	}
}

// TestComposite parses the composite action as GitHub does and compares its interface with action.yml.
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

// TestTemplate compares the inputs that the GitLab template shares with the action.
func TestTemplate(t *testing.T) {
	ofAction := map[string]described{}
	for _, input := range readAction(t, filepath.Join(root, "action.yml")).inputs {
		ofAction[input.Name] = input
	}
	ofJob := map[string]bool{"job-name": true, "stage": true, "image": true, "reports": true, "allow-failure": true}
	// The template sets the report files itself, and GitLab has no summary.
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

// TestReusable compares the reusable workflow with the action of its own commit: it takes every input and passes it on, with the same
// default, and has every output. Reports go into its artifact, so it sets their files and writes two by default. The token is a secret.
func TestReusable(t *testing.T) {
	var workflow struct {
		On struct {
			Call struct {
				Inputs, Secrets map[string]described
				Outputs         yaml.Node
			} `yaml:"workflow_call"`
		} `yaml:"on"`
		Jobs map[string]workflowJob
	}
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(root, ".github", "workflows", "gate.yml"))), &workflow); err != nil {
		t.Fatal(err)
	}
	call := workflow.On.Call
	of := map[string]string{}
	for _, step := range workflow.Jobs["gate"].Steps {
		if step.ID == "gate" {
			of = step.With
			if step.Uses != "$/composite" {
				t.Errorf("it calls %s, which is not the action at its own commit", step.Uses)
			}
		}
	}
	composite := readAction(t, filepath.Join(root, "composite", "action.yml"))
	defaults := map[string]string{"html": "report.html", "markdown": "report.md"}
	reports := []string{"sarif", "junit", "codequality", "html", "json", "markdown"}
	for _, input := range composite.inputs {
		name, want := input.Name, "${{ inputs."+input.Name+" }}"
		declared, ok := call.Inputs[name]
		switch {
		case name == token:
			_, ok = call.Secrets[name]
			want = "${{ secrets.token || github.token }}"
			declared.Default = input.Default
		case slices.Contains(reports, name):
			want = fmt.Sprintf("${{ inputs.%[1]s && format('small-gate-reports/{0}', inputs.%[1]s) }}", name)
		}
		if !ok || of[name] != want {
			t.Errorf("it takes %s: %v, and hands on %q", name, ok, of[name])
		}
		if declared.Default != input.Default && declared.Default != defaults[name] {
			t.Errorf("%s is %q by default, and %q in the action", name, declared.Default, input.Default)
		}
		delete(of, name)
	}
	for name := range of {
		t.Errorf("the action has no input %s", name)
	}
	outputs := map[string]bool{}
	for _, output := range listed(t, &call.Outputs) {
		outputs[output.Name] = true
	}
	for _, output := range composite.outputs {
		if !outputs[output.Name] {
			t.Errorf("it has no output %s", output.Name)
		}
	}
}
