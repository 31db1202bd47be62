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

// The rules of the family validate are about single files. They report the problems that were found while reading the files.

func checkMissing(w *read.Workspace, r *rule.Reporter) {
	if lacksDirectory(w) {
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

// lacksDirectory reports whether .small is not a directory, or is absent beside a lookalike.
func lacksDirectory(w *read.Workspace) bool {
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

// checkNotAFile reports artifacts that are no files, a .small that is no directory, and lookalikes that would take the place of one of them on
// some systems. It does not report a lookalike of an artifact that is missing, because checkMissing reports that.
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
		r.Add(finding.Finding{ // the finding is the same for both names, whichever has the workspace
			Path:    min(one, other),
			Message: fmt.Sprintf("%q and %q differ in nothing but case: macOS and Windows treat the two names as one, and can check out only one of them", min(one, other), max(one, other)),
			Fix:     "rename one of the two",
		})
	}
	reportProblems(small.ProblemNotAFile)(w, r)
}

// lookalikeFinding makes the finding about a path whose last element, name, looks like real.
func lookalikeFinding(path, name, real string) finding.Finding {
	return finding.Finding{
		Path:    path,
		Message: fmt.Sprintf("%q is not %s, but macOS and Windows treat the two names as one, and can check out only one of them", name, real),
		Fix:     fmt.Sprintf("rename it, or move its content into %s", real),
	}
}

// reportProblems makes a check that reports the problems of one kind.
func reportProblems(kind small.ProblemKind) func(*read.Workspace, *rule.Reporter) {
	return func(w *read.Workspace, r *rule.Reporter) {
		for _, a := range small.Artifacts {
			art := w.Artifacts[a]
			if art == nil {
				continue
			}
			for _, p := range art.Problems {
				if p.Kind != kind || isBaselined(w, a, p) {
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

// reportUnreadable makes a check that reports one kind of problem in a log that a commit made unreadable.
func reportUnreadable(kind small.ProblemKind) func(*logs.UnreadableLog, *rule.Reporter) {
	return func(u *logs.UnreadableLog, r *rule.Reporter) {
		if !u.Run.Source.IsFamilyLog(u.Path) && !u.ReportedByLogRule(kind) {
			u.Report(r, kind)
		}
	}
}

func isBaselined(w *read.Workspace, a small.Artifact, p small.Problem) bool {
	if a != small.Progress || w.Baseline == 0 {
		return false
	}
	index, ok := read.EntryIndex(p.Subject)
	return ok && index < w.Baseline
}

// checkLayout reports files that do not belong in .small, and directories. An empty directory can only be on disk.
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
