package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/threeway"
)

// followTaskIDs finds entries that name a task to which the merged plan gives another id. Unpublished entries of a commit being applied get the
// new id. Other entries stay, and a new entry, in c.Also, lists them. notes tell a person.
func (r *reconciliation) followTaskIDs(ctx context.Context, c *combine.Case) (notes []string, err error) {
	dir, _, _ := small.SplitPath(c.Path)
	if !read.IsProgress(c.Path) || r.sidesAgree(small.Plan.Path(dir)) {
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
		all := slices.Concat(entriesOf(m.Ours, m.Limits).Entries, entriesOf(m.Theirs, m.Limits).Entries)
		if i == 0 {
			c.Also = append(c.Also, entriesForNewIDs(c.Ours, newEntries(m.Ours, m.Bases, m.Limits), all, m.Renumbered(m.Ours, plan))...)
		}
		theirs := newEntries(m.Theirs, m.Bases, m.Limits)
		to := m.Renumbered(m.Theirs, plan)
		if t.Picked && len(to) > 0 {
			var replaced []string
			if theirs, replaced, err = r.replaceTaskIDs(ctx, c.Path, t, theirs, to); err != nil {
				return nil, err
			}
			notes = append(notes, replaced...)
		}
		c.Also = append(c.Also, entriesForNewIDs(*t, theirs, all, to)...)
	}
	for _, e := range c.Also {
		notes = append(notes, e[len(e)-1][1]+"; a new entry says so")
	}
	return notes, nil
}

// titlesDiffer reports whether a task id has different titles on two sides. Only then may tasks get other ids.
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

// mergedPlan returns the plan that a workspace will have: the staged plan if it is not in conflict, else the result of merging the plans.
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

// entriesForNewIDs makes a new entry for each task id in newIDs that some of entries, a side's entries, still name. The new entry lists them, each by
// a time that no other entry in all with this task id has.
func entriesForNewIDs(side combine.Version, entries, all []ledger.Entry, newIDs map[string]string) (out []combine.NewEntry) {
	const most = 5 // times that are listed
	byID := map[string][]ledger.Entry{}
	var ids []string
	for _, e := range entries {
		if newIDs[e.TaskID] != "" {
			if byID[e.TaskID] == nil {
				ids = append(ids, e.TaskID)
			}
			byID[e.TaskID] = append(byID[e.TaskID], e)
		}
	}
	for _, id := range ids {
		sameID := slices.DeleteFunc(slices.Clone(all), func(e ledger.Entry) bool { return e.TaskID != id })
		var times []string
		for i, e := range byID[id] {
			if i == most {
				times = append(times, fmt.Sprintf("%d more", len(byID[id])-most))
				break
			}
			times = append(times, ledger.TimeAmong(e, sameID))
		}
		listed := "its entry of %s still names"
		if len(times) > 1 {
			listed = "its entries of %s still name"
		}
		last := byID[id][len(byID[id])-1]
		entry := combine.NewEntry{{"task_id", newIDs[id]}}
		if last.Status != "" {
			entry = append(entry, [2]string{"status", last.Status})
		}
		out = append(out, append(entry, [2]string{"evidence", fmt.Sprintf("task %s of %s is now %s; "+listed+" the old id",
			wording.Quote(id), side.Name, wording.Quote(newIDs[id]), wording.List(times, "and"))}))
	}
	return out
}

// replaceTaskIDs replaces task ids in a side's unpublished new entries. It returns the entries that stay, and a note for each
// changed entry.
func (r *reconciliation) replaceTaskIDs(ctx context.Context, path string, side *combine.Version, entries []ledger.Entry, newIDs map[string]string) (stay []ledger.Entry, notes []string, err error) {
	naming := slices.DeleteFunc(slices.Clone(entries), func(e ledger.Entry) bool { return newIDs[e.TaskID] == "" })
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
	lines := combine.Lines(bytes.Clone(side.Data))
	for _, e := range slices.Backward(entries) { // backward, since a new id moves the text after it on the line
		if newIDs[e.TaskID] == "" || published[e.Digest] {
			stay = append(stay, e)
			continue
		}
		at := doc.Root.Get("entries").Items[e.Index].Get("task_id").Pos
		line := lines[at.Line-1]
		from := byteOffset(line, at.Column)
		if !bytes.HasPrefix(bytes.TrimLeft(line[from:], `"'`), []byte(e.TaskID)) { // for example, written with escapes
			stay = append(stay, e)
			continue
		}
		lines[at.Line-1] = slices.Concat(line[:from], bytes.Replace(line[from:], []byte(e.TaskID), []byte(newIDs[e.TaskID]), 1))
		notes = append(notes, fmt.Sprintf("the entry of %s now names task %s instead of %s", ledger.TimeAmong(e, naming), wording.Quote(newIDs[e.TaskID]), wording.Quote(e.TaskID)))
	}
	slices.Reverse(stay)
	slices.Reverse(notes)
	side.Data = combine.Join(lines)
	return stay, notes, nil
}
