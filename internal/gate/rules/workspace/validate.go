package workspace

import (
	"fmt"
	"path"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// The validate family speaks about files one by one; its findings are the
// problems that reading a file brought up.

// MissingArtifact is validate/missing-artifact: one of the five canonical artifacts is missing.
var MissingArtifact = rule.New("validate/missing-artifact", finding.SeverityError, finding.StageValidate, rule.On(checkMissing))

// NotAFile is validate/not-a-file.
var NotAFile = rule.New("validate/not-a-file", finding.SeverityError, finding.StageValidate, rule.On(checkNotAFile), rule.On(unreadable(small.ProblemNotAFile)))

// TooLarge is validate/too-large: an artifact is larger than the gate reads.
var TooLarge = rule.New("validate/too-large", finding.SeverityError, finding.StageValidate, rule.On(problemsOf(small.ProblemTooLarge)), rule.On(unreadable(small.ProblemTooLarge)))

// YAML is validate/yaml.
var YAML = rule.New("validate/yaml", finding.SeverityError, finding.StageValidate, rule.On(problemsOf(small.ProblemYAML)), rule.On(unreadable(small.ProblemYAML)))

// MultipleDocuments is validate/multiple-documents: an artifact holds more than one YAML document.
var MultipleDocuments = rule.New("validate/multiple-documents", finding.SeverityError, finding.StageValidate, rule.On(problemsOf(small.ProblemDocuments)), rule.On(unreadable(small.ProblemDocuments)))

// Schema is validate/schema: an artifact does not have the protocol's shape.
var Schema = rule.New("validate/schema", finding.SeverityError, finding.StageValidate, rule.On(problemsOf(small.ProblemSchema)), rule.On(unreadable(small.ProblemSchema)))

func checkMissing(w *subject.Workspace, r *rule.Reporter) {
	if noDirectory(w) {
		return
	}
	for _, a := range small.Artifacts {
		if !a.Canonical() || w.Artifacts[a] != nil {
			continue
		}
		r.Add(finding.Finding{
			Path:    w.Path(a),
			Message: fmt.Sprintf("%s is missing; the protocol requires it", a.FileName()),
			Fix:     w.PutBack(w.Path(a)) + "; or create it, if there was none",
		})
	}
}

// noDirectory reports whether .small is no directory, or absent beside a lookalike of it.
func noDirectory(w *subject.Workspace) bool {
	there := false
	for _, f := range w.Files {
		_, name, ok := small.SplitPath(f.Path)
		if ok && name == "" && f.Mode != history.ModeDirectory {
			return true
		}
		there = there || ok
	}
	return !there && len(w.Files) > 0
}

// checkNotAFile reports artifacts, and .small, that are not what they should be, and lookalikes that would take
// their place on some systems. If there is only a lookalike of an artifact, the artifact is missing.
func checkNotAFile(w *subject.Workspace, r *rule.Reporter) {
	seen := map[string]bool{}
	for _, f := range w.Files {
		_, name, ok := small.SplitPath(f.Path)
		if !ok {
			dir, element, _ := small.SplitLookalike(f.Path)
			if path := path.Join(dir, element); !seen[path] {
				seen[path] = true
				r.Add(lookalikeFinding(path, element, small.Dir))
			}
		} else if name == "" && f.Mode != history.ModeDirectory {
			r.Add(finding.OfProblem(f.Path, *subject.NotAFile(f)))
		} else if real, like := small.ArtifactLike(name); like && w.Artifacts[real] != nil {
			r.Add(lookalikeFinding(f.Path, name, real.FileName()))
		}
	}
	for _, twin := range w.Twins {
		one, other := twin, w.Dir[:len(twin)]
		r.Add(finding.Finding{ // the same, whichever of the two holds the workspace
			Path:    min(one, other),
			Message: fmt.Sprintf("%q and %q differ in nothing but case: macOS and Windows treat the two names as one, and can check out only one of them", min(one, other), max(one, other)),
			Fix:     "rename one of the two",
		})
	}
	problemsOf(small.ProblemNotAFile)(w, r)
}

// lookalikeFinding is about a path whose last element, name, looks like real.
func lookalikeFinding(path, name, real string) finding.Finding {
	return finding.Finding{
		Path:    path,
		Message: fmt.Sprintf("%q is not %s, but macOS and Windows treat the two names as one, and can check out only one of them", name, real),
		Fix:     fmt.Sprintf("rename it, or move its content into %s", real),
	}
}

// problemsOf makes a check that reports one kind of problem.
func problemsOf(kind small.ProblemKind) func(*subject.Workspace, *rule.Reporter) {
	return func(w *subject.Workspace, r *rule.Reporter) {
		for _, a := range small.Artifacts {
			art := w.Artifacts[a]
			if art == nil {
				continue
			}
			for _, p := range art.Problems {
				if p.Kind != kind || underBaseline(w, a, p) {
					continue
				}
				f := finding.OfProblem(art.Path, p)
				switch {
				case p.Conflict && (w.Commit == "" || history.Uncommitted(w.Commit)):
					f.Fix = w.Situation(small.Digest{}).Resolve(w.Dir)
				case p.Conflict && a == small.Progress:
					f.Fix = subject.Situation{}.Undo(art.Path, nil)
				case p.Conflict, p.Kind == small.ProblemNotAFile:
					f.Fix = w.PutBack(art.Path) + "; " + p.Hint
				}
				if a == small.Progress && art.Log == nil && (art.Doc == nil || p.Subject == "entries") {
					f.Edits = finding.Unreadable(art.Path, art.Object, p)
				}
				r.Add(f)
			}
		}
	}
}

// unreadable makes a check that reports one kind of problem of a log that a commit made unreadable.
func unreadable(kind small.ProblemKind) func(*subject.UnreadableLog, *rule.Reporter) {
	return func(u *subject.UnreadableLog, r *rule.Reporter) {
		if !u.IsJob && !u.IsCampaign {
			u.Report(r, kind)
		}
	}
}

func underBaseline(w *subject.Workspace, a small.Artifact, p small.Problem) bool {
	if a != small.Progress || w.Baseline == 0 {
		return false
	}
	index, ok := subject.EntryIndex(p.Subject)
	return ok && index < w.Baseline
}
