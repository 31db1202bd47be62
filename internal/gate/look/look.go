// Package look finds the entries of logs that a query selects, who made each, and which commit added it.
package look

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/owner"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Options say where to look.
type Options struct {
	// Revision is where the logs are read: a commit, the index or the work tree. Head is that commit, or else the commit that is checked out;
	// empty if there is none.
	Revision, Head string
	// Logs selects logs. If Own is set and selects any of these, only those are shown.
	Logs, Own func(path string) bool
	// Holder returns the agent that has leased an entry's task in a plan. It is leases.Holder.
	Holder func(plan *small.Value, e ledger.Entry) string
}

// look is one search.
type look struct {
	Options
	src *read.Source
	// commits caches the commits that added entries; plans caches the plans in them, by commit and directory.
	commits map[string]commit
	plans   map[[2]string]*small.Value
}

type commit struct {
	finding.Commit
	by owner.Owner
}

// At returns the entries that a query selects.
func At(ctx context.Context, src *read.Source, o Options, q Query) (*finding.Look, error) {
	l := &look{Options: o, src: src, commits: map[string]commit{}, plans: map[[2]string]*small.Value{}}
	out := &finding.Look{}
	if !history.Uncommitted(o.Revision) {
		out.Revision = o.Revision
	}
	files, err := src.JudgedFiles(ctx, o.Revision)
	if err != nil {
		return nil, err
	}
	v := &events{src: src, sessions: map[string]history.File{}, actors: map[string]string{}}
	files = v.only(slices.DeleteFunc(files, func(f history.File) bool { return !src.IsLog(f.Path) }))
	files = slices.DeleteFunc(files, func(f history.File) bool { return !o.Logs(f.Path) })
	if l.Own != nil && slices.ContainsFunc(files, func(f history.File) bool { return l.Own(f.Path) }) {
		files = slices.DeleteFunc(files, func(f history.File) bool { return !l.Own(f.Path) })
	}
	var tips []tip
	for _, f := range files {
		t, err := l.read(ctx, f)
		if err != nil {
			return nil, err
		}
		tips = append(tips, t)
		if src.IsImmutableRecord(f.Path) {
			continue // a single record; events.list adds its log
		}
		out.Logs = append(out.Logs, finding.LedgerState{Path: f.Path, Entries: t.log.Log.Len(), Head: src.Policy.LogFor(f.Path).Head(t.log.Log.Ledger)})
	}
	event := map[string]bool{} // kept from here: while the history is walked, the workspace may be of another profile
	for _, f := range files {
		event[f.Path] = src.IsImmutableRecord(f.Path)
	}
	origins, err := l.origins(ctx, tips)
	if err != nil {
		return nil, err
	}
	for i := range tips {
		for n, e := range tips[i].log.Log.Entries {
			r := finding.Recorded{Entry: e, Path: files[i].Path, Value: tips[i].values[n]}
			r.Commit.ID = origins.next(files[i].Path, e.Digest)
			if !event[r.Path] {
				out.Entries = append(out.Entries, r)
			} else if err := v.add(ctx, r, tips[i].text); err != nil {
				return nil, err
			}
		}
	}
	recorded, logs := v.list()
	out.Entries, out.Logs = append(out.Entries, recorded...), append(out.Logs, logs...)
	out.Entries, err = q.pick(out.Entries, len(tips) > 1, src.Now, func(r *finding.Recorded) error { return l.describe(ctx, r) })
	return out, err
}

// tip is a log at the revision, with its text, from which earlier versions are read cheaply.
type tip struct {
	path   string // log.File may have another path: equal files are read once
	log    *read.LedgerFile
	text   []byte
	values []*small.Value
}

func (l *look) read(ctx context.Context, f history.File) (t tip, err error) {
	logs := l.src.ReaderOf(f.Path)
	t.path = f.Path
	if t.log, err = logs.Read(ctx, f, nil); err != nil {
		return t, err
	}
	if !t.log.Readable() {
		p, line := t.log.Problems[0], ""
		if p.Pos.Line > 0 { // the text has a line
			line = fmt.Sprintf("line %d: ", p.Pos.Line)
		}
		return t, &failure.Error{Message: fmt.Sprintf("%s cannot be read as a log: %s%s", f.Path, line, p.Message), Remedy: remedy.ReadableAgain(f.Path, l.Revision, p.Hint)}
	}
	if t.text, _, err = read.ReadFile(ctx, l.src.Tree, f, l.src.Limits); err != nil {
		return t, err
	}
	t.values, err = logs.Records(ctx, f)()
	return t, err
}

// describe fills in the commit that added an entry, and who made the entry.
func (l *look) describe(ctx context.Context, r *finding.Recorded) error {
	if r.Commit.ID == "" {
		r.By = owner.Owner{}.OfEntry(r.AgentID, "")
		return nil
	}
	c, known := l.commits[r.Commit.ID]
	if !known {
		s, err := l.src.Signature(ctx, r.Commit.ID)
		if err != nil {
			return err
		}
		c.Commit = finding.Commit{ID: r.Commit.ID, Author: wording.Clip(s.Name), Subject: wording.Clip(s.Subject()), Date: s.Date}
		c.by = owner.Of(owner.Signs{Author: s.Name, Email: s.Email, Message: s.Message}, l.src.Policy)
		l.commits[r.Commit.ID] = c
	}
	r.Commit = c.Commit
	holder := ""
	if slices.ContainsFunc(c.by.Helpers, func(name string) bool { return name != c.by.Agent }) {
		plan, err := l.plan(ctx, r)
		if err != nil {
			return err
		}
		holder = l.Holder(plan, r.Entry)
	}
	r.By = c.by.OfEntry(r.AgentID, holder)
	return nil
}

// plan reads the plan of a log's workspace in the commit that added an entry; nil if there is none.
func (l *look) plan(ctx context.Context, r *finding.Recorded) (*small.Value, error) {
	dir, _ := small.WorkspaceOf(r.Path)
	at := [2]string{r.Commit.ID, dir}
	if plan, known := l.plans[at]; known {
		return plan, nil
	}
	l.plans[at] = nil
	files, err := l.src.Tree.List(ctx, r.Commit.ID, history.At(small.Plan.Path(dir)))
	if err == nil && len(files) > 0 {
		l.plans[at], err = l.src.Document(ctx, files[0])
	}
	return l.plans[at], err
}
