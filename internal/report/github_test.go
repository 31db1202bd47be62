package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sethvargo/go-githubactions"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

// command is one workflow command as GitHub's runner reads it.
type command struct {
	name    string
	fields  map[string]string
	message string
}

var (
	commandLine   = regexp.MustCompile(`^::(error|warning|notice)(?: ([^:]*))?::(.*)$`)
	propertyCodes = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	dataCodes     = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%")
)

// readGitHub demands that every line is one command and parses them.
func readGitHub(t testing.TB, r *finding.Report) []command {
	t.Helper()
	var out []command
	text := render(t, "github", r, Options{})
	if text == "" {
		return nil
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		parts := commandLine.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("no command: %q", line)
		}
		c := command{name: parts[1], fields: map[string]string{}, message: dataCodes.Replace(parts[3])}
		for _, property := range strings.Split(parts[2], ",") {
			key, value, ok := strings.Cut(property, "=")
			if !ok {
				t.Fatalf("the property %q in %q", property, line)
			}
			c.fields[key] = propertyCodes.Replace(value)
		}
		out = append(out, c)
	}
	return out
}

// checkCommands demands what GitHub needs to neither drop nor cut an annotation.
func checkCommands(t testing.TB, commands []command) {
	t.Helper()
	times := map[string]int{}
	for _, c := range commands {
		times[c.name]++
		if c.message == "" || len(c.message) > maxAnnotation || len(c.fields["title"]) == 0 {
			t.Errorf("%d bytes of message, fields %v", len(c.message), c.fields)
		}
		if c.fields["file"] != "" && (c.fields["line"] == "" || c.fields["line"] == "0" || c.fields["endLine"] != c.fields["line"] || c.fields["col"] == "") {
			t.Errorf("a place that GitHub drops: %v", c.fields)
		}
	}
	for name, n := range times {
		if n > maxAnnotations {
			t.Errorf("%d annotations of kind %s", n, name)
		}
	}
}

func TestGitHubPlaces(t *testing.T) {
	commands := readGitHub(t, reporttest.Many())
	checkCommands(t, commands)
	first := commands[0]
	if first.name != "error" || first.fields["title"] != "append-only/modified" || first.fields["file"] != reporttest.Progress ||
		first.fields["line"] != "6" || first.fields["col"] != "5" {
		t.Errorf("the first command: %+v", first)
	}
	for _, want := range []string{"entry 1 was changed", "… and 19 more of this rule in this file, lines 11, 16", "  fix: git show "} {
		if !strings.Contains(first.message, want) {
			t.Errorf("the message lacks %q:\n%s", want, first.message)
		}
	}
	for _, c := range commands {
		if c.fields["title"] == "divergence/run" && c.fields["file"] != "" {
			t.Errorf("a finding without a file has %v", c.fields)
		}
	}
	if last := commands[len(commands)-1]; last.name != "notice" || last.fields["title"] != "waived" {
		t.Errorf("the last command: %+v", last)
	}
}

