//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// reading is the page open before somebody who knows only the README and the pages that it links to.
type reading struct{ name, text string }

// TestGoals reaches the goals of new users. In a script, exec is what happens around the user; all that the user types must be in the
// README or on a page that it links to.
func TestGoals(t *testing.T) {
	gittest.Long(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "goals"),
		WorkdirRoot:         gittest.TempDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[reading{}] = &reading{}
			return setup(env)
		},
		Condition: condition,
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"page": page, "types": types, "block": block, "saves": saves},
	})
}

func read(ts *testscript.TestScript) *reading { return ts.Value(reading{}).(*reading) }

// page opens a page: page README.md, or one that the README links to.
func page(ts *testscript.TestScript, _ bool, args []string) {
	readme, err := os.ReadFile("../../README.md")
	ts.Check(err)
	r := read(ts)
	name := "../../README.md"
	if args[0] != "README.md" {
		name = "../../docs/" + args[0]
		if !strings.Contains(string(readme), "](docs/"+args[0]) {
			ts.Fatalf("the README does not link to %s", args[0])
		}
	}
	text, err := os.ReadFile(name)
	ts.Check(err)
	*r = reading{name: args[0], text: string(text)}
}

// types runs a line that the page shows as code, either a whole line of a block or between backticks.
func types(ts *testscript.TestScript, neg bool, args []string) {
	r, line := read(ts), strings.Join(args, " ")
	alone := regexp.MustCompile(`(?m)^ *` + regexp.QuoteMeta(line) + `( # exit status \d)?$`)
	if !alone.MatchString(r.text) && !strings.Contains(r.text, "`"+line+"`") {
		ts.Fatalf("%s does not say to type %s", r.name, line)
	}
	r.run(ts, neg, line)
}

// block runs a whole block of commands below a heading.
func block(ts *testscript.TestScript, neg bool, args []string) {
	read(ts).run(ts, neg, read(ts).below(ts, strings.Join(args, " "), "sh"))
}

// saves writes the block below a heading to the file that the page names: saves FILE LANGUAGE HEADING.
func saves(ts *testscript.TestScript, _ bool, args []string) {
	r := read(ts)
	if !strings.Contains(r.text, "`"+args[0]+"`") {
		ts.Fatalf("%s does not name %s", r.name, args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(r.below(ts, strings.Join(args[2:], " "), args[1])), 0o644))
}

func (r *reading) below(ts *testscript.TestScript, heading, language string) string {
	_, section, found := strings.Cut(r.text, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, text, there := strings.Cut(section, "\n```"+language+"\n")
	text, _, closed := strings.Cut(text, "```\n")
	if !found || !there || !closed {
		ts.Fatalf("%s has no block of %s below %q", r.name, language, heading)
	}
	return text
}

// run runs lines in a shell, with a folder of the script in place of /etc.
func (r *reading) run(ts *testscript.TestScript, neg bool, lines string) {
	err := ts.Exec("sh", "-e", "-c", strings.ReplaceAll(lines, "/etc/", ts.Getenv("WORK")+"/etc/"))
	if (err != nil) != neg {
		ts.Fatalf("%s of %s: %v", lines, r.name, err)
	}
}
