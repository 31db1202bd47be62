package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleWorkspace = Rule{
	ID: "verify/workspace", Severity: SeverityError, Stage: StageVerify,
	Checks: []RuleCheck{On(checkWorkspace)},
}

// The kinds of workspace that the protocol knows.
const (
	KindRepoRoot = "repo-root"
	KindExamples = "examples"
)

func checkWorkspace(w *Workspace, r *Reporter) {
	f := Finding{Path: w.path(small.Workspace), subject: "kind"}
	art := w.artifacts[small.Workspace]
	if art == nil && noDirectory(w) {
		return
	}
	if art == nil {
		f.Message = "workspace.small.yml is missing"
		f.Fix = fmt.Sprintf("create it with small_version, owner: \"agent\" and kind: %q", KindRepoRoot)
		r.Add(f)
		return
	}
	if art.doc == nil {
		return // a rule of the validate family speaks
	}
	checkWorkspaceTypes(w, art.doc.Root, r)
	v := art.doc.Root.Get("kind")
	kind, isString := v.Str()
	if isString && slices.Contains(w.Kinds, kind) {
		return
	}
	wanted := strings.Join(w.Kinds, " or ")
	switch {
	case v == nil:
		f.Line, f.Column = art.doc.Root.Pos.Line, art.doc.Root.Pos.Column
		f.Message = fmt.Sprintf(`the key "kind" is missing; expected %s`, wanted)
	case !isString:
		f.Line, f.Column = v.Pos.Line, v.Pos.Column
		f.Message = fmt.Sprintf(`"kind" is %s; expected %s`, v.Kind, wanted)
	default:
		f.Line, f.Column = v.Pos.Line, v.Pos.Column
		f.Message = fmt.Sprintf("the workspace's kind is %q; expected %s", kind, wanted)
	}
	f.Fix = fmt.Sprintf("write kind: %q", w.Kinds[0])
	if kind == KindExamples && !slices.Contains(w.Kinds, kind) {
		f.Fix = "for an examples workspace, check it with --workspace examples (or any)"
	}
	r.Add(f)
}

// checkWorkspaceTypes reports the values that programs cannot read: run is a
// mapping, or null, and the others are scalars of any type. Keys that the
// protocol does not know may hold anything.
func checkWorkspaceTypes(w *Workspace, root *small.Value, r *Reporter) {
	report := func(v *small.Value, subject, expected string) {
		r.Add(Finding{
			Path: w.path(small.Workspace), Line: v.Pos.Line, Column: v.Pos.Column, subject: subject,
			Message: fmt.Sprintf("%s is %s; %s is expected", describeSubject(subject), v.Kind, expected),
			Fix:     "correct the value, or take the key out",
		})
	}
	run := root.Get("run")
	if run != nil && run.Kind != small.Map && run.Kind != small.Null {
		report(run, "run", "a mapping")
	}
	single := func(v *small.Value, subject string) {
		if v != nil && (v.Kind == small.List || v.Kind == small.Map) {
			report(v, subject, "a single value")
		}
	}
	for _, key := range []string{"small_version", "owner", "created_at", "updated_at"} {
		single(root.Get(key), key)
	}
	single(run.Get("replay_id"), "run.replay_id")
}
