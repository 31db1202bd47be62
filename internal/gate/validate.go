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
	Snapshot: checkMissing,
}

var ruleNotAFile = Rule{
	ID: "validate/not-a-file", Severity: SeverityError, Stage: StageValidate,
	Snapshot: checkNotAFile,
}

var ruleTooLarge = Rule{
	ID: "validate/too-large", Severity: SeverityError, Stage: StageValidate,
	Snapshot: problemsOf(small.ProblemTooLarge),
}

var ruleYAML = Rule{
	ID: "validate/yaml", Severity: SeverityError, Stage: StageValidate,
	Snapshot: problemsOf(small.ProblemYAML),
}

var ruleMultipleDocuments = Rule{
	ID: "validate/multiple-documents", Severity: SeverityError, Stage: StageValidate,
	Snapshot: problemsOf(small.ProblemDocuments),
}

var ruleSchema = Rule{
	ID: "validate/schema", Severity: SeverityError, Stage: StageValidate,
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
