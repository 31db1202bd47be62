package workspace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// Workspace is verify/workspace.
var Workspace = rule.New("verify/workspace", finding.SeverityError, finding.StageVerify, rule.On(checkWorkspace))

func checkWorkspace(w *subject.Workspace, r *rule.Reporter) {
	f := finding.Finding{Path: w.Path(small.Workspace), Subject: "kind"}
	art := w.Artifacts[small.Workspace]
	if art == nil && noDirectory(w) {
		return
	}
	if art == nil {
		f.Message = "workspace.small.yml is missing"
		f.Fix = w.PutBack(f.Path) + fmt.Sprintf("; or create it, with small_version, owner: \"agent\" and kind: %q", subject.KindRepoRoot)
		r.Add(f)
		return
	}
	if art.Doc == nil {
		return // a rule of the validate family speaks
	}
	checkWorkspaceTypes(w, art.Doc.Root, r)
	v := art.Doc.Root.Get("kind")
	kind, isString := v.Str()
	if isString && slices.Contains(w.Kinds, kind) {
		return
	}
	wanted := strings.Join(w.Kinds, " or ")
	switch {
	case v == nil:
		f.Line, f.Column = art.Doc.Root.Pos.Line, art.Doc.Root.Pos.Column
		f.Message = fmt.Sprintf(`the key "kind" is missing; expected %s`, wanted)
	case !isString:
		f.Line, f.Column = v.Pos.Line, v.Pos.Column
		f.Message = fmt.Sprintf(`"kind" is %s; expected %s`, v.Kind, wanted)
	default:
		f.Line, f.Column = v.Pos.Line, v.Pos.Column
		f.Message = fmt.Sprintf("the workspace's kind is %q; expected %s", kind, wanted)
	}
	f.Fix = fmt.Sprintf("write kind: %q", w.Kinds[0])
	if kind == subject.KindExamples && !slices.Contains(w.Kinds, kind) {
		f.Fix = "to check an examples workspace, add --workspace examples (or any)"
	}
	r.Add(f)
}

// checkWorkspaceTypes reports values that programs cannot read: run is a mapping or null, the others are scalars
// of any type. Unknown keys may hold anything.
func checkWorkspaceTypes(w *subject.Workspace, root *small.Value, r *rule.Reporter) {
	report := func(v *small.Value, subject, expected string) {
		r.Add(finding.Finding{
			Path: w.Path(small.Workspace), Line: v.Pos.Line, Column: v.Pos.Column, Subject: subject,
			Message: fmt.Sprintf("%s is %s; %s is expected", describeSubject(subject), v.Kind, expected),
			Fix:     "correct the value, or remove the key",
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
