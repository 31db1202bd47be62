package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// commands are the scripts' additions to the commands of testscript.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"repository": plainly(repository),
	"entry":      plainly(entry),
	"replace":    plainly(replace),
	"status":     plainly(status),
	"accepted":   plainly(accepted),
	"rejected":   plainly(rejected),
	"json":       plainly(checkJSON),
	"event":      plainly(event),
}

// plainly makes a command that cannot be negated: each demands something exact.
func plainly(run func(ts *testscript.TestScript, args []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		run(ts, args)
	}
}

// entry FILE TASK TIME EVIDENCE appends an entry to a log, at a time such as 09:10 on the valid workspace's first day.
func entry(ts *testscript.TestScript, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: entry FILE TASK HH:MM EVIDENCE")
	}
	text := fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-01T%s:00.000000001Z\"\n    status: \"completed\"\n    evidence: %q\n",
		args[1], args[2], args[3])
	write(ts, args[0], ts.ReadFile(args[0])+text)
}

// replace FILE OLD NEW replaces OLD, which must be in the file exactly once, so that no edit of a script is silently skipped.
func replace(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	content := ts.ReadFile(args[0])
	if n := strings.Count(content, args[1]); n != 1 {
		ts.Fatalf("%s says %q %d times, not once", args[0], args[1], n)
	}
	write(ts, args[0], strings.Replace(content, args[1], args[2], 1))
}

func write(ts *testscript.TestScript, file, content string) {
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(content), 0o644))
}

// status N COMMAND... runs a command and demands its exact exit status.
func status(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitStatus(ts, args[1:]); got != want {
		ts.Fatalf("exit status %d, not %d", got, want)
	}
}

// exitStatus runs a command; the script can look at its output afterwards.
func exitStatus(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	ts.Fatalf("%s: %v", filepath.Base(args[0]), err)
	return -1
}

// accepted COMMAND... runs a command that must commit: exit status 0, no output, and HEAD is a new commit.
func accepted(ts *testscript.TestScript, args []string) {
	before := head(ts)
	code := exitStatus(ts, args)
	if said := ts.ReadFile("stdout") + ts.ReadFile("stderr"); said != "" {
		ts.Fatalf("it was to pass in silence (exit status %d)", code)
	}
	if code != 0 {
		ts.Fatalf("exit status %d, not 0", code)
	}
	if head(ts) == before {
		ts.Fatalf("HEAD is the commit that it was before")
	}
}

// rejected COMMAND... runs a command that must not commit: exit status 1, a message on standard error, and HEAD unchanged. The script can
// look at the message afterwards.
func rejected(ts *testscript.TestScript, args []string) {
	before := head(ts)
	code := exitStatus(ts, args)
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if code != 1 {
		ts.Fatalf("exit status %d, not 1", code)
	}
	if stderr == "" {
		ts.Fatalf("not a word on standard error")
	}
	if after := head(ts); after != before {
		ts.Fatalf("HEAD was %q and is %q", before, after)
	}
	_, err := fmt.Fprint(ts.Stdout(), stdout)
	ts.Check(err)
	_, err = fmt.Fprint(ts.Stderr(), stderr)
	ts.Check(err)
}

// head is the commit checked out in the current directory, empty on an unborn branch.
func head(ts *testscript.TestScript) string {
	if ts.Getenv("GIT_DIR") == "" {
		if id, err := gittest.Head(ts.MkAbs(".")); err == nil {
			return id
		}
	}
	if exitStatus(ts, []string{"git", "rev-parse", "-q", "--verify", "HEAD"}) != 0 {
		return ""
	}
	return strings.TrimSpace(ts.ReadFile("stdout"))
}

// checkJSON demands values of a JSON document: json FILE PATH=VALUE..., where FILE may be stdout or stderr. A path's keys and indexes are
// joined by dots; length is the number of elements in a list. Values other than strings are written as JSON. PATH~PART demands a substring.
func checkJSON(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: json FILE PATH=VALUE...")
	}
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	decoder.UseNumber()
	var doc any
	if err := decoder.Decode(&doc); err != nil {
		ts.Fatalf("%s is no JSON document: %v", args[0], err)
	}
	if decoder.More() {
		ts.Fatalf("%s holds more than one JSON document", args[0])
	}
	for _, want := range args[1:] {
		at := strings.IndexAny(want, "=~")
		if at < 0 {
			ts.Fatalf("%q is not PATH=VALUE", want)
		}
		path, operator, value := want[:at], want[at], want[at+1:]
		got, err := lookUp(doc, path)
		ts.Check(err)
		if operator == '=' && got != value || operator == '~' && !strings.Contains(got, value) {
			ts.Fatalf("%s is %s, not as in %s", path, got, want)
		}
	}
}

// lookUp finds one value of a decoded document, as text.
func lookUp(doc any, path string) (string, error) {
	at := doc
	for _, key := range strings.Split(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			inner, ok := v[key]
			if !ok {
				return "", fmt.Errorf("%s: there is no key %q", path, key)
			}
			at = inner
		case []any:
			if key == "length" {
				return strconv.Itoa(len(v)), nil
			}
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return "", fmt.Errorf("%s: there is no element %q of %d", path, key, len(v))
			}
			at = v[i]
		default:
			return "", fmt.Errorf("%s: %q is inside of %v", path, key, at)
		}
	}
	if s, ok := at.(string); ok {
		return s, nil
	}
	text, err := json.Marshal(at)
	return string(text), err
}

// event WHAT NAME [continuing] passes an event of Claude Code to the gate, as from an agent in the current directory, and demands the
// result: quiet (status 0 and no output), blocked (status 2 and a message on standard error), informed (status 0 and a text for the agent)
// or released (status 0 and a text for a person).
func event(ts *testscript.TestScript, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: event quiet|blocked|informed|released NAME [continuing]")
	}
	text, err := json.Marshal(map[string]any{
		"hook_event_name": args[1], "session_id": "session" + ts.Getenv("SESSION"), "cwd": ts.MkAbs("."), "tool_name": "Bash", "tool_input": map[string]any{"command": "true"},
		"stop_hook_active": len(args) == 3,
	})
	ts.Check(err)
	file := filepath.Join(ts.Getenv("WORK"), "event.json")
	write(ts, file, string(text))
	code := exitStatus(ts, []string{"sh", "-c", `small-hook agent-hook --harness claude <"$WORK/event.json"`})
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	came := fmt.Sprintf("status %d, %q, %q", code, stdout, stderr)
	switch {
	case code == 0 && stdout+stderr == "":
		came = "quiet"
	case code == 2 && stdout == "" && strings.HasPrefix(stderr, "small-gate"):
		came = "blocked"
	case code == 0 && strings.HasPrefix(stdout, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"small-gate`) && stderr == "":
		came = "informed"
	case code == 0 && strings.HasPrefix(stdout, `{"systemMessage":"small-gate`) && stderr == "":
		came = "released"
	}
	if came != args[0] {
		ts.Fatalf("it was %s, not %s", came, args[0])
	}
	_, err = fmt.Fprint(ts.Stdout(), stdout)
	ts.Check(err)
	_, err = fmt.Fprint(ts.Stderr(), stderr)
	ts.Check(err)
}