// Ten annotations have room; if there are more, the tenth counts the rest, which never include the gravest.
func TestGitHubCounts(t *testing.T) {
	report := func(errors, warnings int, failure bool) *finding.Report {
		r := reporttest.OneFail()
		grave := r.Findings[0]
		r.Findings = nil
		add := func(n int, f finding.Finding) {
			for range n {
				f.Path = fmt.Sprintf("w%d/%s", len(r.Findings), reporttest.Progress)
				r.Findings = append(r.Findings, f)
			}
		}
		add(errors-1, finding.Finding{Rule: "lint/blank", Severity: finding.SeverityError, Stage: finding.StageLint, Message: "blank", Line: 1, Column: 1})
		add(warnings, finding.Finding{Rule: "lint/duplicate-id", Severity: finding.SeverityWarning, Stage: finding.StageLint, Message: "twice"})
		r.Findings = append(r.Findings, grave)
		if failure {
			r.Failure, r.Verdict = reporttest.Failed().Failure, finding.Error
		}
		return r
	}
	for _, tt := range []struct {
		errors, warnings int
		failure          bool
		// lastError and lastWarning are messages; "" stands for a finding's own.
		lastError, lastWarning string
	}{
		{9, 9, false, "", ""},
		{10, 10, false, "", ""},
		{11, 12, false, "2 more errors: lint/blank (2); --format json lists all", "3 more warnings: lint/duplicate-id (3); --format json lists all"},
		{10, 0, true, "2 more errors: lint/blank (2); --format json lists all", ""},
		{9, 0, true, "", ""},
	} {
		t.Run(fmt.Sprintf("%d %d %v", tt.errors, tt.warnings, tt.failure), func(t *testing.T) {
			commands := readGitHub(t, report(tt.errors, tt.warnings, tt.failure))
			checkCommands(t, commands)
			last := map[string]string{}
			for _, c := range commands {
				last[c.name] = c.message
			}
			grave := commands[0]
			if tt.failure {
				if grave.fields["title"] != "could not judge" {
					t.Errorf("the first is %+v", grave)
				}
				grave = commands[1]
			}
			if grave.fields["title"] != "append-only/modified" {
				t.Errorf("a rewritten log does not come first: %+v", grave)
			}
			if tt.lastError != "" && last["error"] != tt.lastError || tt.lastWarning != "" && last["warning"] != tt.lastWarning {
				t.Errorf("last error %q\nlast warning %q", last["error"], last["warning"])
			}
			if tt.lastError == "" && strings.Contains(last["error"], "more error") {
				t.Errorf("counted without need: %q", last["error"])
			}
		})
	}
}

// A long message is cut at the end of a line, and says so.
func TestGitHubMessagesAreBounded(t *testing.T) {
	r := reporttest.OneFail()
	r.Findings[0].Fix = strings.Repeat(strings.Repeat("ü", 500)+"\n", 12)
	commands := readGitHub(t, r)
	checkCommands(t, commands)
	if m := commands[0].message; len(m) < 3000 || !strings.HasSuffix(m, "ü\n…") {
		t.Errorf("%d bytes, ending in %q", len(m), m[max(0, len(m)-10):])
	}
	a := annotation{message: strings.Repeat("ü", 4000)}
	if m := a.bounded(); len(m) > maxAnnotation || !strings.HasSuffix(m, "ü\n…") {
		t.Errorf("one long line: %d bytes, ending in %q", len(m), m[len(m)-10:])
	}
}

func FuzzGitHub(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+5)%len(reporttest.Texts)])
	}
	f.Add("%0A::error::x", "a,file=b,title=c::d%25")
	f.Fuzz(func(t *testing.T, a, b string) {
		r := reporttest.Hostile(a)
		r.Findings[0].Path, r.Findings[0].Message, r.Findings[1].Fix = b, b, b+"\n"+a
		for line := range strings.Lines(render(t, "github", r, Options{})) {
			// The line itself is a command; what follows must not be one.
			if fault := reporttest.Unsafe("x" + strings.TrimSuffix(line, "\n")); fault != "" {
				t.Fatal(fault)
			}
		}
		for _, an := range []annotation{{title: a, message: b}, {title: b, path: a, line: 3, column: -1, message: a}} {
			var ours, library bytes.Buffer
			an.command(&ours, "warning")
			fields := map[string]string{"title": an.title}
			if an.path != "" {
				fields = map[string]string{"title": an.title, "file": sanitize.Line(an.path), "line": "3", "endLine": "3", "col": "1"}
			}
			githubactions.New(githubactions.WithWriter(&library)).WithFieldsMap(fields).Warningf("%s", an.bounded())
			if strings.TrimRight(library.String(), "\r\n") != strings.TrimRight(ours.String(), "\n") {
				t.Fatalf("%q, and by the library %q", ours.String(), library.String())
			}
		}
		commands := readGitHub(t, r)
		if len(commands) < 3 || commands[0].name != "error" || commands[0].fields["title"] != "could not judge" {
			t.Fatalf("commands: %+v", commands)
		}
		known := map[string]bool{"title": true, "file": true, "line": true, "endLine": true, "col": true}
		for _, c := range commands {
			if fault := reporttest.Unsafe(c.message); fault != "" {
				t.Fatal(fault)
			}
			for key, value := range c.fields {
				if fault := reporttest.Unsafe(value); fault != "" || strings.Contains(value, "\n") || !known[key] {
					t.Fatal(key, fault)
				}
			}
		}
	})
}
