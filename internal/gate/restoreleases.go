package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// RestoreLeases is the plan of the workspace in one directory of a tree, with the leases that its tasks have in an older plan and have
// not any more, and the ids of these tasks; other bytes are as they were. Leases of the agent are left alone: it may have given them
// up. It is an error if a plan cannot be read, or is written in a way that cannot be changed.
func RestoreLeases(ctx context.Context, now, old history.Tree, revision, dir, agent string, opts run.Options) (plan Rewritten, tasks []string, err error) {
	opts = opts.WithDefaults()
	plan.Path = small.Plan.Path(dir)
	data, doc, err := planIn(ctx, now, "", dir, opts)
	if err != nil {
		return plan, nil, err
	}
	_, was, err := planIn(ctx, old, revision, dir, opts)
	if err != nil {
		return plan, nil, err
	}
	before, _ := subject.TasksOf(was.Root)
	source := yamltext.New(data)
	var edits []yamltext.Edit
	leased, order := subject.TasksOf(doc.Root)
	for _, id := range order {
		if before[id] == nil {
			continue
		}
		lease, _, _ := subject.LeaseOf(before[id].Value)
		if here := leased[id].Get("lease"); lease == nil || lease.Agent == agent || here != nil && here.Kind != small.Null {
			continue
		}
		value := before[id].Get("lease")
		text := fmt.Sprintf("{agent_id: %s, expires: %s}", value.Get("agent_id").Canonical(), value.Get("expires").Canonical())
		edit, err := source.SetMember(leased[id].Value, "lease", text)
		if err != nil {
			return plan, nil, notRestored(plan.Path, err)
		}
		edits, tasks = append(edits, edit), append(tasks, id)
		give(leased[id].Value, value)
	}
	plan.Content = source.Apply(edits)
	if after, _ := small.Parse(plan.Content, opts.Limits()); after == nil || after.Root.Canonical() != doc.Root.Canonical() {
		return plan, nil, notRestored(plan.Path, fmt.Errorf("the text there cannot be changed without changing the rest"))
	}
	return plan, tasks, nil
}

// give gives a task in memory its lease, to compare with what is written.
func give(task, lease *small.Value) {
	task.Fields = slices.DeleteFunc(task.Fields, func(f small.Field) bool { return f.Key == "lease" })
	task.Fields = append(task.Fields, small.Field{Key: "lease", Value: lease})
}

func notRestored(path string, err error) error {
	return &failure.Error{Message: fmt.Sprintf("%s was not changed: %v", path, err), Remedy: "copy the tasks' lease by hand", Err: err}
}

func planIn(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) ([]byte, *small.Document, error) {
	files, err := tree.List(ctx, revision, history.Workspaces(dir))
	if err != nil {
		return nil, nil, err
	}
	path := small.Plan.Path(dir)
	data, doc, err := declaration(ctx, tree, files, path, opts.Limits())
	if err == nil && doc == nil {
		where := "on disk"
		if revision != "" {
			where = "in " + history.Short(revision)
		}
		err = &failure.Error{Message: fmt.Sprintf("there is no %s %s", path, where), Remedy: "name the workspace's directory with --dir"}
	}
	return data, doc, err
}
