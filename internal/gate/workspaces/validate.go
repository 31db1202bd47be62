package workspaces

import (
	"fmt"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/small"
)

// The validate family is about single files; its findings are the problems
// that were found while reading them.

func checkMissing(w *read.Workspace, r *rule.Reporter) {
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
			Fix:     w.PutBackMissing(a),
		})
	}
}

// noDirectory reports whether .small is not a directory, or is absent while there is a lookalike of it.
func noDirectory(w *read.Workspace) bool {
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
func checkNotAFile(w *read.Workspace, r *rule.Reporter) {
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
			r.Add(finding.OfProblem(f.Path, *read.NotAFile(f)))
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
func problemsOf(kind small.ProblemKind) func(*read.Workspace, *rule.Reporter) {
	return func(w *read.Workspace, r *rule.Reporter) {
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
					f.Fix = remedy.Situation{}.Undo(art.Path, nil)
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
func unreadable(kind small.ProblemKind) func(*logs.UnreadableLog, *rule.Reporter) {
	return func(u *logs.UnreadableLog, r *rule.Reporter) {
		if !u.Run.Source.OfFamily(u.Path) && !u.OfLogRule(kind) {
			u.Report(r, kind)
		}
	}
}

func underBaseline(w *read.Workspace, a small.Artifact, p small.Problem) bool {
	if a != small.Progress || w.Baseline == 0 {
		return false
	}
	index, ok := read.EntryIndex(p.Subject)
	return ok && index < w.Baseline
}

// checkLayout reports files and the directories above them. There can be an empty directory only on disk.
func checkLayout(w *read.Workspace, r *rule.Reporter) {
	reported := map[string]bool{}
	report := func(path, what string) {
		name, inside := strings.CutPrefix(path, small.InDir(w.Dir, "")+"/")
		if _, known := small.ArtifactOf(name); !inside || known && what == "" || reported[path] {
			return
		}
		reported[path] = true
		fix := "move it out of .small/"
		if top, _, _ := strings.Cut(name, "/"); top == "archive" || top == "runs" {
			fix = remedy.ByProgram(w.Dir, w.Commit, "Move what is no artifact", "small fix --runtime-layout")
		}
		r.Add(finding.Finding{
			Path:    path,
			Message: fmt.Sprintf("%s%q is not one of the six files that belong in .small/", what, name),
			Fix:     fix,
		})
	}
	for _, f := range w.Files {
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			report(dir, "the directory ")
		}
		what := ""
		if f.Mode == history.ModeDirectory {
			what = "the directory "
		}
		report(f.Path, what)
	}
}
