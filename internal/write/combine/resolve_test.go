package combine

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const head = "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n"

// at is an entry of a log at a minute past nine.
func at(task string, minute int) string {
	return fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-01T09:%02d:00.000000001Z\"\n    evidence: \"done\"\n", task, minute)
}

func text(entries ...string) string { return head + strings.Join(entries, "") }

// fork is a case of two sides with the merge base base.
func fork(base, ours, theirs string) Case {
	return withPolicy(policy.Default(), base, ours, theirs)
}

func withPolicy(p *policy.Policy, base, ours, theirs string) Case {
	data := func(s string) []byte {
		if s == "" {
			return nil
		}
		return []byte(s)
	}
	const path = ".small/progress.small.yml"
	return Case{
		Path: path, Now: noon, Comparer: read.NewLogComparer(p, path, noon),
		Ours:   Version{Name: "main", ID: "1111", Data: data(ours)},
		Theirs: []Version{{Name: "agent-2", ID: "2222", Data: data(theirs), Bases: []Version{{ID: "0000", Data: data(base)}}}},
	}
}

// marker is the last entry of a resolution.
func marker(ours, theirs string) string {
	return "  - task_id: \"meta/reconcile-merge\"\n    timestamp: \"2026-03-01T12:00:00.000000000Z\"\n    status: \"completed\"\n" +
		"    evidence: \"merged main at 1111 (" + ours + ") and agent-2 at 2222 (" + theirs + ")\"\n"
}

// unjittered is a text with the new entry's time set to noon, without its random part.
func unjittered(text []byte) string {
	return regexp.MustCompile(`T12:00:00\.000[0-9]{6}Z`).ReplaceAllString(string(text), "T12:00:00.000000000Z")
}

// flow is a log in flow style.
const flow = "{small_version: \"1.0.0\", owner: agent, entries: [{task_id: a, timestamp: \"2026-03-01T09:01:00.000000001Z\", evidence: done}, {task_id: x, timestamp: \"2026-03-01T09:01:30.5Z\", evidence: done}]}\n"

// plain is an entry as it is written anew.
func plain(task, time, evidence string) string {
	return fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-01T09:%sZ\"\n    evidence: %q\n", task, time, evidence)
}

