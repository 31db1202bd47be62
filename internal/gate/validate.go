package gate

import (
	"fmt"
	"path"

	"github.com/small-gate/small-gate/internal/small"
)

// The validate family speaks about files one by one; its findings are the
// problems that reading a file brought up.

var ruleMissingArtifact = Rule{
	ID: "validate/missing-artifact", Severity: SeverityError, Stage: StageValidate,
	Summary: "one of the five canonical artifacts is not there",
	Why: `Five files answer five questions: why the work exists, what it must not do, what comes next, what
was done, and where to go on. Whoever picks the work up reads all of them, so a missing one is a gap
that gets filled by guessing. It usually goes missing in a cleanup, through a pattern in .gitignore
that is too wide, or because "git add" named only some of the files. Bring it back with
"git restore --source=COMMIT -- PATH", or create it: a log without work is "entries: []".`,
	Wrong: `
-- .small/constraints.small.yml --
# deleted
`,
	Right: `
-- .small/constraints.small.yml --
small_version: "1.0.0"
owner: "human"
constraints:
  - {id: "keep-api", rule: "Public functions stay as they are", severity: "error"}
`,
	Snapshot: checkMissing,
}

var ruleNotAFile = Rule{
	ID: "validate/not-a-file", Severity: SeverityError, Stage: StageValidate,
	Summary: "an artifact is a symbolic link, a submodule or a Git LFS pointer, or some systems find another file under its name",
	Why: `What is committed must be the content itself. A symbolic link commits a path, a submodule a commit
id, a Git LFS pointer a checksum: what they stand for can change, or be missing, while the commit
stays the same and every review looks fine. Links come from sharing one file between workspaces,
pointers from a pattern such as *.yml among the LFS patterns in .gitattributes. Put an ordinary file
there, and take .small/ out of the LFS patterns. For the same reason no other name may differ from
.small, or from a file in it, in nothing but the case of letters, or dots and spaces at its end: on
macOS and Windows both are one file, and which of the two a checkout leaves there is chance.`,
	Wrong: `
-- .small/intent.small.yml --
# symlink: ../docs/intent.yml
`,
	Right: `
-- .small/intent.small.yml --
small_version: "1.0.0"
owner: "human"
intent: "Import the billing export"
scope: {include: ["importer/**"], exclude: []}
success_criteria: ["A stopped import continues"]
`,
	Snapshot: checkNotAFile,
}

var ruleTooLarge = Rule{
	ID: "validate/too-large", Severity: SeverityError, Stage: StageValidate,
	Summary: "an artifact is larger than the gate reads",
	Why: `The gate reads a file before it can judge it, so there is a limit: 16 MiB, more than ten times the
largest log seen in public. A log that grows past it nearly always holds pasted output: test runs,
diffs, whole files. Entries are never changed once they are committed, so what is pasted stays for
ever. Keep outputs where they belong and refer to them by link, commit or command_sha256. If the
log is honestly that long, raise the limit in .small-gate.yml, as "limits: {file_size: BYTES}".`,
	Wrong: `
-- .small-gate.yml --
version: 1
limits: {file_size: 300}
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    command: "go test ./importer"
    evidence: |
      === RUN   TestRead
      --- PASS: TestRead (0.02s)
      === RUN   TestReadTwice
      --- PASS: TestReadTwice (0.04s)
      PASS
      ok   importer  0.311s
`,
	Right: `
-- .small-gate.yml --
version: 1
limits: {file_size: 300}
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    command: "go test ./importer"
    evidence: "both tests pass"
    link: "https://ci.example.com/build/7"
`,
	Snapshot: problemsOf(small.ProblemTooLarge),
}

var ruleYAML = Rule{
	ID: "validate/yaml", Severity: SeverityError, Stage: StageValidate,
	Summary: "an artifact is not a YAML mapping: syntax, encoding, duplicate keys, conflict markers, runaway aliases",
	Why: `A file that YAML readers cannot read, or read differently, says nothing that anybody could be held
to. The usual cause is a conflict that was resolved by hand: markers that stayed, or two entries
that became one with every key twice, of which most readers silently keep the last. Tabs,
encodings other than UTF-8 and anchors that multiply do the same. Go to the line that the message
names; when in doubt, take the last good version from history and append to that again.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - task_id: "task-1"
    timestamp: "2026-03-01T09:10:00.000000000Z"
    evidence: "the export can be read"
    timestamp: "2026-03-01T09:20:00.000000000Z"
    evidence: "1204 rows counted"
`,
	Right: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - task_id: "task-1"
    timestamp: "2026-03-01T09:10:00.000000000Z"
    evidence: "the export can be read"
  - task_id: "task-1"
    timestamp: "2026-03-01T09:20:00.000000000Z"
    evidence: "1204 rows counted"
`,
	Snapshot: problemsOf(small.ProblemYAML),
}

var ruleMultipleDocuments = Rule{
	ID: "validate/multiple-documents", Severity: SeverityError, Stage: StageValidate,
	Summary: "an artifact holds more than one YAML document",
	Why: `A line of three dashes ends a YAML document and begins another. Most readers look at the first one
alone, so whatever follows is carried along unread: work that nobody sees, or changes that nobody
judges. It happens when a tool writes "---" before each thing that it appends, or when two files are
put together with cat. Move the content into the first document and remove the line.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries: []
---
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "the export can be read"
`,
	Right: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "the export can be read"
`,
	Snapshot: problemsOf(small.ProblemDocuments),
}

