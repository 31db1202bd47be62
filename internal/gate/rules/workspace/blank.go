package workspace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// Blank is lint/blank: a text that must say something is blank.
var Blank = rule.New("lint/blank", finding.SeverityError, finding.StageLint, rule.On(checkBlank))

// checkBlank looks at the strings that the protocol requires to be non-blank.
func checkBlank(w *subject.Workspace, r *rule.Reporter) {
	blank := func(a small.Artifact, v *small.Value, subject string) {
		if s, ok := v.Str(); !ok || strings.TrimSpace(s) != "" {
			return
		}
		r.Add(finding.Finding{
			Path: w.Path(a), Line: v.Pos.Line, Column: v.Pos.Column, Subject: subject,
			Message: fmt.Sprintf("%s is blank", describeSubject(subject)),
			Fix:     w.Correct(a, subject, "fill it in, or remove what it belongs to"),
		})
	}
	items := func(a small.Artifact, list []*small.Value, key string, fields ...string) {
		for i, item := range list {
			for _, f := range fields {
				blank(a, item.Get(f), fmt.Sprintf("%s.%d.%s", key, i, f))
			}
		}
	}
	blank(small.Intent, w.Doc(small.Intent).Get("intent"), "intent")
	items(small.Constraints, w.List(small.Constraints, "constraints"), "constraints", "id", "rule")
	items(small.Plan, w.List(small.Plan, "tasks"), "tasks", "id", "title")
	entries, first := w.Entries()
	for i, e := range entries {
		blank(small.Progress, e.Get("task_id"), fmt.Sprintf("entries.%d.task_id", first+i))
	}
	blank(small.Handoff, w.Doc(small.Handoff).Get("summary"), "summary")
	blank(small.Handoff, w.Doc(small.Handoff).Get("resume").Get("current_task_id"), "resume.current_task_id")
}

// describeSubject names a subject for people, who count from 1: "tasks.2.title" is `"title" of task 3`.
func describeSubject(subject string) string { return describeParts(strings.Split(subject, ".")) }

func describeParts(parts []string) string {
	last := len(parts) - 1
	name := fmt.Sprintf("%q", parts[last])
	if last == 0 {
		return name
	}
	above := parts[:last]
	i, err := strconv.Atoi(parts[last])
	if err != nil {
		return name + " of " + describeParts(above)
	}
	if singular := map[string]string{"entries": "entry", "tasks": "task", "constraints": "constraint"}[parts[0]]; last == 1 && singular != "" {
		return fmt.Sprintf("%s %d", singular, i+1)
	}
	return fmt.Sprintf("item %d of %s", i+1, describeParts(above))
}
