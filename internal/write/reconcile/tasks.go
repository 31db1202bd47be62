package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/threeway"
)

// followTaskIDs looks for entries of a log that name tasks to which the merged plan gives another id. Those that are put on top and that nobody else
// has get the new id. Others stay, and a new entry for the task says which they are. notes say so to a person.
func (r *reconciliation) followTaskIDs(ctx context.Context, c *combine.Case) (notes []string, err error) {
	dir, _, _ := small.SplitPath(c.Path)
	if !isWorkspaceLog(c.Path) || r.sidesAgree(small.Plan.Path(dir)) {
		return nil, nil
	}
	retitled, err := r.titlesDiffer(ctx, dir)
	if err != nil || !retitled {
		return nil, err
	}
	merges, err := r.readMerges(ctx, dir)
	if err != nil || !slices.ContainsFunc(merges, threeway.Merge.MayRenumber) {
		return nil, err
	}
	plan, err := r.mergedPlan(ctx, dir)
	if err != nil || plan == nil {
		return nil, err
	}
	for i := range merges {
		m, t := merges[i], &c.Theirs[i]
		all := slices.Concat(readWorkspaceLedger(m.Ours.Files[small.Progress], m.Limits).Entries, readWorkspaceLedger(m.Theirs.Files[small.Progress], m.Limits).Entries)
		if i == 0 {
			c.Also = append(c.Also, entriesForNewIDs(c.Ours, newEntries(m.Ours, m.Bases, m.Limits), all, m.Renumbered(m.Ours, plan))...)
		}
		theirs := newEntries(m.Theirs, m.Bases, m.Limits)
		to := m.Renumbered(m.Theirs, plan)
		if t.Picked && len(to) > 0 {
			var done []string
			if theirs, done, err = r.replaceTaskIDs(ctx, c.Path, t, theirs, to); err != nil {
				return nil, err
			}
			notes = append(notes, done...)
		}
		c.Also = append(c.Also, entriesForNewIDs(*t, theirs, all, to)...)
	}
	for _, e := range c.Also {
		notes = append(notes, e[len(e)-1][1]+"; a new entry says so")
	}
	return notes, nil
}

// titlesDiffer reports whether a task has another title on another side: only then a plan's tasks may get other ids.
func (r *reconciliation) titlesDiffer(ctx context.Context, dir string) (bool, error) {
	var plans [][]byte
	for _, s := range r.op.sides() {
		plan, err := r.readSide(ctx, s, small.Plan.Path(dir))
		if err != nil {
			return false, err
		}
		plans = append(plans, plan)
	}
	return slices.ContainsFunc(plans[1:], func(plan []byte) bool { return threeway.Retitled(plans[0], plan, r.limits()) }), nil
}

// mergedPlan is a workspace's plan as it will be: the staged one if it is in no conflict, else that of the merge.
func (r *reconciliation) mergedPlan(ctx context.Context, dir string) (plan []byte, err error) {
	path := small.Plan.Path(dir)
	if r.index != nil && r.op.kind != "" && r.opts.Plan == "" {
		conflict, err := r.inConflict(ctx, path)
		if err == nil && !conflict {
			conflict, err = r.hasDoubledTasks(ctx, path)
		}
		if err != nil {
			return nil, err
		}
		if !conflict {
			return r.readStaged(ctx, path)
		}
	}
	done := map[small.Artifact][]byte{}
	for _, a := range []small.Artifact{small.Workspace, small.Plan} {
		if done[a], _, err = r.mergeArtifact(ctx, dir, a, a == small.Plan && r.op.kind == "" && r.opts.Plan == "", done); err != nil {
			return nil, err
		}
	}
	return done[small.Plan], nil
}

// entriesForNewIDs are entries for tasks that have a new id: each names those of a side's entries that stay under the old one, by times that tell
// them apart from all others of the old id.
func entriesForNewIDs(side combine.Version, entries, all []ledger.Entry, to map[string]string) (out []combine.NewEntry) {
	const most = 5 // times
	byID := map[string][]ledger.Entry{}
	var ids []string
	for _, e := range entries {
		if to[e.TaskID] != "" {
			if byID[e.TaskID] == nil {
				ids = append(ids, e.TaskID)
			}
			byID[e.TaskID] = append(byID[e.TaskID], e)
		}
	}
	for _, id := range ids {
		named := slices.DeleteFunc(slices.Clone(all), func(e ledger.Entry) bool { return e.TaskID != id })
		var times []string
		for i, e := range byID[id] {
			if i == most {
				times = append(times, fmt.Sprintf("%d more", len(byID[id])-most))
				break
			}
			times = append(times, ledger.TimeAmong(e, named))
		}
		noun := "entry"
		if len(times) > 1 {
			noun = "entries"
		}
		last := byID[id][len(byID[id])-1]
		entry := combine.NewEntry{{"task_id", to[id]}}
		if last.Status != "" {
			entry = append(entry, [2]string{"status", last.Status})
		}
		out = append(out, append(entry, [2]string{"evidence", fmt.Sprintf("task %s of %s is %s now, also in its %s of %s",
			wording.Quote(id), side.Name, wording.Quote(to[id]), noun, wording.List(times, "and"))}))
	}
	return out
}

// replaceTaskIDs gives those of a side's new entries that nobody else has the new ids of their tasks. It returns the other ones.
func (r *reconciliation) replaceTaskIDs(ctx context.Context, path string, side *combine.Version, entries []ledger.Entry, to map[string]string) (stay []ledger.Entry, notes []string, err error) {
	naming := slices.DeleteFunc(slices.Clone(entries), func(e ledger.Entry) bool { return to[e.TaskID] == "" })
	if len(naming) == 0 {
		return entries, nil, nil
	}
	published, err := r.findPublished(ctx, path, naming)
	if err != nil {
		return nil, nil, err
	}
	doc, _ := small.Parse(side.Data, r.limits())
	if doc == nil {
		return entries, nil, nil
	}
	lines := slices.Collect(bytes.Lines(bytes.Clone(side.Data)))
	for _, e := range slices.Backward(entries) { // what stands after an id on its line moves
		if to[e.TaskID] == "" || published[e.Digest] {
			stay = append(stay, e)
			continue
		}
		at := doc.Root.Get("entries").Items[e.Index].Get("task_id").Pos
		line := lines[at.Line-1]
		from := byteOffset(line, at.Column)
		if !bytes.HasPrefix(bytes.TrimLeft(line[from:], `"'`), []byte(e.TaskID)) { // written with escapes, say
			stay = append(stay, e)
			continue
		}
		lines[at.Line-1] = slices.Concat(line[:from], bytes.Replace(line[from:], []byte(e.TaskID), []byte(to[e.TaskID]), 1))
		notes = append(notes, fmt.Sprintf("the entry of %s names task %s now, and not %s", ledger.TimeAmong(e, naming), wording.Quote(to[e.TaskID]), wording.Quote(e.TaskID)))
	}
	slices.Reverse(stay)
	slices.Reverse(notes)
	side.Data = bytes.Join(lines, nil)
	return stay, notes, nil
}
