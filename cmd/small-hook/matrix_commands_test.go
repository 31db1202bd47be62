package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands are those of all scripts, and those of the matrix.
func (k *kindRun) commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := maps.Clone(commands)
	all["serves"] = plainly(k.serves)
	all["refuses"] = plainly(k.refuses)
	all["judges"] = plainly(k.judges)
	all["good"] = plainly(k.good)
	return all
}

// serves [COMMAND...] finds out, by an audit unless told otherwise, whether the reader supports this repository. If not, its message goes
// into the table, and the script continues at [refused].
func (k *kindRun) serves(ts *testscript.TestScript, args []string) {
	if len(args) == 0 {
		args = []string{"small-hook", "audit", "--format", "json"}
	}
	k.asked = true
	k.left(ts, args)
	code := exitStatus(ts, args)
	var report struct {
		Verdict string
		Error   *struct{ Message, Remedy string }
	}
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &report); err != nil {
		ts.Fatalf("there is no report: %v", err)
	}
	switch {
	case code == 0 && report.Verdict == "pass":
	case code == 2 && report.Error != nil && report.Error.Message != "":
		k.refused = k.words(ts, report.Error.Message)
	default:
		ts.Fatalf("exit status %d with the verdict %q", code, report.Verdict)
	}
}

// refuses WORDS PATTERN COMMAND... runs a command that must end in outcome 2 and
// say something that the pattern matches. The table says WORDS.
func (k *kindRun) refuses(ts *testscript.TestScript, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: refuses WORDS PATTERN COMMAND [ARGUMENT...]")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	k.asked = true
	k.left(ts, append(args[2:], "--format", "json"))
	code := exitStatus(ts, args[2:])
	if said := ts.ReadFile("stdout") + ts.ReadFile("stderr"); code != 2 || !pattern.MatchString(said) {
		ts.Fatalf("exit status %d, not 2, or it did not say %q:\n%s", code, args[1], said)
	}
	k.refused = args[0]
}

// left notes, once for a script, which reader the program chooses for a hook.
func (k *kindRun) left(ts *testscript.TestScript, args []string) {
	if k.reader == "go-git" || k.auto != "" {
		return
	}
	ts.Setenv(readerVariable, "auto")
	defer ts.Setenv(readerVariable, k.reader)
	var report struct {
		Verdict  string
		Examined struct{ Reader string }
	}
	// As a hook does, or as asked if nothing is staged.
	for _, try := range [][]string{{"small-hook", "check", "--staged", "--format", "json"}, args} {
		exitStatus(ts, try)
		if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &report); err != nil {
			ts.Fatalf("there is no report: %v", err)
		}
		if report.Verdict != "error" {
			break
		}
	}
	k.auto = report.Examined.Reader
	if report.Verdict == "error" {
		k.auto = "refused"
	}
}

var (
	objectID  = regexp.MustCompile(`\b[0-9a-f]{40}([0-9a-f]{24})?\b`)
	versionNo = regexp.MustCompile(`\bgit \d+(\.\d+)+\S*`)
)

// words is a message without the parts that differ from run to run.
func (k *kindRun) words(ts *testscript.TestScript, message string) string {
	message = strings.ReplaceAll(message, ts.Getenv("WORK"), "…")
	message = objectID.ReplaceAllString(message, "…")
	return versionNo.ReplaceAllString(message, "git")
}

// good [LOG] has a good change judged by the hook and as a range: an appended entry is committed.
func (k *kindRun) good(ts *testscript.TestScript, args []string) {
	log := logOf(ts, args)
	k.clock++
	entry(ts, []string{log, "task-1", fmt.Sprintf("10:%02d", k.clock), "importer reads 1204 rows"})
	accepted(ts, []string{"git", "commit", "-q", "-a", "-m", "append"})
	status(ts, []string{"0", "small-hook", "range", "HEAD~1..HEAD"})
}

// judges [LOG] has a good change judged, then a bad one: the hook refuses a rewritten entry; committed past the hook, it is found in the
// range and in the history. Then the bad commit is removed.
func (k *kindRun) judges(ts *testscript.TestScript, args []string) {
	log := logOf(ts, args)
	k.good(ts, args)
	status(ts, []string{"0", "small-hook", "audit"})
	content := ts.ReadFile(log)
	if strings.Count(content, "workspace created") != 1 {
		ts.Fatalf("%s has no entry to rewrite", log)
	}
	write(ts, log, strings.Replace(content, "workspace created", "workspace made", 1))
	before := head(ts)
	code := exitStatus(ts, []string{"git", "commit", "-q", "-a", "-m", "rewrite"})
	demandRewrite(ts, ts.ReadFile("stderr"), log)
	if code != 1 || head(ts) != before {
		ts.Fatalf("the rewrite was not refused: exit status %d", code)
	}
	ts.Check(ts.Exec("git", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-a", "-m", "rewrite"))
	for _, command := range [][]string{{"range", "HEAD~1..HEAD"}, {"audit"}} {
		status(ts, append([]string{"1", "small-hook"}, command...))
		demandRewrite(ts, ts.ReadFile("stdout"), log)
	}
	ts.Check(ts.Exec("git", "reset", "-q", "--hard", "HEAD~1"))
}

// demandRewrite demands that a report names the rewritten entry of a log and nothing else.
func demandRewrite(ts *testscript.TestScript, said, log string) {
	want := log + ":7:5: error [append-only/modified]: entry 1 "
	if !strings.Contains(said, want) || strings.Count(said, "error [") != 1 {
		ts.Fatalf("the report does not say %q alone:\n%s", want, said)
	}
}

func logOf(ts *testscript.TestScript, args []string) string {
	switch len(args) {
	case 0:
		return ".small/progress.small.yml"
	case 1:
		return args[0]
	}
	ts.Fatalf("at most one log can be named")
	return ""
}
