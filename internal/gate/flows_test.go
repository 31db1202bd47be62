package gate_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// flow is a history that a test draws commit by commit.
//
// A log is written as words: "a b c" are three entries, a' is another version
// of a and a” a third, a~ is a with its time migrated, a@ with its task
// reassigned. M1, M2, … reconcile a merge; m1 would, but has no evidence. An
// entry's time follows its letter; a1, b1, … come after M1 and before M2. "-"
// is a commit without the log, "?" one whose log cannot be read. Several logs
// are written as "a b | sub: c d".
type flow struct {
	t    *testing.T
	h    *memoryHistory
	ids  map[string]string // from a commit's name to its id
	opts run.Options
	// words gives single words another meaning.
	words map[string]logEntry
	style style
}

func newFlow(t *testing.T) *flow {
	t.Helper()
	p := policy.Default()
	return &flow{
		t: t, h: newMemoryHistory(), ids: map[string]string{}, words: map[string]logEntry{},
		opts: run.Options{Mode: "test", Now: now, Policy: p},
	}
}

// artifacts are a workspace's files besides the log.
var artifacts = map[small.Artifact]string{
	small.Intent: `small_version: "1.0.0"
owner: human
intent: show a flow
scope: {include: [], exclude: []}
success_criteria: []
`,
	small.Constraints: `small_version: "1.0.0"
owner: human
constraints:
  - {id: keep, rule: keep the log, severity: error}
`,
	small.Plan: `small_version: "1.0.0"
owner: agent
tasks:
  - {id: task-a, title: begin}
`,
	small.Handoff: `small_version: "1.0.0"
owner: agent
summary: under way
resume: {next_steps: []}
links: []
replayId: {value: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f", source: auto}
`,
	small.Workspace: `small_version: "1.0.0"
owner: agent
kind: repo-root
created_at: "2026-01-01T00:00:00Z"
updated_at: "2026-01-01T00:00:00Z"
run: {replay_id: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"}
`,
}

// entry is what a word stands for.
func (f *flow) entry(word string) logEntry {
	if e, known := f.words[word]; known {
		return e
	}
	name := strings.TrimRight(word, "'~@")
	mark := word[len(name):]
	round := 0
	if len(name) > 1 {
		var err error
		if round, err = strconv.Atoi(name[1:]); err != nil {
			f.t.Fatalf("the word %q is none", word)
		}
	}
	minute := 30*round + int(name[0]-'a') + 1
	e := logEntry{"task_id": "task-" + name, "evidence": "did " + name}
	if name[0] == 'M' || name[0] == 'm' && len(name) > 1 {
		minute = 30 * round
		e = logEntry{"task_id": "meta/reconcile-merge", "evidence": "both sides " + name}
	}
	if name[0] == 'm' && len(name) > 1 {
		e["evidence"] = " "
	}
	e["timestamp"] = firstTime.Add(time.Duration(minute) * time.Minute).Format("2006-01-02T15:04:05.000Z")
	switch mark {
	case "~":
		e["timestamp"] = strings.Replace(e["timestamp"].(string), ".000Z", ".000000001Z", 1)
	case "@":
		e["task_id"] = "meta/historical/" + e["task_id"].(string)
	default:
		e["evidence"] = e["evidence"].(string) + strings.Repeat("!", len(mark))
	}
	return e
}

// tree is the tree of a commit whose logs are written as words.
func (f *flow) tree(logs string) fileTree {
	tree := fileTree{}
	for part := range strings.SplitSeq(logs, "|") {
		dir, words, named := strings.Cut(part, ":")
		if !named {
			dir, words = "", part
		}
		dir = strings.TrimSpace(dir)
		for a, text := range artifacts {
			tree[a.Path(dir)] = blobFile{data: text}
		}
		var entries []logEntry
		log := worldLog{style: f.style}
		for word := range strings.FieldsSeq(words) {
			switch word {
			case "-":
				for a := range artifacts {
					delete(tree, a.Path(dir))
				}
			case "?":
				log.breakage = &breakages[0]
			default:
				entries = append(entries, f.entry(word))
			}
		}
		log.entries = entries
		if strings.TrimSpace(words) != "-" {
			tree[logPath(dir)] = log.file()
		}
	}
	return tree
}

// commit adds a commit; parents are names.
func (f *flow) commit(name, parents, logs string) {
	f.ids[name] = f.h.commit(f.tree(logs), f.all(parents)...)
}

func (f *flow) all(names string) []string {
	var out []string
	for name := range strings.FieldsSeq(names) {
		id, known := f.ids[name]
		if !known {
			f.t.Fatalf("there is no commit %s", name)
		}
		out = append(out, id)
	}
	return out
}

