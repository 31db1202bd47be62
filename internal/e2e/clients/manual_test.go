//go:build !windows

package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// manual is the output of small-hook install if a manager has the hooks.
type manual struct {
	said      string
	additions []addition
	commands  []string
}

type addition struct{ file, place, text string }

var addTo = regexp.MustCompile(`(?m)^Add to (.+?) \((.+)\):$`)

// parseManual extracts the lines to add from that output, as a person would: from "Add to ..." to the next line that begins a paragraph of
// install's own.
func parseManual(t *testing.T, said string) manual {
	t.Helper()
	m := manual{said: said}
	body, tail, found := strings.Cut(said, "\nThen type:\n")
	if found {
		for _, line := range strings.Split(tail, "\n") {
			command, indented := strings.CutPrefix(line, "  ")
			if !indented {
				break
			}
			m.commands = append(m.commands, command)
		}
	} else {
		body = strings.SplitN(strings.SplitN(said, "\nNote: ", 2)[0], "\nOr chain ", 2)[0] + "\n"
	}
	places := addTo.FindAllStringSubmatchIndex(body, -1)
	for i, at := range places {
		end := len(body)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		text := strings.Trim(body[at[1]:end], "\n") + "\n"
		m.additions = append(m.additions, addition{file: body[at[2]:at[3]], place: body[at[4]:at[5]], text: text})
	}
	if len(m.additions) == 0 {
		t.Fatalf("no lines to add in:\n%s", said)
	}
	return m
}

// refuse runs install where a manager has the hooks: it names the manager, says what to add, ends in status 2 and changes nothing.
func (d *desk) refuse(manager string) manual {
	d.t.Helper()
	before := files(d.t, d.Dir)
	said := d.must(2, "small-hook install")
	if diff := cmp.Diff(before, files(d.t, d.Dir)); diff != "" {
		d.t.Fatalf("install was not to touch anything:\n%s\n%s", diff, said)
	}
	want := manager + " manages the hooks: "
	if manager == "core.hooksPath" {
		want = "Hooks are taken from "
	}
	if !strings.HasPrefix(said, want) {
		d.t.Fatalf("it does not begin with %q:\n%s", want, said)
	}
	return parseManual(d.t, said)
}

// follow follows a manual: it adds the lines and types the commands.
func (d *desk) follow(m manual) {
	d.t.Helper()
	for _, a := range m.additions {
		path := a.file
		if !filepath.IsAbs(path) {
			path = d.Path(path)
		}
		old, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			d.t.Fatal(err)
		}
		put(d.t, path, a.addedTo(d.t, string(old), strings.Contains(m.said, "#!/bin/sh")), 0o755)
	}
	for _, command := range m.commands {
		d.must(0, command)
	}
}

// addedTo is a file's text with the lines added: at the end, except that in lefthook's YAML configuration they go below an existing hook's
// name, as the manual asks. A new script begins with a line such as #!/bin/sh if the manual asks for one.
func (a addition) addedTo(t *testing.T, old string, shebang bool) string {
	t.Helper()
	switch {
	case strings.Contains(a.place, "if a hook's name is there already") && old != "":
		return mergeYAML(t, old, a.text)
	case old == "" && shebang:
		return "#!/bin/sh\n" + a.text
	default:
		return old + a.text
	}
}

// mergeYAML merges one mapping into another, level by level.
func mergeYAML(t *testing.T, texts ...string) string {
	t.Helper()
	whole := map[string]any{}
	for _, text := range texts {
		var part map[string]any
		if err := yaml.Unmarshal([]byte(text), &part); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		lay(whole, part)
	}
	out, err := yaml.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func lay(into, part map[string]any) {
	for key, value := range part {
		below, isMapping := value.(map[string]any)
		there, wasMapping := into[key].(map[string]any)
		if isMapping && wasMapping {
			lay(there, below)
			continue
		}
		into[key] = value
	}
}