var ruleSchema = Rule{
	ID: "validate/schema", Severity: SeverityError, Stage: StageValidate,
	Summary: "an artifact does not have the protocol's shape",
	Why: `Programs of several makers write and read these files, so names and forms are agreed on. A key that
the protocol does not know is mostly a misspelt one, and nobody will ever read what stands there. A
wrong type is mostly a missing pair of quotes: YAML takes a bare 1234567 for a number and a bare
timestamp for a date. Write what the message asks for; anything else worth keeping goes into
evidence or notes.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    commit: 1234567
    author: "importer-agent"
`,
	Right: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    commit: "1234567"
    notes: "recorded by importer-agent"
`,
	Snapshot: problemsOf(small.ProblemSchema),
}

func checkMissing(w *Workspace, r *reporter) {
	if w.noDirectory() {
		return
	}
	for _, a := range small.Artifacts {
		if !a.Canonical() || w.artifacts[a] != nil {
			continue
		}
		r.add(Finding{
			Path:    w.path(a),
			Message: fmt.Sprintf("%s is missing; the protocol requires it", a.FileName()),
			Fix:     fmt.Sprintf("restore or create %s", w.path(a)),
		})
	}
}

// noDirectory reports whether .small itself is no directory, or is not there at
// all and only a lookalike of it is.
func (w *Workspace) noDirectory() bool {
	there := false
	for _, f := range w.Files {
		_, name, ok := small.SplitPath(f.Path)
		if ok && name == "" && f.Mode != modeDirectory {
			return true
		}
		there = there || ok
	}
	return !there && len(w.Files) > 0
}

// checkNotAFile reports the artifacts, and .small itself where it is no
// directory, and what would take the place of either on some systems. Where an
// artifact is not there, and only a lookalike of it is, it is missing.
func checkNotAFile(w *Workspace, r *reporter) {
	told := map[string]bool{}
	for _, f := range w.Files {
		_, name, ok := small.SplitPath(f.Path)
		if !ok {
			dir, element, _ := small.SplitLookalike(f.Path)
			if path := path.Join(dir, element); !told[path] {
				told[path] = true
				r.add(lookalikeFinding(path, element, small.Dir))
			}
		} else if name == "" && f.Mode != modeDirectory {
			r.add(problemFinding(f.Path, *notAFile(f)))
		} else if real, like := small.ArtifactLike(name); like && w.artifacts[real] != nil {
			r.add(lookalikeFinding(f.Path, name, real.FileName()))
		}
	}
	problemsOf(small.ProblemNotAFile)(w, r)
}

// lookalikeFinding is about a path whose last element, name, is a lookalike of
// real.
func lookalikeFinding(path, name, real string) Finding {
	return Finding{
		Path:    path,
		Message: fmt.Sprintf("%q is not %s, but macOS and Windows take the one for the other: there, only one of the two can be checked out", name, real),
		Fix:     fmt.Sprintf("give it another name, or move what it holds into %s", real),
	}
}

// problemsOf makes the check of a rule that reports one kind of problem.
func problemsOf(kind small.ProblemKind) func(*Workspace, *reporter) {
	return func(w *Workspace, r *reporter) {
		for _, a := range small.Artifacts {
			art := w.artifacts[a]
			if art == nil {
				continue
			}
			for _, p := range art.problems {
				if p.Kind != kind || w.underBaseline(a, p) {
					continue
				}
				f := problemFinding(art.path, p)
				if a == small.Progress && art.log == nil && (art.doc == nil || p.Subject == "entries") {
					f.edits = unreadableAs(art.path, art.object, p)
				}
				r.add(f)
			}
		}
	}
}

// underBaseline reports whether a problem lies in an accepted entry.
func (w *Workspace) underBaseline(a small.Artifact, p small.Problem) bool {
	if a != small.Progress || w.baseline == 0 {
		return false
	}
	index, ok := entryIndex(p.Subject)
	return ok && index < w.baseline
}

// entryIndex reads the entry's index out of a subject such as
// "entries.3.status".
func entryIndex(subject string) (int, bool) {
	var i int
	if _, err := fmt.Sscanf(subject, "entries.%d", &i); err != nil {
		return 0, false
	}
	return i, true
}

func problemFinding(path string, p small.Problem) Finding {
	return Finding{
		Path: path, Line: p.Pos.Line, Column: p.Pos.Column,
		Message: p.Message, Fix: p.Hint, subject: p.Subject,
	}
}

// unreadableAs is the key under which a log that cannot be read is reported
// once: at the commit that brought it, and not again at the tip.
func unreadableAs(path, object string, p small.Problem) []editKey {
	return []editKey{{path: path, to: object + " " + string(p.Kind)}}
}

// ruleOfProblem is the rule that a problem of a kind belongs to.
func ruleOfProblem(kind small.ProblemKind) *Rule {
	for i := range rules {
		if rules[i].ID == "validate/"+string(kind) {
			return &rules[i]
		}
	}
	return &ruleYAML
}
