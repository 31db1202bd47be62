package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

// The validate family speaks about files one by one; its findings are the
// problems that reading a file brought up.

var ruleMissingArtifact = Rule{
	ID: "validate/missing-artifact", Severity: SeverityError, Stage: StageValidate,
	Summary:  "one of the five canonical artifacts is not there",
	Snapshot: checkMissing,
}

var ruleNotAFile = Rule{
	ID: "validate/not-a-file", Severity: SeverityError, Stage: StageValidate,
	Summary:  "an artifact is a symbolic link, a submodule or a Git LFS pointer",
	Snapshot: checkNotAFile,
}

var ruleTooLarge = Rule{
	ID: "validate/too-large", Severity: SeverityError, Stage: StageValidate,
	Summary:  "an artifact is larger than the gate reads",
	Snapshot: problemsOf(small.ProblemTooLarge),
}

var ruleYAML = Rule{
	ID: "validate/yaml", Severity: SeverityError, Stage: StageValidate,
	Summary:  "an artifact is not a YAML mapping: syntax, encoding, duplicate keys, conflict markers, runaway aliases",
	Snapshot: problemsOf(small.ProblemYAML),
}

var ruleMultipleDocuments = Rule{
	ID: "validate/multiple-documents", Severity: SeverityError, Stage: StageValidate,
	Summary:  "an artifact holds more than one YAML document",
	Snapshot: problemsOf(small.ProblemDocuments),
}

var ruleSchema = Rule{
	ID: "validate/schema", Severity: SeverityError, Stage: StageValidate,
	Summary:  "an artifact does not have the protocol's shape",
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

// noDirectory reports whether .small itself is no directory.
func (w *Workspace) noDirectory() bool {
	for _, f := range w.Files {
		if _, name, _ := small.SplitPath(f.Path); name == "" {
			return true
		}
	}
	return false
}

// checkNotAFile reports the artifacts, and .small itself where it is no
// directory.
func checkNotAFile(w *Workspace, r *reporter) {
	for _, f := range w.Files {
		if _, name, _ := small.SplitPath(f.Path); name == "" {
			r.add(problemFinding(f.Path, *notAFile(f)))
		}
	}
	problemsOf(small.ProblemNotAFile)(w, r)
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
				if p.Kind == kind && !w.underBaseline(a, p) {
					r.add(problemFinding(art.path, p))
				}
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

// ruleOfProblem is the rule that a problem of a kind belongs to.
func ruleOfProblem(kind small.ProblemKind) *Rule {
	for i := range rules {
		if rules[i].ID == "validate/"+string(kind) {
			return &rules[i]
		}
	}
	return &ruleYAML
}
