package workspaces

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/gate/commits"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

func checkWorkspace(w *read.Workspace, r *rule.Reporter) {
	f := finding.Finding{Path: w.Path(small.Workspace), Subject: "kind"}
	art := w.Artifacts[small.Workspace]
	if art == nil && lacksDirectory(w) {
		return
	}
	if art == nil {
		f.Message = "workspace.small.yml is missing"
		f.Fix = w.PutBack(f.Path) + fmt.Sprintf("; or create it, with small_version, owner: \"agent\" and kind: %q", read.KindRepoRoot)
		r.Add(f)
		return
	}
	if art.Doc == nil {
		return // a rule of the validate family reports it
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
	if kind == read.KindExamples && !slices.Contains(w.Kinds, kind) {
		f.Fix = "to check an examples workspace, add --workspace examples (or any)"
	}
	r.Add(f)
}

// checkWorkspaceTypes reports values that programs cannot read: run must be a mapping or null, the other known keys must have scalars. Unknown
// keys may have any value.
func checkWorkspaceTypes(w *read.Workspace, root *small.Value, r *rule.Reporter) {
	report := func(v *small.Value, subject, expected string) {
		r.Add(finding.Finding{
			Path: w.Path(small.Workspace), Line: v.Pos.Line, Column: v.Pos.Column, Subject: subject,
			Message: fmt.Sprintf("%s is %s; %s is expected", read.DescribeSubject(subject), v.Kind, expected),
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

var replayIDForm = expression.Of(`^[0-9A-Fa-f]{64}$`)

// checkReplayID skips a value that is missing or not a string, because the schema rejects it.
func checkReplayID(w *read.Workspace, r *rule.Reporter) {
	v := w.Doc(small.Handoff).Get("replayId").Get("value")
	text, ok := v.Str()
	if !ok || replayIDForm().MatchString(text) {
		return
	}
	r.Add(finding.Finding{
		Path: w.Path(small.Handoff), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "replayId.value",
		Message: fmt.Sprintf("the handoff's replay id %q is not 64 hex digits", text),
		Fix:     "let the tool that wrote the handoff regenerate it",
	})
}

func checkHandoffTask(w *read.Workspace, r *rule.Reporter) {
	v := w.Doc(small.Handoff).Get("resume").Get("current_task_id")
	id, ok := v.Trimmed()
	if !ok || id == "" || strings.HasPrefix(id, ledger.MetaPrefix) || w.Doc(small.Plan) == nil || w.PlanTasks()[id] {
		return
	}
	r.Add(finding.Finding{
		Path: w.Path(small.Handoff), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "resume.current_task_id",
		Message: fmt.Sprintf("the handoff resumes at task %q, which the plan does not have", id),
		Fix:     "name a task of the plan, or null",
	})
}

// checkHandedOver judges the handoff only in the commit that writes it. The task may be completed later, before the next handoff is written.
func checkHandedOver(ctx context.Context, w *commits.Work, r *rule.Reporter) error {
	path := small.Handoff.Path(w.Dir)
	if w.Run.Scope.Whole || !w.Differs(path) {
		return nil
	}
	_, handoff, err := w.Documents(ctx, path)
	if err != nil {
		return err
	}
	_, plan, err := w.Documents(ctx, small.Plan.Path(w.Dir))
	if err != nil {
		return err
	}
	v := handoff.Get("resume").Get("current_task_id")
	id, _ := v.Trimmed()
	tasks, _ := read.TasksOf(plan)
	if task := tasks[id]; id != "" && task != nil && task.Is("completed") {
		r.Add(finding.Finding{
			Severity: finding.SeverityWarning, Path: path, Line: v.Pos.Line, Column: v.Pos.Column, Subject: "resume.current_task_id",
			Message: fmt.Sprintf("the handoff resumes at task %q, which is completed: nobody can go on there", id),
			Fix:     "name a task that is open, or null",
		})
	}
	return nil
}

func checkReplayMismatch(w *read.Workspace, r *rule.Reporter) {
	handoff, named := w.HandoffRun()
	v := w.Doc(small.Workspace).Get("run").Get("replay_id")
	current, set := v.Str()
	if !named || !set || handoff == current || !w.Ledger().HasRun(handoff) && w.Ledger().HasRun(current) {
		return // between `small init` and `small start` only the workspace's run has entries
	}
	fix := remedy.ByProgram(w.Dir, w.Commit, "Hand over", "small start")
	if w.Ledger().RunOver(handoff) {
		fix = remedy.BeginRun(w.Dir, w.Commit, "")
	}
	r.Add(finding.Finding{
		Path: w.Path(small.Workspace), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "run.replay_id",
		Message: fmt.Sprintf("the workspace is at run %.12s…, the handoff belongs to run %.12s…", current, handoff),
		Fix:     fix,
	})
}