func (f *flow) id(name string) string { return f.all(name)[0] }

func (f *flow) audit(head string) *finding.Report {
	return gate.Audit(context.Background(), f.h, f.id(head), f.opts)
}

func (f *flow) rangeOf(base, head string) *finding.Report {
	return gate.Range(context.Background(), f.h, f.id(base), f.id(head), f.opts)
}

func (f *flow) push(old, tip string) *finding.Report {
	return gate.Push(context.Background(), f.h, history.Update{Ref: "refs/heads/main", Old: f.id(old), New: f.id(tip)}, f.opts)
}

// pending judges the index, with logs as written, against its parents.
func (f *flow) pending(parents, logs string) *finding.Report {
	f.h.stage(f.tree(logs))
	return gate.Pending(context.Background(), f.h, f.all(parents), f.opts)
}

// want demands exactly these findings about the history, written as
//
//	error append-only/modified B from A: #0 task-a to #0 task-a; evidence "did a" to "did a!"
func (f *flow) want(r *finding.Report, lines ...string) {
	f.t.Helper()
	checkFixes(f.t, r)
	if r.Verdict == finding.Error {
		f.t.Fatalf("not judged: %v", r.Failure)
	}
	got := f.lines(r.Findings)
	if diff := gocmp.Diff(lines, got); diff != "" {
		f.t.Errorf("findings (- expected, + got):\n%s", diff)
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "error") && r.Verdict != finding.Fail {
			f.t.Errorf("verdict %s with an error", r.Verdict)
		}
	}
}

// clean demands a pass without any finding, the tip's snapshot included.
func (f *flow) clean(r *finding.Report) {
	f.t.Helper()
	if r.Verdict != finding.Pass || len(r.Findings) > 0 {
		f.t.Errorf("verdict %s, %v, findings %+v", r.Verdict, r.Failure, r.Findings)
	}
}

// waived demands exactly these waived findings.
func (f *flow) waived(r *finding.Report, lines ...string) {
	f.t.Helper()
	if diff := gocmp.Diff(lines, f.lines(r.Waived)); diff != "" {
		f.t.Errorf("waived (- expected, + got):\n%s", diff)
	}
}

func (f *flow) lines(findings []finding.Finding) []string {
	var out []string
	for _, x := range findings {
		if !ofHistory(x) {
			continue
		}
		line := fmt.Sprintf("%s %s %s from %s", x.Severity, x.Rule, f.name(x.Commit, "index"), f.name(x.Parent, "nothing"))
		if x.Entry != nil {
			line += ": " + entryName(x.Entry)
		}
		if x.EntryAfter != nil {
			line += " to " + entryName(x.EntryAfter)
		}
		for _, c := range x.Changes {
			if x.Entry != nil && x.EntryAfter == nil {
				break // all of the entry: TestWholeEntries
			}
			line += fmt.Sprintf("; %s %q to %q", c.Field, c.From, c.To)
		}
		if dir := strings.TrimSuffix(x.Path, logPath("")); dir != "" {
			line += " in " + dir
		}
		out = append(out, line)
	}
	return out
}

func entryName(e *finding.EntryRef) string { return fmt.Sprintf("#%d %s", e.Index, e.TaskID) }

func (f *flow) name(id, none string) string {
	for name, known := range f.ids {
		if known == id {
			return name
		}
	}
	return cmp.Or(id, none)
}

// digest is the digest of the entry that a word stands for.
func (f *flow) digest(word string) *small.Digest {
	f.t.Helper()
	log, problems := ledger.ReadLog([]byte(style{}.render([]logEntry{f.entry(word)})), small.Limits{})
	if log == nil {
		f.t.Fatal(problems)
	}
	return &log.Entries[0].Digest
}

// head is the head of a log that is written as words.
func (f *flow) head(words string) small.Digest {
	f.t.Helper()
	var entries []logEntry
	for word := range strings.FieldsSeq(words) {
		entries = append(entries, f.entry(word))
	}
	log, problems := ledger.ReadLog([]byte(style{}.render(entries)), small.Limits{})
	if log == nil {
		f.t.Fatal(problems)
	}
	return log.Head()
}

// wantAny demands exactly these findings, in any order: those at one line are
// ordered by commit id.
func (f *flow) wantAny(r *finding.Report, lines ...string) {
	f.t.Helper()
	got := f.lines(r.Findings)
	slices.Sort(got)
	slices.Sort(lines)
	if diff := gocmp.Diff(lines, got); diff != "" || r.Verdict == finding.Error {
		f.t.Errorf("verdict %s, findings (- expected, + got):\n%s", r.Verdict, diff)
	}
}
