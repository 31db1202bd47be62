//go:build !windows

package ciclients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestInputs gives the composite action every input, and reads the program's arguments in the log. The token is passed in a variable.
func TestInputs(t *testing.T) {
	installed(t, "act")
	var description struct{ Inputs map[string]struct{} }
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(root, "action.yml"))), &description); err != nil {
		t.Fatal(err)
	}
	// The program prints its arguments.
	release, want := t.TempDir(), map[string]string{}
	if err := os.CopyFS(filepath.Join(release, "composite"), os.DirFS(filepath.Join(root, "composite"))); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"go.mod":                   "module example.com/told\n",
		"cmd/small-action/main.go": "package main\n\nimport (\n\t\"encoding/json\"\n\t\"os\"\n)\n\nfunc main() {\n\tif err := json.NewEncoder(os.Stdout).Encode(append(os.Args, \"--token=\"+os.Getenv(\"INPUT_TOKEN\"))); err != nil {\n\t\tpanic(err)\n\t}\n}\n",
	} {
		full := filepath.Join(release, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var inputs strings.Builder
	for name := range description.Inputs {
		if name == "sarif" || name == "html" {
			want[name] = "gate." + name // as in the workflow
			continue
		}
		want[name] = "a $(b) 'c' \"" + name
		inputs.WriteString("          " + name + ": |-\n            " + want[name] + "\n")
	}
	if len(want) < 15 {
		t.Fatalf("%d inputs", len(want))
	}
	r := newConsumer(t, workflow("small-gate/small-gate/composite@v1", inputs.String()))
	ev := push(r, "main", "main", "main", false)
	got := act(t, r, ev.name, ev.payload, append([]string{"--local-repository", "small-gate/small-gate@v1=" + release}, hostMode...)...)
	var told []string
	for line := range strings.Lines(got.log) {
		if strings.HasPrefix(line, "[") {
			if err := json.Unmarshal([]byte(line), &told); err != nil {
				t.Fatal(err)
			}
		}
	}
	arguments := map[string]string{}
	for _, argument := range told[min(1, len(told)):] {
		name, value, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		arguments[name] = value
	}
	if diff := cmp.Diff(want, arguments); diff != "" {
		t.Errorf("the program is started with other inputs (-wanted +there):\n%s\n%s", diff, got.log)
	}
}

// TestNoProgram demands that without a small-action the step fails, and says what to do. The step's script runs alone, without a workflow.
func TestNoProgram(t *testing.T) {
	gittest.Long(t)
	type changed func(t *testing.T, composite string)
	write := func(from, to string) changed {
		return func(t *testing.T, composite string) {
			t.Helper()
			path := filepath.Join(composite, "release.txt")
			said := readFile(t, path)
			if strings.Count(said, from) == 0 {
				t.Fatalf("%q is not in %q", from, said)
			}
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(said, from, to)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	sum := strings.Fields(readFile(t, filepath.Join(built(t).release, "composite", "release.txt")))[2]
	mirror := "file://" + built(t).mirror
	cases := map[string]struct {
		change         changed
		binary, mirror string
		variable       string
		says           string
	}{
		"another file":    {change: write(sum, strings.Repeat("0", 64)), binary: "auto", mirror: mirror, says: "is not the file that was released"},
		"no checksum":     {change: write("small-action_", "other_"), binary: "auto", mirror: mirror, says: "has no checksum of small-action_"},
		"no file":         {binary: "auto", mirror: "file:///nowhere", says: "set mirror:"},
		"another system":  {binary: "auto", mirror: mirror, variable: "RUNNER_OS=Plan 9", says: "no build for this system"},
		"another machine": {binary: "auto", mirror: mirror, variable: "RUNNER_ARCH=ARM", says: "no build for this machine"},
		"no release": {
			change: func(t *testing.T, composite string) {
				t.Helper()
				if err := os.Remove(filepath.Join(composite, "release.txt")); err != nil {
					t.Fatal(err)
				}
			}, binary: "download", mirror: mirror, says: "set binary: build after actions/setup-go",
		},
		"no source":     {binary: "build", mirror: mirror, says: "could not be built"},
		"no such words": {binary: "fetch%0A::warning::", mirror: mirror, says: "binary: fetch%250A::warning:: is none of"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release, outputs := t.TempDir(), filepath.Join(t.TempDir(), "outputs")
			if err := os.CopyFS(release, os.DirFS(built(t).release)); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(t, filepath.Join(release, "composite"))
			}
			env := []string{"GATE_BINARY=" + c.binary, "GATE_MIRROR=" + c.mirror, "GATE_INPUTS=base", "RUNNER_TEMP=" + t.TempDir(), "GITHUB_OUTPUT=" + outputs, c.variable}
			stdout, stderr, status := run(t, gittest.New(t), env, "bash", filepath.Join(release, "composite", "run"))
			if status != 2 {
				t.Errorf("exit status %d", status)
			}
			if !strings.HasPrefix(stdout, "::error title=small-gate::") || strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, c.says) {
				t.Errorf("it says %q, without %q\n%s", stdout, c.says, stderr)
			}
			if said := readFile(t, outputs); said != "verdict=error\n" {
				t.Errorf("outputs: %q", said)
			}
		})
	}
}
