package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/small"
)

// entry is a path's mode and object in a commit; empty if there is none.
func (m *mending) entry(ctx context.Context, id, path string) (string, error) {
	line, err := m.git.run(ctx, nil, "ls-tree", "--full-tree", "-z", id, "--", path)
	if fields := strings.Fields(string(line)); len(fields) > 2 { // mode, kind, object
		return fields[0] + " " + fields[2], nil
	}
	return "", err
}

// text is the log of a commit; nil if it has none that can be read as a file.
func (m *mending) text(ctx context.Context, id string) ([]byte, error) {
	if text, known := m.texts[id]; known {
		return text, nil
	}
	entry, err := m.entry(ctx, id, m.Log())
	mode, object, _ := strings.Cut(entry, " ")
	if err == nil && strings.HasPrefix(mode, "100") {
		m.texts[id], err = m.git.run(ctx, nil, "cat-file", "blob", object)
	}
	return m.texts[id], err
}

// log is what the log of a commit becomes, nil if it stays, and entries that are back and of which it had no version.
func (m *mending) log(ctx context.Context, id string, old, parents []string, source string) ([]byte, []ledger.Entry, error) {
	if source != "" {
		parents = []string{source}
	}
	sides, file, sound, err := m.look(ctx, id, old, parents)
	switch {
	case err != nil || sound:
		return nil, nil, err
	case file == nil && id != m.first && m.texts[old[0]] != nil:
		return nil, nil, &failure.Error{
			Message: fmt.Sprintf("%s takes %s away: what came before cannot be mended", history.Short(id), m.Log()), Remedy: "mend that commit first: " + m.command(history.Short(id)),
		}
	}
	var back splice.PutBack
	for _, sides.Unmarked = range []bool{true, false} { // the merge's own entry explains it again, or else a new one
		text := []byte(splice.Empty)
		if len(m.logs) > 0 {
			resolved, err := sides.Resolve()
			if err != nil {
				return nil, nil, m.cannot(ctx, id, err)
			}
			text = resolved.Text
		}
		if back, err = m.putBack(ctx, id, sides, text, file); err != nil {
			return nil, nil, err
		}
		if log, _ := ledger.ReadLog(back.Text, m.Limits); log != nil && m.accepts(nil, log.Ledger) {
			break
		}
	}
	return back.Text, back.Gone, nil
}

// putBack is what the log of a commit becomes after that of its parents. What a remote-tracking branch has keeps its time, and stands where it
// belongs by that: else it would be there twice once that branch is merged.
func (m *mending) putBack(ctx context.Context, id string, sides splice.Case, text, file []byte) (back splice.PutBack, err error) {
	again := func() (err error) {
		if back, err = splice.PutBackOf(text, file, func(_, _ *ledger.Ledger) bool { return false }, m.Now, m.Limits); err != nil {
			err = &failure.Error{Message: fmt.Sprintf("%s of a parent of %s cannot be read: %v", m.Log(), history.Short(id), err), Err: err}
		}
		return err
	}
	if err = again(); err != nil {
		return back, err
	}
	published, err := m.published(ctx, id, slices.DeleteFunc(slices.Clone(back.Moved), func(e ledger.Entry) bool {
		at, ok := ledger.ParseTimestamp(e.Timestamp)
		return !ok || at.After(m.Now.Add(ledger.ClockTolerance)) || ledger.HasCredential(e)
	}))
	if err != nil || len(published) == 0 {
		return back, err
	}
	sides.Ours, sides.Theirs, sides.Unmarked = splice.Version{Name: "what is there", Data: text}, nil, false
	resolved, err := sides.Insert(splice.Version{Name: history.Short(id), Data: file}, published)
	if err == nil {
		text = resolved.Text
		return back, again()
	}
	if earlier, asked := m.earlier(ctx, id); asked != nil || earlier != "" {
		return back, m.cannot(ctx, id, err)
	}
	return back, nil // there is no place for it: a baseline fixes that part of the log, say
}

// published are those of some entries of a commit that a remote-tracking branch has.
func (m *mending) published(ctx context.Context, id string, entries []ledger.Entry) (map[small.Digest]bool, error) {
	if len(entries) == 0 || onlyMergesInsert(m.Policy) {
		return nil, nil
	}
	r := newResolving(m.repo, m.git, Options{Policy: m.Policy, MaxFileSize: m.Limits.MaxFileSize, Now: m.Now})
	r.op = &operation{ours: side{id: id}}
	if _, err := r.list(ctx, id); err != nil {
		return nil, err
	}
	found, err := r.published(ctx, m.Log(), entries)
	maps.DeleteFunc(found, func(_ small.Digest, is bool) bool { return !is })
	return found, err
}

// look reads the log of a commit and those of its parents, and reports whether it has lost nothing of theirs.
func (m *mending) look(ctx context.Context, id string, old, parents []string) (sides splice.Case, file []byte, sound bool, err error) {
	if file, err = m.text(ctx, id); err != nil {
		return sides, nil, false, err
	}
	if sides, err = m.sidesOf(ctx, id, old, parents); err != nil {
		return sides, nil, false, err
	}
	m.logs = nil
	for _, v := range append([]splice.Version{sides.Ours}, sides.Theirs...) {
		if log, _ := ledger.ReadLog(v.Data, m.Limits); log != nil {
			m.logs = append(m.logs, log.Ledger)
		}
	}
	log, _ := ledger.ReadLog(file, m.Limits)
	return sides, file, log != nil && m.accepts(nil, log.Ledger) || log == nil && len(m.logs) == 0, nil
}

// sidesOf are the logs of a commit's new parents, to be combined when the commit was made.
func (m *mending) sidesOf(ctx context.Context, id string, old, parents []string) (c splice.Case, err error) {
	c = splice.Case{Path: m.Log(), Limits: m.Limits, Comparer: read.NewLogComparer(m.Policy, m.Log(), m.Now)}
	made, err := m.git.run(ctx, nil, "show", "-s", "--format=%ct", id)
	if err != nil {
		return c, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(made)), 10, 64)
	if err != nil {
		return c, err
	}
	c.Now = time.Unix(seconds, 0)
	for i, p := range parents {
		v := splice.Version{Name: history.Short(p), ID: p}
		if v.Data, err = m.text(ctx, p); err != nil {
			return c, err
		}
		if i == 0 {
			c.Ours = v
			continue
		}
		bases, err := m.repo.MergeBases(ctx, old[0], old[i])
		if err != nil {
			return c, err
		}
		for _, id := range bases {
			data, err := m.text(ctx, cmp.Or(m.ids[id], id))
			if err != nil {
				return c, err
			}
			v.Bases = append(v.Bases, splice.Version{ID: id, Data: data})
		}
		c.Theirs = append(c.Theirs, v)
	}
	return c, nil
}