func TestResolve(t *testing.T) {
	a, b, c, d := at("a", 1), at("b", 2), at("c", 3), at("d", 4)
	one := marker("1 entry", "1 entry")
	linked := "  - task_id: &t b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: e\n"
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"by time":       {text(a), text(a, c), text(a, b), text(a, b, c, one)},
		"other way":     {text(a), text(a, b), text(a, c), text(a, b, c, one)},
		"behind":        {text(a), text(a, b), text(a, b), text(a, b)},
		"ours ahead":    {text(a), text(a, b), text(a), text(a, b)},
		"theirs ahead":  {text(a), text(a), text(a, b), text(a, b)},
		"no base":       {"", text(b), text(a), text(a, b, one)},
		"ours empty":    {"", "", text(a), text(a)},
		"theirs empty":  {"", text(a), "", text(a)},
		"empty list":    {head[:len(head)-1] + " []\n", head[:len(head)-1] + " []\n", text(a), text(a)},
		"common middle": {text(a), text(a, b, d), text(a, c, d), text(a, b, c, d, one)},
		"insertion unexplained": {text(a, c), text(a, c), text(a, b, c),
			text(a, b, c, marker("0 entries", "1 entry"))},
		"comments": {text(a),
			text("  # first\n", a, "  # of ours\n", c),
			text(a, "  # of theirs\n  # twice\n", b, "  # behind\n"),
			text("  # first\n", a, "  # of theirs\n  # twice\n", b, "  # behind\n", "  # of ours\n", c, one)},
		"comment of theirs on a common entry": {text(a), text(a, c), text("  # seen\n", a, b), text("  # seen\n", a, b, c, one)},
		"other indentation":                   {text(a), text(a, c), strings.ReplaceAll(text(a, b), "\n  ", "\n"), text(a, b, c, one)},
		"deeper":                              {text(a), text(a, c), text(strings.ReplaceAll("\n"+a+b, "\n", "\n    ")[1:]), text(a, b, c, one)},
		"theirs CRLF":                         {text(a), text(a, c), strings.ReplaceAll(text(a, b), "\n", "\r\n"), text(a, b, c, one)},
		"ours CRLF":                           {text(a), strings.ReplaceAll(text(a, c), "\n", "\r\n"), text(a, b), strings.ReplaceAll(text(a, b, c, one), "\n", "\r\n")},
		"no end of line":                      {text(a), strings.TrimSuffix(text(a, c), "\n"), strings.TrimSuffix(text(a, b), "\n"), text(a, b, c, one)},
		"keys behind":                         {text(a) + "# end\n", "entries:\n" + a + c + "# keys\nsmall_version: \"1.0.0\"\nowner: agent\n", text(a, b), "entries:\n" + a + b + c + "# keys\n" + one + "small_version: \"1.0.0\"\nowner: agent\n"},
		"flow items": {text(a), text(a, c), text(a, "  - {task_id: b, timestamp: \"2026-03-01T09:02:00.5Z\",\n     evidence: done}\n"),
			text(a, "  - {task_id: b, timestamp: \"2026-03-01T09:02:00.5Z\",\n     evidence: done}\n", c, one)},
		"document marks": {text(a), "---\n" + text(a, c) + "...\n", text(a, b), "---\n" + text(a, b, c, one) + "...\n"},
		"long texts": {text(a), text(a, c),
			text(a, "  - task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: |\n      # no comment\n      - nor an item\n\n    notes: \"one\n# two\n  - three\"\n"),
			text(a, "  - task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: |\n      # no comment\n      - nor an item\n\n    notes: \"one\n# two\n  - three\"\n", c, one)},
		"a comment that is none": {text(a), text(a, c),
			text(a, "  - task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: \"one\n# two\"\n"),
			text(a, "  - task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: \"one\n# two\"\n", c, one)},
		"item below its dash": {text(a), text(a, c), text(a, "  - # why\n    task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: x\n"),
			text(a, "  - # why\n    task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: x\n", c, one)},
		"anchors that stand alone": {text(a), text(a, c), text(a, "  - task_id: &b b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: *b\n"),
			text(a, plain("b", "02:00.5", "b"), c, one)},
		"anchor of the same name": {text(a), text(a, linked, "  - task_id: *t\n    timestamp: \"2026-03-01T09:06:00.5Z\"\n    evidence: e\n"),
			text(a, strings.Replace(linked, "&t b\n    timestamp: \"2026-03-01T09:02", "&t x\n    timestamp: \"2026-03-01T09:05", 1)),
			text(a, linked, plain("x", "05:00.5", "e"), "  - task_id: *t\n    timestamp: \"2026-03-01T09:06:00.5Z\"\n    evidence: e\n", marker("2 entries", "1 entry"))},
		"theirs flow": {text(a), text(a, c), flow, text(a, plain("x", "01:30.5", "done"), c, one)},
		"ours flow":   {text(a), flow, text(a, c), text(a, plain("x", "01:30.5", "done"), c, one)},
		"last text not ended": {text(a), text(a, b), text(a, "  - task_id: x\n    timestamp: \"2026-03-01T09:01:30.5Z\"\n    evidence: |\n      one"),
			text(a, plain("x", "01:30.5", "one"), b, one)},
		"strange line breaks": {text(a), text(a, c), text(a, "  - task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: \"one\u2028two\"\n"),
			text(a, "  - task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: \"one\u2028two\"\n", c, one)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fork(test.base, test.ours, test.theirs).Resolve()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, unjittered(got.Text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			log, problems := ledger.ReadLog(got.Text, small.Limits{})
			if log == nil || log.Len() != got.Entries {
				t.Errorf("%d entries were said, and it has %v %v", got.Entries, log, problems)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	a, b, c := at("a", 1), at("b", 2), at("c", 3)
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"same instant":                    {text(a), text(a, b), text(a, at("x", 2)), "the same time"},
		"same instant, zone":              {text(a), text(a, b), text(a, strings.Replace(at("x", 2), "T09:02:00.000000001Z", "T10:02:00.000000001+01:00", 1)), "the same time"},
		"times fall":                      {text(a), text(a, b), text(a, at("x", 5), at("y", 4)), "\"y\", 2026-03-01T09:04:00Z) is not later than entry 2"},
		"times fall behind base":          {text(b), text(b, c), text(b, a), "is not later than"},
		"no time":                         {text(a), text(a, b), text(a, "  - task_id: x\n    evidence: e\n"), "has no valid time"},
		"changed":                         {text(a), text(strings.Replace(a, "done", "gone", 1), b), text(a, c), "main changed or lost entries of the merge base: entry 1 (\"a\""},
		"lost":                            {text(a, b), text(a, b, c), text(a, at("x", 4)), "agent-2 changed or lost"},
		"reordered":                       {text(a, b), text(b, a), text(a, b, c), "main has the entries in another order"},
		"other order":                     {"", text(a, b), text(b, a), "cannot be merged by time"},
		"deleted":                         {text(a), "", text(a, b), "main deleted .small/progress.small.yml"},
		"deleted by them":                 {text(a), text(a, b), "", "agent-2 deleted"},
		"unreadable":                      {text(a), text(a, b), text(a) + "<<<<<<< x\n", "of agent-2 cannot be read as a log: line 7: the file contains a conflict marker"},
		"flow":                            {text(a), flow, strings.Replace(flow, "01:30", "01:40", 1), "no side has its entries one per dash"},
		"times fall in the common part":   {text(c, a, b), text(c, a, b, at("x", 5)), text(c, a, b, at("y", 6)), "entry 2 (\"a\", 2026-03-01T09:01:00Z) is not later than entry 1"},
		"times fall where a side follows": {text(a), text(a), text(a, c, b), "fix the log on that branch first"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fork(test.base, test.ours, test.theirs).Resolve()
			if err == nil {
				t.Fatalf("it was resolved:\n%s", got.Text)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("it does not say %q:\n%v", test.want, err)
			}
			if failure.Of(err).Remedy == "" {
				t.Errorf("it names no way out: %v", err)
			}
		})
	}
}

// TestAcceptOneOfSeveralBases: where a person has to accept times that do not increase, the command names the other side.
func TestAcceptOneOfSeveralBases(t *testing.T) {
	common := at("a", 2) + at("b", 1)
	c := fork(text(common), text(common, at("c", 3)), text(common, at("d", 4)))
	c.Theirs[0].Bases = append(c.Theirs[0].Bases, c.Theirs[0].Bases[0])
	_, err := c.Resolve()
	if err == nil || !strings.Contains(err.Error(), "`small-hook baseline $(git merge-base HEAD agent-2)`") {
		t.Error(err)
	}
}
