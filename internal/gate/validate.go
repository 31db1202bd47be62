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
	Checks: []RuleCheck{On(checkMissing)},
}

var ruleNotAFile = Rule{
	ID: "validate/not-a-file", Severity: SeverityError, Stage: StageValidate,
	Checks: []RuleCheck{On(checkNotAFile), On(unreadable(small.ProblemNotAFile))},
}

var ruleTooLarge = Rule{
	ID: "validate/too-large", Severity: SeverityError, Stage: StageValidate,
	Checks: []RuleCheck{On(problemsOf(small.ProblemTooLarge)), On(unreadable(small.ProblemTooLarge))},
}

var ruleYAML = Rule{
	ID: "validate/yaml", Severity: SeverityError, Stage: StageValidate,
	Checks: []RuleCheck{On(problemsOf(small.ProblemYAML)), On(unreadable(small.ProblemYAML))},
}

var ruleMultipleDocuments = Rule{
	ID: "validate/multiple-documents", Severity: SeverityError, Stage: StageValidate,
	Checks: []RuleCheck{On(problemsOf(small.ProblemDocuments)), On(unreadable(small.ProblemDocuments))},
}

var ruleSchema = Rule{
	ID: "validate/schema", Severity: SeverityError, Stage: StageValidate,
	Checks: []RuleCheck{On(problemsOf(small.ProblemSchema)), On(unreadable(small.ProblemSchema))},
}

func checkMissing(w *Workspace, r *Reporter) {
	if noDirectory(w) {
		return
	}
	for _, a := range small.Artifacts {
		if !a.Canonical() || w.artifacts[a] != nil {
			continue
		}
		r.Add(Finding{
			Path:    w.path(a),
			Message: fmt.Sprintf("%s is missing; the protocol requires it", a.FileName()),
			Fix:     fmt.Sprintf("restore or create %s", w.path(a)),
		})
	}
}

// noDirectory reports whether .small itself is no directory, or is not there at
// all and only a lookalike of it is.
func noDirectory(w *Workspace) bool {
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
func checkNotAFile(w *Workspace, r *Reporter) {
	seen := map[string]bool{}
	for _, f := range w.Files {
		_, name, ok := small.SplitPath(f.Path)
		if !ok {
			dir, element, _ := small.SplitLookalike(f.Path)
			if path := path.Join(dir, element); !seen[path] {
				seen[path] = true
				r.Add(lookalikeFinding(path, element, small.Dir))
			}
		} else if name == "" && f.Mode != modeDirectory {
			r.Add(problemFinding(f.Path, *notAFile(f)))
		} else if real, like := small.ArtifactLike(name); like && w.artifacts[real] != nil {
			r.Add(lookalikeFinding(f.Path, name, real.FileName()))
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
func problemsOf(kind small.ProblemKind) func(*Workspace, *Reporter) {
	return func(w *Workspace, r *Reporter) {
		for _, a := range small.Artifacts {
			art := w.artifacts[a]
			if art == nil {
				continue
			}
			for _, p := range art.problems {
				if p.Kind != kind || underBaseline(w, a, p) {
					continue
				}
				f := problemFinding(art.path, p)
				if a == small.Progress && art.log == nil && (art.doc == nil || p.Subject == "entries") {
					f.edits = unreadableAs(art.path, art.object, p)
				}
				r.Add(f)
			}
		}
	}
}

// unreadable makes the check that reports one kind of problem of a log that a commit
// has made unreadable.
func unreadable(kind small.ProblemKind) func(*UnreadableLog, *Reporter) {
	return func(u *UnreadableLog, r *Reporter) {
		if !u.isJob && !u.isCampaign {
			u.report(r, kind)
		}
	}
}

// report reports the problems of one kind, or of any.
func (u *UnreadableLog) report(r *Reporter, kind small.ProblemKind) {
	for _, p := range u.problems {
		if kind == "" || kind == p.Kind {
			f := problemFinding(u.path, p)
			f.edits = unreadableAs(u.path, u.object, p)
			r.Add(f)
		}
	}
}

// underBaseline reports whether a problem lies in an accepted entry.
func underBaseline(w *Workspace, a small.Artifact, p small.Problem) bool {
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
